// Who did what, and when.
import { withQuery } from "../api.js";
import { useAnswer } from "../asking.js";
import { Card, Page, Pager, Pill, Refusal, Table } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { usePages } from "../router.js";
import { Said } from "../said.js";

const PAGE = 50;

export function Audit({ route }) {
  const pages = usePages(route.params, "before");
  // What is on later pages has passed; only the first gains lines.
  const { data, problem } = useAnswer(withQuery("api/audit", { limit: PAGE, before: pages.at }), pages.at ? 0 : 5000);
  return html`<${Page} title=${t("nav.audit")}>
    <${Card}>
      <${Refusal} problem=${problem} />
      <${AuditLines} label=${t("nav.audit")} lines=${problem ? data?.lines ?? [] : data?.lines} />
      <${Pager} isFirst=${!pages.at} hasNext=${Boolean(data?.next)} onBack=${pages.back} onNext=${() => pages.forward(data.next)} />
    <//>
  <//>`;
}

export function AuditLines({ label, lines }) {
  const columns = [
    { key: "at", title: t("audit.at"), cell: (line) => format.time(line.at_ms) },
    { key: "actor", title: t("audit.actor"), cell: (line) => html`<${Said}>${line.actor}<//>` },
    { key: "site", title: t("words.site"), cell: (line) => (line.site === null ? t("frame.every_site") : html`<${Said}>${line.site}<//>`) },
    { key: "action", title: t("audit.action"), cell: (line) => html`<${Said}>${line.action}<//>` },
    { key: "target", title: t("audit.target"), cell: (line) => html`<${Said}>${line.target}<//>` },
    { key: "outcome", title: t("audit.outcome"), cell: (line) => html`<${Outcome} of=${line.outcome} />` },
  ];
  return html`<${Table} label=${label} columns=${columns} rows=${lines} keyOf=${(line) => line.id} />`;
}

function Outcome({ of }) {
  const isBad = Number(of) >= 400 || of === "failed";
  return html`<${Pill} tone=${isBad ? "bad" : of ? "good" : "warn"}>${of ? tCode("audit.outcome", of) : t("audit.unknown")}<//>`;
}
