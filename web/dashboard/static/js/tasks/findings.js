// What was found in the text of a task, and the text with the finds marked.
import { Card, Pill, Table } from "../components.js";
import { Fragment, html } from "../dom.js";
import { t, tCode } from "../i18n.js";
import { Marked, Said } from "../said.js";

const TONES = { block: "bad", review: "warn", pass: "good" };
const LEVEL_TONES = ["", "", "warn", "bad", "bad"];

export function Findings({ task }) {
  const found = task.detection;
  const text = task.ocr?.text ?? found?.text ?? null;
  if (!found && text === null) return null;
  return html`<div class="halves">
    ${found && html`<${Card} title=${t("found.title")} aside=${html`<${Verdict} found=${found} />`}>
      <${Hits} hits=${found.hits} />
      ${found.contacts.length > 0 && html`<h3>${t("found.contacts")}</h3><${Contacts} contacts=${found.contacts} />`}
      <${Lists} versions=${found.versions} />
    <//>`}
    ${text !== null && html`<${Card} title=${t("found.text")}>
      ${text ? html`<div class="read" tabindex="0"><${Marked} text=${text} spans=${spansOf(found)} /></div>`
        : html`<p class="empty">${t("found.no_text")}</p>`}
    <//>`}
  </div>`;
}

function Verdict({ found }) {
  return html`<span><${Pill} tone=${TONES[found.suggestion] ?? ""}>${tCode("suggestion", found.suggestion)}<//>
    ${found.level > 0 && html` <${Pill} tone=${LEVEL_TONES[found.level]}>${t("found.level", { n: found.level })}<//>`}
    ${found.label && html` <${Said}>${found.label}<//>`}</span>`;
}

function spansOf(found) {
  const span = (one, title, tone) => ({ start: one.start_utf16, end: one.end_utf16, title, tone });
  return [
    ...(found?.hits ?? []).map((hit) => span(hit, `${hit.word} (${hit.category || hit.list})`, "hit")),
    ...(found?.contacts ?? []).map((contact) => span(contact, `${tCode("contact", contact.kind)}: ${contact.value}`, "contact")),
  ];
}

function Hits({ hits }) {
  const columns = [
    { key: "word", title: t("found.word"), cell: wordOf },
    { key: "surface", title: t("found.surface"), cell: (hit) => html`<${Said}>${hit.surface}<//>` },
    { key: "level", title: t("found.grade"), kind: "number", cell: levelOf },
    { key: "action", title: t("found.action"), cell: (hit) => tCode("action", hit.action) },
    { key: "list", title: t("found.list"), cell: listOf },
  ];
  const keyed = hits.map((hit, index) => ({ ...hit, index }));
  return html`<${Table} label=${t("found.title")} columns=${columns} rows=${keyed} empty=${t("found.nothing")}
    keyOf=${(hit) => hit.index} />`;
}

function wordOf(hit) {
  return html`<${Said}>${hit.word}<//> ${hit.kind !== "word" && html`<small>${tCode("hit_kind", hit.kind)}</small>`}`;
}

function levelOf(hit) {
  return html`<${Pill} tone=${LEVEL_TONES[hit.level]}>${hit.level}<//>`;
}

function listOf(hit) {
  const name = [hit.list_name, hit.category, ...hit.tags].filter(Boolean).join(" · ");
  return html`<${Fragment}>${tCode("scope", hit.list)}${name && html` <small><${Said}>${name}<//></small>`}<//>`;
}

function Contacts({ contacts }) {
  const columns = [
    { key: "kind", title: t("found.kind"), cell: (contact) => tCode("contact", contact.kind) },
    { key: "value", title: t("found.value"), cell: (contact) => html`<span class="mono"><${Said}>${contact.value}<//></span>` },
    { key: "action", title: t("found.action"), cell: (contact) => tCode("action", contact.action) },
  ];
  const keyed = contacts.map((contact, index) => ({ ...contact, index }));
  return html`<${Table} label=${t("found.contacts")} columns=${columns} rows=${keyed} keyOf=${(contact) => contact.index} />`;
}

function Lists({ versions }) {
  if (!versions.length) return html`<p class="quiet">${t("found.no_lists")}</p>`;
  const one = (list) => html`<span class="word" key=${`${list.scope} ${list.name}`}>${tCode("scope", list.scope)} <${Said}>${list.name}<//>
    ${" "}${list.version ? t("found.version", { n: list.version }) : t("found.file")}</span> `;
  return html`<p class="quiet">${t("found.by_lists")} ${versions.map(one)}</p>`;
}
