// Workers by host: what each can do, how busy it is, and why it claims nothing.
import { useAnswer } from "../asking.js";
import { Bar, Card, Figure, Page, Pill, Refusal, Table } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";
import { Said } from "../said.js";
import { WorkerState, slotsOf } from "../workers/state.js";

export function Workers() {
  const { data, problem } = useAnswer("api/workers");
  const workers = data?.workers;
  const newest = workers?.map((worker) => worker.version).sort(byNumbers).at(-1);
  return html`<${Page} title=${t("nav.workers")}>
    <${Refusal} problem=${problem} />
    <${Figures} workers=${workers} />
    ${workers?.length === 0 && html`<p class="empty">${t("worker.none")}</p>`}
    ${hostsOf(workers ?? []).map(([name, own]) => html`<${Host} key=${name} ...${{ name, workers: own, newest }} />`)}
  <//>`;
}

function Figures({ workers }) {
  const sum = (name) => workers?.reduce((total, worker) => total + (worker[name] ?? 0), 0);
  const held = workers?.filter((worker) => worker.state === "held").length;
  const versions = [...new Set(workers?.map((worker) => worker.version))].sort(byNumbers);
  const of = workers && { n: format.number(hostsOf(workers).length) };
  return html`<dl class="figures">
    <${Figure} label=${t("nav.workers")} value=${format.number(workers?.length)} note=${of && t("workers.of_hosts", of)} />
    <${Figure} label=${t("worker.busy")}
      value=${`${format.number(sum("active_tasks"))} / ${format.number(sum("effective_concurrency"))}`} />
    <${Figure} label=${t("workers.held")} value=${format.number(held)} tone=${held ? "bad" : ""} />
    <${Figure} label=${t("worker.version")} tone=${versions.length > 1 ? "bad" : ""}
      value=${versions.length ? html`<${Said}>${versions.at(-1)}<//>` : "–"}
      note=${versions.length > 1 ? t("workers.versions_differ", { n: versions.length }) : null} />
  </dl>`;
}

/** The processes by the name of their host, in the service's order. */
function hostsOf(workers) {
  const hosts = new Map();
  for (const worker of workers) hosts.set(worker.hostname, [...(hosts.get(worker.hostname) ?? []), worker]);
  return [...hosts];
}

function Host({ name, workers, newest }) {
  const faults = workers.flatMap((worker) => worker.word_faults.map((fault) => ({ pid: worker.pid, fault })));
  return html`<${Card} title=${html`<${Said}>${name || t("worker.no_host")}<//>`}>
    <${Load} of=${lastHeard(workers)} gpu=${lastHeard(workers.filter((worker) => worker.gpu_available))} />
    <${Processes} ...${{ name, workers, newest }} />
    ${faults.length > 0 && html`<div class="refusal"><strong>${t("worker.word_faults")}</strong>
      <ul>${faults.map(({ pid, fault }) => html`<li key=${`${pid} ${fault}`}>${pid}: <${Said}>${fault}<//></li>`)}</ul></div>`}
  <//>`;
}

function lastHeard(workers) {
  return workers.toSorted((one, other) => one.last_heartbeat - other.last_heartbeat).at(-1);
}

/** The load of a host, as the process that was heard last tells it; of its GPU only those know that use it. */
function Load({ of, gpu }) {
  const used = of.memory_total === null || of.memory_available === null ? null : of.memory_total - of.memory_available;
  const memory = used === null ? null : t("worker.of", { used: format.bytes(used), all: format.bytes(of.memory_total) });
  const processors = of.cpu_count === null ? null : t("worker.processors", { n: format.number(of.cpu_count, 1) });
  return html`<dl class="gauges">
    <${Gauge} label=${t("worker.cpu")} percent=${of.cpu_percent} note=${processors} />
    <${Gauge} label=${t("worker.cpu_others")} percent=${of.cpu_others_percent} />
    <${Gauge} label=${t("worker.memory")} percent=${of.memory_percent} note=${memory} />
    ${gpu && html`<${Gauge} label=${t("worker.gpu")} percent=${gpu.gpu_util} />
      <${Gauge} label=${t("worker.gpu_memory")} percent=${gpu.gpu_memory_util} />`}
  </dl>`;
}

function Gauge({ label, percent, note }) {
  const share = percent === null ? null : percent / 100;
  return html`<div><dt>${label}</dt><dd>
    <span class="gauge-figure">${format.percent(share)}</span><${Bar} share=${share} label=${`${label} ${format.percent(share)}`} />
    ${note && html`<small>${note}</small>`}
  </dd></div>`;
}

function Processes({ name, workers, newest }) {
  const columns = [
    { key: "pid", title: t("worker.process"), cell: (worker) => worker.pid ?? "–" },
    { key: "lanes", title: t("worker.lanes"), cell: (worker) => html`<${Said}>${worker.queues.replaceAll(",", ", ")}<//>` },
    { key: "state", title: t("worker.state"), cell: (worker) => html`<${State} worker=${worker} />` },
    { key: "engine", title: t("worker.engine"), cell: (worker) => (worker.engine ? html`<${Said}>${worker.engine}<//>` : "–") },
    { key: "busy", title: t("worker.busy"), kind: "number", cell: slotsOf },
    { key: "threads", title: t("worker.threads"), kind: "number", cell: (worker) => format.number(worker.declared_concurrency) },
    { key: "heard", title: t("worker.heard"), kind: "number", cell: (worker) => format.duration(worker.heartbeat_age_ms) },
    { key: "version", title: t("worker.version"), cell: (worker) => html`<${Version} of=${worker.version} newest=${newest} />` },
  ];
  return html`<${Table} label=${t("worker.processes_of", { host: name })} columns=${columns} rows=${workers}
    keyOf=${(worker) => worker.pid} />`;
}

function State({ worker }) {
  return html`<${WorkerState} state=${worker.state} />
    ${worker.holds.map((reason) => html`<div key=${reason}><small><${Said}>${reason}<//></small></div>`)}`;
}

function Version({ of, newest }) {
  if (of === newest) return html`<${Said}>${of}<//>`;
  return html`<${Pill} tone="warn"><${Said}>${of}<//><//> <small>${t("worker.older")}</small>`;
}

function byNumbers(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}
