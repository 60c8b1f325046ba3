// Tasks: searched, filtered, a page at a time, and all of them as a file.
import { get, save, withQuery } from "../api.js";
import { useAnswer, useDeed } from "../asking.js";
import { Button, Card, DeviceLink, Page, Pager, Pill, Refusal, Table, TaskLink, TaskState } from "../components.js";
import { html, useMemo } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href, setParams, usePages } from "../router.js";
import { Said } from "../said.js";
import { kindsOf, queryOf } from "../searching.js";
import { SearchBox } from "../tasks/search_box.js";
import { TaskFilters } from "../tasks/filters.js";
import { beginOf } from "../times.js";

const PATH = "api/ocr/tasks";
const PAGE = 50;
const SUGGESTION_TONES = { block: "bad", review: "warn", pass: "good" };

export function Tasks({ route }) {
  const { params } = route;
  const pages = usePages(params, "cursor");
  const fromMs = useMemo(() => beginOf(params.since), [params.since]);
  const query = queryBy(params, fromMs);
  // What is on later pages has passed; only the first gains tasks.
  const answer = useAnswer(withQuery(PATH, { ...query, cursor: pages.at, limit: PAGE }), pages.at ? 0 : 5000);
  const search = useDeed();
  const look = (typed, kind) => search.run(() => lookUp(typed, kind));
  return html`<${Page} title=${t("nav.tasks")} aside=${html`<${Exports} query=${query} />`}>
    <${Card}>
      <${SearchBox} typed=${params.q ?? ""} kind=${params.as} isBusy=${search.isBusy} onSearch=${look} />
      <${Refusal} problem=${search.problem} />
      <${TaskFilters} params=${params} />
    <//>
    <${Card}>
      <${Refusal} problem=${answer.problem} />
      <${TaskTable} tasks=${answer.problem?.status >= 400 ? [] : answer.data?.tasks} isMore=${Boolean(answer.data?.next)} />
      <${Pager} isFirst=${!pages.at} hasNext=${Boolean(answer.data?.next)} onBack=${pages.back}
        onNext=${() => pages.forward(answer.data.next)} />
    <//>
  <//>`;
}

/** The filters of the service that the address means. */
function queryBy(params, fromMs) {
  const { mac, lane, state, hit, until } = params;
  const searched = params.q ? queryOf(params.as ?? kindsOf(params.q)[0], params.q) : {};
  return { mac, lane, state, hit, from: fromMs ?? params.from, until, ...searched };
}

/** Show what was typed as what it most likely is, or as the `kind` that was chosen. */
async function lookUp(typed, kind) {
  for (const guess of kind ? [kind] : kindsOf(typed)) {
    if (guess !== "task") return setParams({ q: typed || null, as: typed ? guess : null, cursor: null });
    const found = await taskWith(typed, Boolean(kind));
    if (found) return void (location.hash = href(["tasks", typed]));
  }
  return null;
}

async function taskWith(id, isSure) {
  try {
    return await get(`${PATH}/${encodeURIComponent(id)}`);
  } catch (problem) {
    if (problem.status !== 404 || isSure) throw problem;
    return null;
  }
}

function Exports({ query }) {
  const deed = useDeed();
  const pathOf = (kind) => withQuery(PATH, { ...query, format: kind, bom: kind === "csv" || null });
  const fetched = (kind) => () => deed.run(() => save(pathOf(kind), `tasks.${kind}`));
  return html`<div class="buttons">
    <${Refusal} problem=${deed.problem} />
    <${Button} isBusy=${deed.isBusy} onClick=${fetched("csv")}>${t("tasks.csv")}<//>
    <${Button} isBusy=${deed.isBusy} onClick=${fetched("jsonl")}>${t("tasks.jsonl")}<//>
  </div>`;
}

function TaskTable({ tasks, isMore }) {
  const columns = [
    { key: "task", title: t("task.one"), cell: (task) => html`<${TaskLink} id=${task.task_id} />` },
    { key: "device", title: t("device.one"), cell: (task) => html`<${DeviceLink} mac=${task.mac} />` },
    { key: "lane", title: t("lane.name"), cell: (task) => task.lane },
    { key: "state", title: t("task.state"), cell: (task) => html`<${TaskState} state=${task.state} />` },
    { key: "found", title: t("task.found"), cell: (task) => html`<${Found} task=${task} />` },
    { key: "waited", title: t("task.waited"), kind: "number", cell: (task) => format.duration(waitedMs(task)) },
    { key: "ran", title: t("task.ran"), kind: "number", cell: (task) => format.duration(ranMs(task)) },
    { key: "when", title: t("task.accepted"), kind: "number", cell: (task) => format.time(task.created_ms) },
  ];
  return html`<${Table} label=${t("nav.tasks")} columns=${columns} rows=${tasks} keyOf=${(task) => task.task_id}
    empty=${isMore ? t("tasks.look_further") : t("tasks.none")} />`;
}

function Found({ task }) {
  if (task.code) return html`<span>${tCode("code", task.code)}</span>`;
  if (!task.suggestion) return "–";
  return html`<span class="found"><${Pill} tone=${SUGGESTION_TONES[task.suggestion] ?? ""}>${tCode("suggestion", task.suggestion)}<//>
    ${task.words.map((word) => html`<span key=${word} class="word"><${Said}>${word}<//></span>`)}</span>`;
}

function waitedMs(task) {
  return Math.max(0, (task.started_ms ?? task.ended_ms ?? Date.now()) - task.created_ms);
}

function ranMs(task) {
  return task.started_ms === null ? null : Math.max(0, (task.ended_ms ?? Date.now()) - task.started_ms);
}
