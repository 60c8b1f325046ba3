// How a worker stands.
import { Pill } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { tCode } from "../i18n.js";

export function WorkerState({ state }) {
  return html`<${Pill} tone=${state === "held" ? "warn" : "good"}>${tCode("worker.state", state)}<//>`;
}

/** Tasks that it works on, of those that it can run at once. */
export function slotsOf(worker) {
  return `${format.number(worker.active_tasks)} / ${format.number(worker.effective_concurrency)}`;
}
