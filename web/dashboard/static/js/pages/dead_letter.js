// One dead letter in full, and what can be done with it.
import { useAnswer, useDeed } from "../asking.js";
import { Button, Card, Confirm, DeviceLink, Facts, Page, Raw, Refusal, TaskState } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { Said } from "../said.js";
import { dropEach, replayed } from "../letters/deeds.js";
import { ReplayState, mayReplay } from "../letters/replay_state.js";

export function DeadLetter({ route, me }) {
  const id = route.parts[1];
  const [isDropped, setIsDropped] = useState(false);
  const [done, setDone] = useState("");
  // Of a letter that was dropped here the last look stays; there is nothing left to ask for.
  const { data: letter, problem, reload } = useAnswer(isDropped ? null : `api/dead-letters/${encodeURIComponent(id)}`);
  const onDone = (deed, words) => {
    setDone(words);
    if (deed === "drop") setIsDropped(true);
    else reload();
  };
  return html`<${Page} title=${t("letters.one", { id })} aside=${html`<a href=${href(["dead-letters"])}>${t("letters.back")}</a>`}>
    <p class="told" role="status">${done}</p>
    <${Refusal} problem=${problem} />
    ${letter && html`
      <div class="refusal"><strong>${tCode("code", letter.code)}</strong> <${Said}>${letter.message}<//> <code>${letter.code}</code></div>
      <${Card}>
        <${Facts} facts=${factsOf(letter)} />
        ${me.may.includes("act") && !isDropped && html`<${Deeds} letter=${letter} onDone=${onDone} />`}
      <//>
      <${Raw} title=${t("common.raw")} value=${letter} />`}
  <//>`;
}

function factsOf(letter) {
  return [
    [t("task.one"), html`<a class="mono" href=${href(["tasks", letter.task_id])}>${letter.task_id}</a>`],
    [t("device.one"), html`<${DeviceLink} mac=${letter.mac} />`],
    [t("device.site"), letter.site],
    [t("lane.name"), letter.lane],
    [t("task.state"), html`<${TaskState} state=${letter.state} />`],
    [t("task.attempts"), format.number(letter.attempts)],
    [t("task.accepted"), format.time(letter.created_ms)],
    [t("letters.dead"), format.time(letter.dead_ms)],
    [t("letters.replay_state"), html`<${ReplayState} letter=${letter} />`],
  ];
}

function Deeds({ letter, onDone }) {
  const [asked, setAsked] = useState(null);
  const deed = useDeed();
  const carryOut = async () => {
    const done = await deed.run(() => (asked === "replay" ? replayed({ ids: [letter.id] }) : dropEach([letter.id])));
    setAsked(null);
    if (done) onDone(asked, t(done.words, { n: done.n }));
  };
  const isReplay = asked === "replay";
  return html`<div class="buttons">
    <${Button} tone="primary" disabled=${!mayReplay(letter)} onClick=${() => setAsked("replay")}>${t("letters.replay_yes")}<//>
    <${Button} tone="danger" onClick=${() => setAsked("drop")}>${t("letters.drop_yes")}<//>
    <${Refusal} problem=${deed.problem} />
    <${Confirm} isOpen=${asked !== null} title=${isReplay ? t("letters.replay_title") : t("letters.drop_title")}
      yes=${isReplay ? t("letters.replay_yes") : t("letters.drop_yes")} tone=${isReplay ? "primary" : "danger"} isBusy=${deed.isBusy}
      onYes=${carryOut} onNo=${() => setAsked(null)}>
      <p>${isReplay ? t("letters.replay_question", { n: 1 }) : t("letters.drop_question", { n: 1 })}</p>
    <//>
  </div>`;
}
