// What matters first: how long the oldest task waits, when the work will be done, what is wrong.
import { useAnswer } from "../asking.js";
import { Chart } from "../chart.js";
import { Card, Figure, Page, Pill, Refusal, Table, figureColumn } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { WorkerState, slotsOf } from "../workers/state.js";

const LINE_COLORS = ["--accent", "--warm", "--cool", "--quiet"];

export function Overview() {
  const watermark = useAnswer("api/watermark");
  const alarms = useAnswer("api/alarms", 10_000);
  const today = useAnswer("api/stats?by=day,outcome", 15_000);
  const letters = useAnswer("api/dead-letters?replay=open&limit=1", 15_000);
  const lanes = Object.entries(watermark.data?.lanes ?? {}).map(([name, lane]) => ({ name, ...lane }));
  return html`<${Page} title=${t("nav.overview")}>
    <${Alarms} alarms=${alarms.data?.alarms} problem=${alarms.problem ?? watermark.problem} />
    <${Figures} snapshot=${watermark.data} lanes=${lanes} today=${today.data} letters=${letters.data} />
    <${Card} title=${t("overview.lanes")}><${Lanes} lanes=${watermark.data ? lanes : null} /><//>
    <${History} />
    <${Workers} />
  <//>`;
}

/** One line of fixed height, whatever is wrong: the gravest alarm, and the others behind it when they are asked for. */
function Alarms({ alarms, problem }) {
  if (problem) return html`<p class="alarm-line critical" role="alert">${problem.status ? problem.title : t("common.unreachable")}</p>`;
  if (!alarms?.length) {
    return html`<p class="alarm-line well" role="status">${alarms ? t("overview.all_well") : t("common.loading")}</p>`;
  }
  const [gravest, ...others] = alarms;
  if (!others.length) return html`<p class="alarm-line ${gravest.severity}" role="status"><${Told} alarm=${gravest} /></p>`;
  return html`<details class="alarms">
    <summary class="alarm-line ${gravest.severity}" role="status">
      <span class="more">${t("overview.more_alarms", { n: others.length })}</span><${Told} alarm=${gravest} />
    </summary>
    ${others.map((alarm) => html`<p key=${`${alarm.code} ${alarm.subject}`} class="alarm-line ${alarm.severity}">
      <${Told} alarm=${alarm} />
    </p>`)}
  </details>`;
}

function Told({ alarm }) {
  return html`<strong>${tCode("alarm", alarm.code)}</strong> ${alarm.subject} ${alarm.detail}`;
}

function Figures({ snapshot, lanes, today, letters }) {
  const oldest = lanes.length ? lanes.reduce((one, other) => (other.oldest_wait_ms > one.oldest_wait_ms ? other : one)) : null;
  const drain = drainOf(lanes);
  const counts = today?.counts.filter((count) => count.day === today.to_day) ?? [];
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
  const rate = lanes.reduce((total, lane) => total + lane.drain_per_s, 0);
  const pending = snapshot && { n: format.number(snapshot.total_pending), devices: format.number(snapshot.mac_count) };
  return html`<dl class="figures">
    <${Figure} label=${t("overview.oldest_wait")} value=${format.duration(oldest?.oldest_wait_ms)}
      note=${oldest?.oldest_wait_ms ? t("overview.in_lane", { lane: oldest.name }) : null} />
    <${Figure} label=${t("overview.drained_in")} value=${drain.text} tone=${drain.tone}
      note=${pending && t("overview.pending", pending)} />
    <${Figure} label=${t("overview.rate")} value=${format.number(rate, 1)} note=${t("overview.per_second")} />
    <${Figure} label=${t("overview.hits_today")} value=${today ? format.number(sum("with_hits")) : "–"}
      note=${html`<a href=${href(["tasks"], { hit: "true", since: "today" })}>
        ${t("overview.of_tasks", { n: format.number(sum("tasks")) })}</a>`} />
    <${Figure} label=${t("nav.dead_letters")} tone=${letters?.total ? "bad" : ""} note=${t("overview.open_letters")}
      value=${html`<a href=${href(["dead-letters"], { replay: "open" })}>${format.total(letters)}</a>`} />
  </dl>`;
}

/** When all that waits will be done: the slowest lane says; nobody can say while a lane with work has no worker. */
function drainOf(lanes) {
  const busy = lanes.filter((lane) => lane.waiting + lane.delayed + lane.leased > 0);
  if (busy.some((lane) => lane.expected_wait_ms === null)) return { text: t("overview.never"), tone: "bad" };
  return { text: busy.length ? format.duration(Math.max(...busy.map((lane) => lane.expected_wait_ms))) : t("overview.idle"), tone: "" };
}

function Lanes({ lanes }) {
  const columns = [
    { key: "lane", title: t("lane.name"), cell: (lane) => html`<a href=${href(["devices"], { lane: lane.name })}>${lane.name}</a>` },
    figureColumn("waiting", "lane.waiting", (lane) => format.number(lane.waiting)),
    figureColumn("delayed", "lane.delayed", (lane) => format.number(lane.delayed)),
    figureColumn("running", "lane.running", (lane) => `${format.number(lane.leased)} / ${format.number(lane.slots.effective)}`),
    figureColumn("devices", "lane.devices", (lane) => format.number(lane.devices)),
    figureColumn("oldest", "lane.oldest_wait", (lane) => format.duration(lane.oldest_wait_ms)),
    figureColumn("drain", "lane.drained_in", (lane) => format.duration(lane.expected_wait_ms)),
    figureColumn("rate", "lane.rate", (lane) => format.number(lane.drain_per_s, 2)),
    figureColumn("starved", "lane.starved", (lane) => html`<${Pill} tone=${lane.starved_devices ? "bad" : ""}>${lane.starved_devices}<//>`),
    { key: "workers", title: t("lane.workers"), cell: (lane) => html`<${Crew} lane=${lane} />` },
  ];
  return html`<${Table} label=${t("overview.lanes")} columns=${columns} rows=${lanes} keyOf=${(lane) => lane.name} />`;
}

function Crew({ lane }) {
  const isShort = lane.workers === 0 && lane.waiting > 0;
  return html`<${Pill} tone=${isShort ? "bad" : ""}>${t("lane.of_wanted", { n: lane.workers, wanted: lane.desired_workers })}<//>
    ${lane.held_hosts.length > 0 && html` <${Pill} tone="warn">${t("lane.held", { hosts: lane.held_hosts.join(", ") })}<//>`}`;
}

function History() {
  const { data, problem } = useAnswer("api/history", 15_000);
  if (problem) return html`<${Refusal} problem=${problem} />`;
  const lanes = data?.lanes ?? [];
  const times = [...new Set(lanes.flatMap((lane) => lane.samples.map((sample) => sample.at_ms)))].sort((one, other) => one - other);
  const linesOf = (value, show) => lanes.map((lane, index) => {
    const values = new Map(lane.samples.map((sample) => [sample.at_ms, value(sample)]));
    const color = LINE_COLORS[index % LINE_COLORS.length];
    return { label: lane.lane, values: times.map((ms) => values.get(ms) ?? null), color, format: show };
  });
  const perSecond = ({ ended }) => (ended === null ? null : (ended * 1000) / data.interval_ms);
  const charts = [
    [t("overview.waits_hour"), linesOf((sample) => sample.oldest_wait_ms, format.duration)],
    [t("overview.rate_hour"), linesOf(perSecond, (value) => format.number(value, 2))],
  ];
  return html`<div class="halves">
    ${charts.map(([title, lines]) => html`<${Card} key=${title} title=${title}>
      <${Chart} label=${title} times=${times} lines=${lines} />
    <//>`)}
  </div>`;
}

function Workers() {
  const { data, problem } = useAnswer("api/workers", 10_000);
  const columns = [
    { key: "host", title: t("worker.host"), cell: nameOf },
    { key: "lanes", title: t("worker.lanes"), cell: (worker) => worker.queues },
    { key: "state", title: t("worker.state"), cell: (worker) => html`<${WorkerState} state=${worker.state} />` },
    figureColumn("busy", "worker.busy", slotsOf),
    figureColumn("heard", "worker.heard", (worker) => format.duration(worker.heartbeat_age_ms)),
  ];
  return html`<${Card} title=${t("nav.workers")} aside=${html`<a href=${href(["workers"])}>${t("common.more")}</a>`}>
    <${Refusal} problem=${problem} />
    <${Table} label=${t("nav.workers")} columns=${columns} rows=${data?.workers} empty=${t("worker.none")} keyOf=${nameOf} />
  <//>`;
}

function nameOf(worker) {
  return `${worker.hostname}:${worker.pid ?? "?"}`;
}
