// Why a task waits, in plain words.
import { Card, Facts } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";

export function Waiting({ waiting, position }) {
  const facts = [
    [t("waiting.starts_in"), expectedOf(waiting)],
    [t("waiting.until"), waiting.until_ms && html`${format.time(waiting.until_ms)} <small>${inWords(waiting.until_ms)}</small>`],
    [t("waiting.position"), position && format.number(position)],
    [t("waiting.ahead"), waiting.ahead_in_line > 0 && format.number(waiting.ahead_in_line)],
    [t("waiting.devices"), waiting.devices_ahead > 0 && format.number(waiting.devices_ahead)],
  ].map(([name, value]) => [name, value || null]);
  return html`<${Card} title=${t("waiting.title")} kind="waiting">
    <p class="reason" role="status">${tCode("reason", waiting.reason)}</p>
    <${Facts} facts=${facts} />
  <//>`;
}

/** When it is known from when on it may run, that says more than that nobody knows when it will. */
function expectedOf({ wait_ms: waitMs, until_ms: untilMs }) {
  if (waitMs !== null) return format.duration(waitMs);
  return untilMs ? null : t("waiting.unknown");
}

function inWords(untilMs) {
  const leftMs = untilMs - Date.now();
  return leftMs > 0 ? t("waiting.left", { time: format.duration(leftMs) }) : "";
}
