// The steps of a task on one line of time, from when it began to its end or to now.
import { Pill } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { Said } from "../said.js";

const TONES = { done: "good", failed: "bad", running: "running", skipped: "quiet" };

export function Steps({ task }) {
  if (!task.steps.length) return html`<p class="empty">${t("task.no_steps")}</p>`;
  // The wait before it began would leave nothing to see of what came after.
  const beginMs = task.started_ms ?? task.created_ms;
  const endMs = Math.max(task.ended_ms ?? Date.now(), beginMs + 1, ...task.steps.map((step) => step.ended_ms ?? 0));
  return html`<ol class="steps">
    ${task.steps.map((step) => html`<${Step} key=${step.name} ...${{ step, beginMs, endMs }} />`)}
  </ol>`;
}

function Step({ step, beginMs, endMs }) {
  const isTimed = step.started_ms !== null && step.state !== "skipped" && step.name !== "enqueued";
  const toMs = step.ended_ms ?? (step.state === "running" ? endMs : step.started_ms);
  return html`<li>
    <span class="step-name">${tCode("step", step.name)}</span>
    <${Pill} tone=${TONES[step.state] ?? ""}>${tCode("step_state", step.state)}<//>
    <span class="step-time">${isTimed ? format.duration(Math.max(0, toMs - step.started_ms)) : ""}</span>
    ${isTimed && html`<span class="span" title=${format.time(step.started_ms)}>
      <span class=${`span-fill ${step.state}`} style=${placeOf(step.started_ms, toMs, beginMs, endMs)}></span>
    </span>`}
    ${step.reason && html`<small class="step-reason"><${Said}>${step.reason}<//></small>`}
  </li>`;
}

/** At least so wide that it can be seen; inside whatever the clocks of several hosts say. */
function placeOf(fromMs, toMs, beginMs, endMs) {
  const share = (ms) => Math.min(Math.max((ms - beginMs) / (endMs - beginMs), 0), 1);
  const left = Math.min(share(fromMs), 0.985);
  return { left: `${left * 100}%`, width: `${Math.max(share(toMs) - left, 0.015) * 100}%` };
}
