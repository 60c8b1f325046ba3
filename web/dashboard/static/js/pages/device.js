// One device: how it stands in each lane, what is set for it, what it sent last.
import { send, withQuery } from "../api.js";
import { useAnswer, useDeed } from "../asking.js";
import {
  Button, Card, Confirm, Field, Figure, Page, Pill, Refusal, Table, TaskLink, TaskState, figureColumn,
} from "../components.js";
import { html, useEffect, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { DeviceState } from "./devices.js";

const LAST_TASKS = 10;

export function Device({ route, me }) {
  const [, mac] = route.parts;
  const path = withQuery(`api/devices/${encodeURIComponent(mac)}`, { site: route.params.site });
  const { data: device, problem, reload } = useAnswer(path);
  const watermark = useAnswer(me.may.includes("house") ? "api/watermark" : null, 10_000);
  const lanes = Object.entries(watermark.data?.lanes ?? {});
  const unserved = lanes.filter(([, lane]) => lane.slots.effective === 0).map(([name]) => name);
  const mayAct = me.may.includes("act");
  if (!device) {
    const told = problem ? html`<${Refusal} problem=${problem} />` : html`<p class="quiet">${t("common.loading")}</p>`;
    return html`<${Page} title=${mac}>${told}<//>`;
  }
  return html`<${Page} title=${format.mac(device.mac)} aside=${html`<span><${DeviceState} device=${device} /></span>`}>
    <${Refusal} problem=${problem} />
    <${Figures} device=${device} />
    <${Card} title=${t("overview.lanes")}><${Lanes} device=${device} unserved=${unserved} /><//>
    ${mayAct && html`<${Rules} key=${device.mac} device=${device} path=${path} onDone=${reload} />`}
    <${LastTasks} mac=${device.mac} />
  <//>`;
}

function Figures({ device }) {
  return html`<dl class="figures">
    <${Figure} label=${t("lane.oldest_wait")} value=${format.duration(device.oldest_wait_ms)} tone=${device.starved ? "bad" : ""}
      note=${device.starved ? t("device.starved") : null} />
    <${Figure} label=${t("lane.waiting")} value=${format.number(device.waiting)}
      note=${t("device.pending", { n: format.number(device.pending) })} />
    <${Figure} label=${t("device.in_flight")} value=${format.number(device.in_flight)} />
    <${Figure} label=${t("device.weight")} value=${format.number(device.weight, 2)} note=${device.site} />
    <${Figure} label=${t("device.last_seen")} value=${format.duration(Date.now() - device.last_seen_ms)}
      note=${format.time(device.last_seen_ms)} />
  </dl>`;
}

function Lanes({ device, unserved }) {
  const figure = (key, title, cell) => figureColumn(key, title, ([, lane]) => cell(lane));
  const columns = [
    { key: "lane", title: t("lane.name"), cell: ([name]) => name },
    figure("waiting", "lane.waiting", (lane) => format.number(lane.waiting)),
    figure("running", "device.in_flight", (lane) => format.number(lane.in_flight)),
    figure("oldest", "lane.oldest_wait", (lane) => format.duration(lane.oldest_wait_ms)),
    figure("score", "device.score", (lane) => format.number(lane.score, 1)),
    figure("share", "device.share", (lane) => format.percent(lane.share, 1)),
    figure("due", "device.due_share", (lane) => format.percent(lane.due_share, 1)),
    { key: "gate", title: t("device.why"), cell: ([name, lane]) => html`<${Gate} lane=${lane} isUnserved=${unserved.includes(name)} />` },
  ];
  return html`<${Table} label=${t("overview.lanes")} columns=${columns} rows=${Object.entries(device.lanes)} keyOf=${([name]) => name} />`;
}

/** Why nothing of this device is served here now, and until when. */
function Gate({ lane, isUnserved }) {
  if (!lane.waiting) return t("device.idle");
  if (!lane.gate) return isUnserved ? html`<${Pill} tone="bad">${t("device.unserved")}<//>` : t("device.takes_turns");
  const until = lane.gate_opens_ms ?? lane.backoff_until_ms;
  return html`<${Pill} tone="warn">${tCode("gate", lane.gate)}<//> ${until && t("device.until", { time: format.time(until) })}`;
}

function Rules({ device, path, onDone }) {
  const [rules, setRules] = useState(rulesOf(device));
  const [isAsking, setIsAsking] = useState(false);
  const deed = useDeed();
  // What somebody else changes meanwhile is seen, unless it is being edited here.
  const stored = JSON.stringify(rulesOf(device));
  useEffect(() => setRules(rulesOf(device)), [stored]);
  const patch = async (body) => {
    await deed.run(() => send("PATCH", path, body));
    setIsAsking(false);
    onDone();
  };
  const save = (event) => {
    event.preventDefault();
    patch(Object.fromEntries(Object.entries(rules).map(([name, text]) => [name, text === "" ? null : Number(text)])));
  };
  const pausing = html`<${Pausing} device=${device} onAsk=${() => setIsAsking(true)} onResume=${() => patch({ paused: false })} />`;
  const field = (name, label, hint, limits) => html`<${Field} label=${label} hint=${hint} type="number" ...${limits}
    value=${rules[name]} onInput=${(value) => setRules({ ...rules, [name]: value })} />`;
  return html`<${Card} title=${t("device.rules")} aside=${pausing}>
    <form class="filters" onSubmit=${save}>
      ${field("weight", t("device.weight"), t("device.weight_hint"), { min: "0.01", max: "100", step: "any" })}
      ${field("max_inflight", t("device.max_inflight"), t("device.max_inflight_hint"), { min: "1", step: "1" })}
      ${field("rate_per_minute", t("device.rate_per_minute"), t("device.rate_per_minute_hint"), { min: "0", step: "any" })}
      <${Button} type="submit" tone="primary" isBusy=${deed.isBusy}>${t("common.save")}<//>
    </form>
    <${Refusal} problem=${deed.problem} />
    ${deed.done && html`<p class="done" role="status">${t("common.saved")}</p>`}
    <${Confirm} isOpen=${isAsking} title=${t("device.pause_title", { mac: format.mac(device.mac) })} yes=${t("device.pause")}
      isBusy=${deed.isBusy} onYes=${() => patch({ paused: true })} onNo=${() => setIsAsking(false)}>
      <p>${t("device.pause_text")}</p>
    <//>
  <//>`;
}

function Pausing({ device, onAsk, onResume }) {
  return device.paused
    ? html`<${Button} tone="primary" onClick=${onResume}>${t("device.resume")}<//>`
    : html`<${Button} tone="danger" onClick=${onAsk}>${t("device.pause")}<//>`;
}

function rulesOf({ weight, max_inflight, rate_per_minute }) {
  const text = (value) => (value === null ? "" : String(value));
  return { weight: text(weight), max_inflight: text(max_inflight), rate_per_minute: text(rate_per_minute) };
}

function LastTasks({ mac }) {
  const { data, problem } = useAnswer(withQuery("api/ocr/tasks", { mac, limit: LAST_TASKS }));
  const columns = [
    { key: "task", title: t("task.one"), cell: (task) => html`<${TaskLink} id=${task.task_id} />` },
    { key: "lane", title: t("lane.name"), cell: (task) => task.lane },
    { key: "state", title: t("task.state"), cell: (task) => html`<${TaskState} state=${task.state} />` },
    { key: "when", title: t("task.accepted"), kind: "number", cell: (task) => format.time(task.created_ms) },
  ];
  return html`<${Card} title=${t("device.last_tasks")} aside=${html`<a href=${href(["tasks"], { mac })}>${t("common.more")}</a>`}>
    <${Refusal} problem=${problem} />
    <${Table} label=${t("device.last_tasks")} columns=${columns} rows=${data?.tasks} keyOf=${(task) => task.task_id} />
  <//>`;
}
