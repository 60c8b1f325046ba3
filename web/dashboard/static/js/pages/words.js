// Lists of words: whose they are, which version is in effect; and a text tried on them.
import { send, withQuery } from "../api.js";
import { useAnswer, useDeed } from "../asking.js";
import { Button, Card, Field, Page, Pager, Pill, Refusal, Select, Table } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href, usePages } from "../router.js";
import { Said } from "../said.js";
import { Owner } from "../words/owner.js";
import { TryOut } from "../words/try_out.js";

const PAGE = 50;

/** Lists are for admins; whoever may look may try a text. */
export function Words({ route, me }) {
  const isAdmin = me.may.includes("manage");
  return html`<${Page} title=${t("nav.words")}>
    ${isAdmin && html`<${Lists} route=${route} />`}
    <${TryOut} />
    ${isAdmin && html`<${NewList} isOfAll=${me.site === null} />`}
  <//>`;
}

function Lists({ route }) {
  const pages = usePages(route.params, "after");
  const { data, problem } = useAnswer(withQuery("api/words", { limit: PAGE, after: pages.at }), 10_000);
  const columns = [
    { key: "name", title: t("words.name"), cell: (list) => html`<a href=${href(["words", list.id])}><${Said}>${list.name}<//></a>` },
    { key: "owner", title: t("words.owner"), cell: (list) => html`<${Owner} list=${list} />` },
    { key: "version", title: t("words.in_use"), kind: "number", cell: (list) => list.published ?? "–" },
    { key: "words", title: t("words.count"), kind: "number", cell: (list) => format.number(list.words) },
    { key: "state", title: t("words.state"), cell: (list) => html`<${State} list=${list} />` },
    { key: "changed", title: t("words.changed"), kind: "number", cell: (list) => format.time(list.changed_ms) },
  ];
  return html`<${Card} title=${t("words.lists")}>
    <${Refusal} problem=${problem} />
    <${Table} label=${t("words.lists")} columns=${columns} rows=${problem ? data?.lists ?? [] : data?.lists} keyOf=${(list) => list.id}
      empty=${t("words.none")} />
    ${(pages.at || data?.next) && html`<${Pager} isFirst=${!pages.at} hasNext=${Boolean(data?.next)} onBack=${pages.back}
      onNext=${() => pages.forward(data.next)} />`}
  <//>`;
}

function State({ list }) {
  const state = !list.latest ? "empty" : list.published === null ? "draft" : list.latest > list.published ? "newer" : "current";
  return html`<${Pill} tone=${{ current: "good", newer: "warn" }[state] ?? ""}>${tCode("words.state", state)}<//>`;
}

/** A list without a version; it is there before its words are, so that a file has somewhere to go. */
function NewList({ isOfAll }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState(isOfAll ? "global" : "site");
  const [site, setSite] = useState("");
  const [mac, setMac] = useState("");
  const deed = useDeed();
  const make = async (event) => {
    event.preventDefault();
    const owner = { ...(scope !== "global" && site && { site }), ...(scope === "device" && { mac }) };
    const made = await deed.run(() => send("POST", "api/words", { name, ...owner }));
    if (made) location.hash = href(["words", made.id]);
  };
  const scopes = (isOfAll ? ["global", "site", "device"] : ["site", "device"]).map((each) => [each, tCode("words.scope", each)]);
  return html`<${Card} title=${t("words.new")}>
    <form class="filters" onSubmit=${make}>
      <${Field} label=${t("words.name")} value=${name} onInput=${setName} required=${true} pattern="[0-9A-Za-z_\\-]+" maxlength="64" />
      <${Select} label=${t("words.owner")} value=${scope} options=${scopes} onChange=${setScope} />
      ${scope !== "global" && html`<${Field} label=${t("words.site")} value=${site} onInput=${setSite} required=${scope === "site"} />`}
      ${scope === "device" && html`<${Field} label=${t("words.device")} value=${mac} onInput=${setMac} required=${true} />`}
      <${Button} type="submit" tone="primary" isBusy=${deed.isBusy}>${t("words.make")}<//>
    </form>
    <${Refusal} problem=${deed.problem} />
  <//>`;
}
