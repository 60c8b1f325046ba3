// One task: where it stands and why, its steps, what was read and found, its picture.
import { send } from "../api.js";
import { useAnswer, useDeed } from "../asking.js";
import { Button, Card, Confirm, DeviceLink, Facts, Page, Raw, Refusal, TaskState } from "../components.js";
import { html, useEffect, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { Said } from "../said.js";
import { Findings } from "../tasks/findings.js";
import { Picture } from "../tasks/picture.js";
import { Steps } from "../tasks/steps.js";
import { Waiting } from "../tasks/waiting.js";

const OPEN = ["queued", "delayed", "running"];
const PERIOD_MS = 2000;

export function Task({ route, me }) {
  const path = `api/ocr/tasks/${encodeURIComponent(route.parts[1])}`;
  const [isOpen, setIsOpen] = useState(true);
  const { data: task, problem, reload } = useAnswer(path, isOpen ? PERIOD_MS : 0);
  useEffect(() => {
    if (task) setIsOpen(OPEN.includes(task.state));
  }, [task]);
  return html`<${Page} title=${t("task.title", { id: route.parts[1] })} aside=${html`<div class="page-aside">
      ${task && html`<${TaskState} state=${task.state} />`}
      ${isOpen && task && me.may.includes("submit") && html`<${Cancel} path=${path} onDone=${reload} />`}
    </div>`}>
    <${Refusal} problem=${problem} />
    ${task ? html`<${Whole} task=${task} path=${path} may=${me.may} />` : !problem && html`<p class="quiet">${t("common.loading")}</p>`}
  <//>`;
}

function Whole({ task, path, may }) {
  return html`
    ${task.waiting && html`<${Waiting} waiting=${task.waiting} position=${task.position} />`}
    <${Ending} task=${task} may=${may} />
    <div class="halves">
      <${Card} title=${t("task.facts")}><${Facts} facts=${factsOf(task)} /><//>
      <${Card} title=${t("task.steps")}><${Steps} task=${task} /><//>
    </div>
    <${Findings} task=${task} />
    ${task.lane === "ocr" && html`<${Picture} task=${task} path=${`${path}/image`} />`}
    <${Raw} title=${t("common.raw")} value=${task} />`;
}

/** Why it ended badly or was put back, and where its dead letter lies. */
function Ending({ task, may }) {
  if (!task.error) return null;
  const isDead = ["failed", "dead"].includes(task.state);
  return html`<div class=${`refusal ${OPEN.includes(task.state) ? "mild" : ""}`}>
    <strong>${tCode("code", task.error.code)}</strong> <${Said}>${task.error.message}<//> <code>${task.error.code}</code>
    ${isDead && may.includes("read") && html` <a href=${href(["dead-letters"], { task_id: task.task_id })}>${t("task.letter")}</a>`}
  </div>`;
}

function factsOf(task) {
  const startedMs = task.started_ms;
  const reusedFrom = task.ocr?.reused_from;
  const endMs = task.ended_ms ?? Date.now();
  return [
    [t("device.one"), html`<${DeviceLink} mac=${task.mac} />`],
    [t("lane.name"), task.lane],
    [t("task.attempts"), format.number(task.attempts)],
    [t("task.accepted"), format.time(task.created_ms)],
    [t("task.due"), task.due_ms && OPEN.includes(task.state) && format.time(task.due_ms)],
    [t("task.started"), startedMs && format.time(startedMs)],
    [t("task.ended"), task.ended_ms && format.time(task.ended_ms)],
    [t("task.waited"), format.duration(Math.max(0, (startedMs ?? endMs) - task.created_ms))],
    [t("task.ran"), startedMs && format.duration(Math.max(0, endMs - startedMs))],
    [t("task.engine"), task.ocr && `${task.ocr.engine} ${task.ocr.model}`],
    [t("task.reused"), reusedFrom && html`<a class="mono" href=${href(["tasks", reusedFrom])}>${reusedFrom}</a>`],
  ].map(([name, value]) => [name, value || null]);
}

function Cancel({ path, onDone }) {
  const [isAsked, setIsAsked] = useState(false);
  const deed = useDeed();
  const cancel = async () => {
    await deed.run(() => send("DELETE", path));
    setIsAsked(false);
    onDone();
  };
  return html`<${Button} tone="danger" onClick=${() => setIsAsked(true)}>${t("task.cancel")}<//>
    <${Refusal} problem=${deed.problem} />
    <${Confirm} isOpen=${isAsked} title=${t("task.cancel_title")} yes=${t("task.cancel_yes")} isBusy=${deed.isBusy} onYes=${cancel}
      onNo=${() => setIsAsked(false)}><p>${t("task.cancel_text")}</p><//>`;
}
