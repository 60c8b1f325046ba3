// Announcements: what was delivered to whom, what failed and why, and its replay.
import { withQuery } from "../api.js";
import { useAnswer } from "../asking.js";
import { Button, Card, DeviceLink, Field, Page, Pager, Refusal, Select, Table, TaskLink } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href, setParams, usePages } from "../router.js";
import { Said } from "../said.js";
import { Replay } from "../announcements/replay.js";
import { DeliveryState } from "../announcements/state.js";

const PAGE = 50;
const STATES = ["pending", "delivered", "failed"];

export function Announcements({ route, me }) {
  const { state, task_id, mac } = route.params;
  const filter = Object.fromEntries(Object.entries({ state, task_id, mac }).filter(([, value]) => value));
  const pages = usePages(route.params, "before");
  const { data, problem, reload } = useAnswer(withQuery("api/deliveries", { ...filter, limit: PAGE, before: pages.at }));
  const [chosen, setChosen] = useState(new Set());
  const choose = (id) => setChosen((before) => (before.has(id) ? without(before, id) : new Set([...before, id])));
  const mayAct = me.may.includes("act");
  const onDone = () => (setChosen(new Set()), reload());
  return html`<${Page} title=${t("nav.announcements")}>
    <${Card}><${Filters} key=${JSON.stringify(filter)} filter=${filter} /><//>
    <${Card}>
      ${mayAct && html`<${Replay} chosen=${chosen} filter=${filter} onDone=${onDone} />`}
      <${Refusal} problem=${problem} />
      <${Deliveries} rows=${problem ? data?.deliveries ?? [] : data?.deliveries} chosen=${mayAct && chosen} onChoose=${choose} />
      <${Pager} isFirst=${!pages.at} hasNext=${Boolean(data?.next)} onBack=${pages.back} onNext=${() => pages.forward(data.next)} />
    <//>
  <//>`;
}

function without(set, one) {
  return new Set([...set].filter((each) => each !== one));
}

function Filters({ filter }) {
  const [task, setTask] = useState(filter.task_id ?? "");
  const [mac, setMac] = useState(filter.mac ?? "");
  const states = [["", t("delivery.any_state")], ...STATES.map((state) => [state, tCode("delivery.state", state)])];
  const look = (event) => {
    event.preventDefault();
    setParams({ task_id: task.trim() || null, mac: mac.trim() || null, before: null });
  };
  return html`<form class="filters" onSubmit=${look}>
    <${Select} label=${t("delivery.state")} value=${filter.state} options=${states}
      onChange=${(state) => setParams({ state: state || null, before: null })} />
    <${Field} label=${t("delivery.task")} value=${task} onInput=${setTask} />
    <${Field} label=${t("words.device")} value=${mac} onInput=${setMac} />
    <${Button} type="submit">${t("delivery.filter")}<//>
  </form>`;
}

function Deliveries({ rows, chosen, onChoose }) {
  const choice = (row) => html`<input type="checkbox" checked=${chosen.has(row.id)} disabled=${row.state === "pending"}
    aria-label=${t("delivery.choose", { id: row.id })} onChange=${() => onChoose(row.id)} />`;
  const columns = [
    ...(chosen ? [{ key: "choice", title: t("delivery.chosen"), cell: choice }] : []),
    { key: "id", title: t("delivery.id"), cell: (row) => html`<a href=${href(["announcements", row.id])}>${row.id}</a>` },
    { key: "state", title: t("delivery.state"), cell: (row) => html`<${DeliveryState} state=${row.state} />` },
    { key: "task", title: t("delivery.task"), cell: (row) => html`<${TaskLink} id=${row.task_id} />` },
    { key: "device", title: t("words.device"), cell: (row) => html`<${DeviceLink} mac=${row.mac} />` },
    { key: "target", title: t("delivery.target"), cell: (row) => html`<${Said}>${row.url}<//>` },
    { key: "status", title: t("delivery.status"), kind: "number", cell: (row) => row.last_status ?? "–" },
    { key: "attempts", title: t("delivery.attempts"), kind: "number", cell: (row) => format.number(row.attempts) },
    { key: "next", title: t("delivery.next"), kind: "number", cell: (row) => (row.state === "pending" ? format.time(row.due_ms) : "–") },
    { key: "error", title: t("delivery.error"), cell: (row) => (row.error ? html`<${Said}>${row.error}<//>` : "–") },
  ];
  return html`<${Table} label=${t("nav.announcements")} columns=${columns} rows=${rows} keyOf=${(row) => row.id} />`;
}
