// What every page is made of.
import { html, useEffect, useId, useRef, useState } from "./dom.js";
import { t, tCode } from "./i18n.js";
import { href } from "./router.js";
import * as format from "./format.js";

/** A page: its heading, what stands beside it, and its content. */
export function Page({ title, aside, children }) {
  useEffect(() => {
    document.title = `${title} · fairlane`;
  }, [title]);
  return html`<div class="page">
    <header class="page-head"><h1>${title}</h1>${aside}</header>
    ${children}
  </div>`;
}

export function Card({ title, aside, children, kind = "" }) {
  const id = useId();
  return html`<section class="card ${kind}" aria-labelledby=${title ? id : undefined}>
    ${title && html`<header class="card-head"><h2 id=${id}>${title}</h2>${aside}</header>`}
    ${children}
  </section>`;
}

/** One figure that is read from afar. */
export function Figure({ label, value, note, tone = "" }) {
  return html`<div class="figure ${tone}"><dt>${label}</dt><dd>${value}<small>${note ?? "\u00a0"}</small></dd></div>`;
}

/** A word with a colour; the word alone says it, too. */
export function Pill({ tone = "", children }) {
  return html`<span class="pill ${tone}">${children}</span>`;
}

/**
 * A table. `columns`: {key, title, cell(row), kind?, sort?}; kind "number" stands right.
 * On a narrow screen each row becomes a card, whose cells carry the titles of the columns.
 */
export function Table({ label, columns, rows, empty, keyOf, sort, onSort }) {
  if (!rows) return html`<p class="quiet" role="status">${t("common.loading")}</p>`;
  if (!rows.length) return html`<p class="empty">${empty ?? t("common.nothing")}</p>`;
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${columns.map((column) => html`<${Heading} key=${column.key} ...${{ column, sort, onSort }} />`)}</tr></thead>
      <tbody>
        ${rows.map((row) => html`<tr key=${keyOf(row)}>
          ${columns.map((column) => html`<${Cell} key=${column.key} ...${{ column, row }} />`)}
        </tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** A column of figures under the words of the key `title`; `by`: the order by which the service sorts it, if it does. */
export function figureColumn(key, title, cell, by) {
  return { key, title: t(title), kind: "number", cell, sort: by };
}

function Cell({ column, row }) {
  return html`<td class=${column.kind ?? ""} data-title=${column.title}>${column.cell(row)}</td>`;
}

function Heading({ column, sort, onSort }) {
  const isSorted = column.sort && column.sort === sort;
  const title = column.sort
    ? html`<button type="button" class="sort" onClick=${() => onSort(column.sort)}>${column.title}</button>`
    : column.title;
  return html`<th scope="col" class=${column.kind ?? ""} aria-sort=${isSorted ? "descending" : undefined}>${title}</th>`;
}

/** A refusal, in the service's words, which never hold anything of a device's. */
export function Refusal({ problem }) {
  if (!problem) return null;
  if (problem.status === 0) return html`<p class="refusal" role="alert">${t("common.unreachable")}</p>`;
  return html`<div class="refusal" role="alert">
    <strong>${problem.title}</strong> ${problem.detail}
    ${problem.errors.length > 0 &&
    html`<ul>${problem.errors.map((fault) => html`<li key=${fault.pointer}><code>${fault.pointer}</code> ${fault.detail}</li>`)}</ul>`}
    ${problem.requestId && html`<small>${t("common.request")} <code>${problem.requestId}</code></small>`}
  </div>`;
}

export function Button({ onClick, children, tone = "", isBusy = false, type = "button", disabled = false }) {
  const isOff = disabled || isBusy;
  return html`<button type=${type} class=${`button ${tone}`} onClick=${onClick} disabled=${isOff} aria-busy=${isBusy}>${children}</button>`;
}

/** A labelled input; `children` may be another control with the id that it is handed. */
export function Field({ label, hint, value, onInput, children, ...rest }) {
  const id = useId();
  const control = children
    ? children(id)
    : html`<input id=${id} value=${value ?? ""} onInput=${(event) => onInput(event.target.value)} ...${rest} />`;
  return html`<div class="field"><label for=${id}>${label}</label>${control}${hint && html`<small>${hint}</small>`}</div>`;
}

export function Select({ label, value, options, onChange }) {
  return html`<${Field} label=${label}>
    ${(id) => html`<select id=${id} value=${value ?? ""} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === (value ?? "")}>${text}</option>`)}
    </select>`}
  <//>`;
}

/** Options of a filter: anything, or one of some codes, each in the words that `wordsOf(code)` says. */
export function anyOf(codes, wordsOf) {
  return [["", t("common.all")], ...codes.map((code) => [code, wordsOf(code)])];
}

/** Asks before something is done; `onYes` does it. The dialog is the browser's own, so that the keyboard works. */
export function Confirm({ isOpen, title, children, yes, tone = "danger", isBusy = false, onYes, onNo }) {
  const dialog = useRef(null);
  useEffect(() => {
    if (isOpen && !dialog.current.open) dialog.current.showModal();
    if (!isOpen && dialog.current.open) dialog.current.close();
  }, [isOpen]);
  return html`<dialog ref=${dialog} onClose=${onNo} aria-label=${title}>
    <h2>${title}</h2>
    ${children}
    <div class="buttons">
      <${Button} onClick=${onNo}>${t("common.no")}<//>
      <${Button} tone=${tone} isBusy=${isBusy} onClick=${onYes}>${yes}<//>
    </div>
  </dialog>`;
}

/** A share of one as a bar, with the figure beside it; `mark` is where it should be. */
export function Bar({ share, mark, label }) {
  const width = `${Math.min(Math.max(share ?? 0, 0), 1) * 100}%`;
  return html`<span class="bar" role="img" aria-label=${label ?? format.percent(share, 1)}>
    <span class="bar-fill" style=${{ width }}></span>
    ${mark !== undefined && mark !== null && html`<span class="bar-mark" style=${{ left: `${Math.min(mark, 1) * 100}%` }}></span>`}
  </span>`;
}

const STATE_TONES = { done: "good", failed: "bad", dead: "bad", expired: "warn", evicted: "warn", running: "running" };

/** The state of a task. */
export function TaskState({ state }) {
  return html`<${Pill} tone=${STATE_TONES[state] ?? ""}>${tCode("task.state", state)}<//>`;
}

/** What is known of one thing: pairs of a name and a value; what is null is left out. */
export function Facts({ facts }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="facts">${known.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Leads through pages of which each knows only where the next begins. */
export function Pager({ isFirst, hasNext, onBack, onNext }) {
  return html`<nav class="buttons" aria-label=${t("pager.label")}>
    <${Button} disabled=${isFirst} onClick=${onBack}>${t("pager.back")}<//>
    <${Button} disabled=${!hasNext} onClick=${onNext}>${t("pager.next")}<//>
  </nav>`;
}

/** A link to the page of a device; the site tells apart what two sites call by the same MAC. */
export function DeviceLink({ mac, site }) {
  return html`<a class="mono" href=${href(["devices", mac], { site })}>${format.mac(mac)}</a>`;
}

/** A link to the page of a task; long ids are cut in the middle. */
export function TaskLink({ id }) {
  const shown = id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id;
  return html`<a class="mono" href=${href(["tasks", id])} title=${id}>${shown}</a>`;
}

/** What lies behind a title, until it is opened. */
export function Raw({ title, value }) {
  const [isOpen, setIsOpen] = useState(false);
  return html`<details onToggle=${(event) => setIsOpen(event.target.open)}>
    <summary>${title}</summary>${isOpen && html`<pre class="raw" tabindex="0">${JSON.stringify(value, null, 2)}</pre>`}
  </details>`;
}
