// One list of words: its versions, a new one brought, one put into effect, and who did so.
import { useAnswer } from "../asking.js";
import { Card, Facts, Page, Pill, Refusal, Table } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { Said } from "../said.js";
import { Bring } from "../words/bring.js";
import { Owner } from "../words/owner.js";
import { AuditLines } from "./audit.js";
import { PutIntoEffect } from "../words/put_into_effect.js";

//: Lines of the audit among which those about this list are looked for.
const LINES = 200;
const COUNTS = ["words", "allowed", "combinations", "expressions"];

export function WordList({ route }) {
  const id = encodeURIComponent(route.parts[1]);
  const { data: list, problem, reload } = useAnswer(`api/words/${id}`, 10_000);
  const back = html`<a href=${href(["words"])}>${t("words.all")}</a>`;
  return html`<${Page} title=${list ? list.name : t("nav.words")} aside=${back}>
    <${Refusal} problem=${problem} />
    ${list && html`<${Card}><${Facts} facts=${factsOf(list)} /><//>
      <${Card} title=${t("words.versions")}><${Versions} list=${list} onDone=${reload} /><//>
      <${Bring} list=${list} onDone=${reload} />
      <${Deeds} id=${list.id} />`}
  <//>`;
}

function factsOf(list) {
  return [
    [t("words.owner"), html`<${Owner} list=${list} />`],
    [t("words.in_use"), list.published === null ? t("words.no_version") : format.number(list.published)],
    [t("words.made"), format.time(list.created_ms)],
    [t("words.changed"), format.time(list.changed_ms)],
  ];
}

function Versions({ list, onDone }) {
  const inUse = list.versions.find((version) => version.version === list.published);
  const count = (name) => ({
    key: name, title: tCode("words.counts", name), kind: "number",
    cell: (version) => html`<${Count} name=${name} version=${version} inUse=${inUse} />`,
  });
  const columns = [
    { key: "version", title: t("words.version"), kind: "number", cell: (version) => version.version },
    { key: "state", title: t("words.state"), cell: (version) => html`<${State} version=${version} list=${list} />` },
    { key: "source", title: t("words.source"), cell: (version) => html`<${Said}>${version.source}<//>` },
    { key: "created", title: t("words.brought"), kind: "number", cell: (version) => format.time(version.created_ms) },
    ...COUNTS.map(count),
    { key: "findings", title: t("words.findings"), cell: (version) => html`<${Findings} findings=${version.findings} />` },
    { key: "do", title: t("words.do"), cell: (version) => html`<${PutIntoEffect} ...${{ list, version, inUse, onDone }} />` },
  ];
  return html`<${Table} label=${t("words.versions")} columns=${columns} rows=${list.versions} empty=${t("words.no_version")}
    keyOf=${(version) => version.version} />`;
}

function State({ version, list }) {
  if (version.version === list.published) return html`<${Pill} tone="good">${t("words.version.current")}<//>`;
  return html`<${Pill}>${t(version.published_ms === null ? "words.version.draft" : "words.version.before")}<//>`;
}

/** How many, and how many more than in the version in effect. */
function Count({ name, version, inUse }) {
  const more = inUse && version !== inUse ? (version.counts[name] ?? 0) - (inUse.counts[name] ?? 0) : 0;
  return html`${format.number(version.counts[name] ?? 0)}${more !== 0 && html` <small>${format.difference(more)}</small>`}`;
}

function Findings({ findings }) {
  if (!findings.length) return "–";
  const errors = findings.filter((finding) => finding.severity === "error").length;
  return html`<details class="findings">
    <summary><${Pill} tone=${errors ? "bad" : "warn"}>
      ${errors ? t("words.errors", { n: errors }) : t("words.warnings", { n: findings.length })}<//></summary>
    <ul>${findings.map((finding) => html`<li key=${`${finding.place} ${finding.code} ${finding.word}`}>
      ${tCode("severity", finding.severity)}, <${Said}>${finding.place}<//>: <strong><${Said}>${finding.word}<//></strong>
      <${Said}>${finding.detail}<//></li>`)}</ul>
  </details>`;
}

/** Who changed this list, as far back as the last lines of the audit go. */
function Deeds({ id }) {
  const { data, problem } = useAnswer(`api/audit?limit=${LINES}`, 10_000);
  const own = data?.lines.filter((line) => line.target.split(/[/?]/)[3] === String(id) && line.target.startsWith("/api/words/"));
  return html`<${Card} title=${t("words.deeds")} aside=${html`<a href=${href(["audit"])}>${t("common.more")}</a>`}>
    <${Refusal} problem=${problem} />
    <${AuditLines} label=${t("words.deeds")} lines=${problem ? [] : own} />
  <//>`;
}
