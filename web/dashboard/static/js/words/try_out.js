// A text, screened at once: what is found in it, what would stay of it, and by which lists.
import { send } from "../api.js";
import { useDeed } from "../asking.js";
import { Button, Card, Facts, Field, Pill, Refusal, Table } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { Marked, Said } from "../said.js";

const TONES = { block: "bad", review: "warn", pass: "good" };

export function TryOut() {
  const [text, setText] = useState("");
  const [words, setWords] = useState("");
  const [mac, setMac] = useState("");
  const [site, setSite] = useState("");
  const deed = useDeed();
  const look = (event) => {
    event.preventDefault();
    const given = words.split(/[,，\n]/).map((word) => word.trim()).filter(Boolean);
    const body = { text, ...(given.length && { words: given }), ...(mac && { mac }), ...(site && { site }) };
    deed.run(async () => ({ text, found: await send("POST", "api/words/try", body) }));
  };
  const area = (id) => html`<textarea id=${id} rows="4" required value=${text}
    onInput=${(event) => setText(event.target.value)}></textarea>`;
  return html`<${Card} title=${t("try.title")}>
    <form onSubmit=${look}>
      <${Field} label=${t("try.text")}>${area}<//>
      <div class="filters">
        <${Field} label=${t("try.words")} hint=${t("try.words_hint")} value=${words} onInput=${setWords} />
        <${Field} label=${t("try.mac")} hint=${t("try.mac_hint")} value=${mac} onInput=${setMac} />
        <${Field} label=${t("words.site")} hint=${t("try.site_hint")} value=${site} onInput=${setSite} />
      </div>
      <div><${Button} type="submit" tone="primary" isBusy=${deed.isBusy}>${t("try.do")}<//></div>
    </form>
    <${Refusal} problem=${deed.problem} />
    ${deed.done && html`<${Found} text=${deed.done.text} found=${deed.done.found} />`}
  <//>`;
}

function Found({ text, found }) {
  const finds = [...found.hits, ...found.contacts];
  const spans = finds.map((find) => ({
    start: find.start_utf16, end: find.end_utf16, tone: find.action, title: find.word ?? tCode("contact", find.kind),
  }));
  const versions = found.versions.map((list) => `${list.name} ${list.version || ""}`.trim()).join(", ");
  return html`<div class="try-found" role="status">
    <${Facts} facts=${[
      [t("try.suggestion"), html`<${Pill} tone=${TONES[found.suggestion] ?? ""}>${tCode("suggestion", found.suggestion)}<//>`],
      [t("try.label"), found.label && html`<${Said}>${found.label}<//>`],
      [t("try.level"), found.level || null],
      [t("try.elapsed"), format.duration(found.elapsed_ms)],
      [t("try.lists"), versions && html`<${Said}>${versions}<//>`],
    ]} />
    <p class="tried"><${Marked} text=${text} spans=${spans} /></p>
    ${found.masked !== null && html`<${Facts} facts=${[[t("try.masked"), html`<${Said}>${found.masked}<//>`]]} />`}
    ${found.hits.length > 0 && html`<${Hits} hits=${found.hits} />`}
    ${found.contacts.length > 0 && html`<${Contacts} contacts=${found.contacts} />`}
    ${finds.length === 0 && html`<p class="empty">${t("try.nothing")}</p>`}
  </div>`;
}

const placeOf = (find) => `${find.start} ${find.end} ${find.word ?? find.kind} ${find.list_name ?? ""}`;

function Hits({ hits }) {
  const columns = [
    { key: "word", title: t("try.word"), cell: (hit) => html`<${Said}>${hit.word}<//>` },
    { key: "surface", title: t("try.surface"), cell: (hit) => html`<${Said}>${hit.surface}<//>` },
    { key: "list", title: t("try.list"), cell: (hit) => html`${tCode("words.scope", hit.list)} <${Said}>${hit.list_name}<//>` },
    { key: "category", title: t("try.label"), cell: (hit) => html`<${Said}>${hit.category}<//>` },
    { key: "level", title: t("try.level"), kind: "number", cell: (hit) => hit.level },
    { key: "action", title: t("try.action"), cell: (hit) => tCode("action", hit.action) },
  ];
  return html`<${Table} label=${t("try.hits")} columns=${columns} rows=${hits} keyOf=${placeOf} />`;
}

function Contacts({ contacts }) {
  const columns = [
    { key: "kind", title: t("try.contact"), cell: (contact) => tCode("contact", contact.kind) },
    { key: "value", title: t("try.value"), cell: (contact) => html`<${Said}>${contact.value}<//>` },
    { key: "surface", title: t("try.surface"), cell: (contact) => html`<${Said}>${contact.surface}<//>` },
    { key: "level", title: t("try.level"), kind: "number", cell: (contact) => contact.level },
    { key: "action", title: t("try.action"), cell: (contact) => tCode("action", contact.action) },
  ];
  return html`<${Table} label=${t("try.contacts")} columns=${columns} rows=${contacts} keyOf=${placeOf} />`;
}
