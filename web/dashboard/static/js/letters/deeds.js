// What can be done with dead letters: counted first, asked before, and told after.
import { send, withQuery } from "../api.js";
import { useDeed } from "../asking.js";
import { Button, Confirm, Refusal } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";
import { mayReplay } from "./replay_state.js";

const PATH = "api/dead-letters";
const NUMBERS = ["older_than_ms", "newer_than_ms"];

/** Buttons for the letters that the filter means, and for the `chosen` ones of this page. */
export function Deeds({ filter, letters, chosen, onChoose, onDone }) {
  const [plan, setPlan] = useState(null);
  const count = useDeed();
  const deed = useDeed();
  const ids = letters.map((letter) => letter.id).filter((id) => chosen.has(id));
  const propose = (made) => count.run(async () => setPlan({ ...made, n: await made.count() }));
  const carryOut = async () => {
    const n = await deed.run(() => plan.act(plan.n));
    setPlan(null);
    if (n === null) return onDone();
    onChoose(new Set());
    return onDone();
  };
  return html`<div class="deeds">
    <div class="buttons">
      <${Button} onClick=${() => onChoose(new Set(letters.map((letter) => letter.id)))} disabled=${!letters.length}>
        ${t("letters.choose_page")}<//>
      <${Button} disabled=${!ids.length} onClick=${() => onChoose(new Set())}>${t("letters.choose_none")}<//>
      <${Button} tone="primary" disabled=${!ids.length} onClick=${() => propose(replayOf(ids, letters))}>
        ${t("letters.replay_chosen", { n: ids.length })}<//>
      <${Button} tone="danger" disabled=${!ids.length} onClick=${() => propose(dropOf(ids))}>
        ${t("letters.drop_chosen", { n: ids.length })}<//>
      <${Button} isBusy=${count.isBusy} disabled=${!letters.length} onClick=${() => propose(replayAll(filter))}>
        ${t("letters.replay_all")}<//>
      <${Button} isBusy=${count.isBusy} disabled=${!letters.length} tone="danger" onClick=${() => propose(dropAll(filter))}>
        ${t("letters.drop_all")}<//>
    </div>
    <${Refusal} problem=${count.problem ?? deed.problem} />
    <p class="told" role="status">${deed.done && t(deed.done.words, { n: format.number(deed.done.n) })}</p>
    <${Confirm} isOpen=${plan !== null} title=${plan ? t(plan.title) : ""} yes=${plan ? t(plan.yes) : ""} tone=${plan?.tone ?? ""}
      isBusy=${deed.isBusy} onYes=${carryOut} onNo=${() => setPlan(null)}>
      <p>${plan && t(plan.question, { n: format.number(plan.n) })}</p>
    <//>
  </div>`;
}

const REPLAY = { title: "letters.replay_title", yes: "letters.replay_yes", question: "letters.replay_question", tone: "primary" };
const DROP = { title: "letters.drop_title", yes: "letters.drop_yes", question: "letters.drop_question", tone: "danger" };

function replayOf(ids, letters) {
  const body = { ids };
  const open = letters.filter((letter) => ids.includes(letter.id) && mayReplay(letter)).length;
  return { ...REPLAY, count: async () => open, act: () => replayed(body) };
}

function replayAll(filter) {
  const meant = givenOf(filter);
  const body = Object.keys(meant).length ? { filter: meant } : { all: true };
  const count = async () => (await send("POST", `${PATH}/replay`, { ...body, dry_run: true })).letters;
  // The service wants large replays confirmed with the count that was shown.
  return { ...REPLAY, count, act: (n) => replayed({ ...body, confirm: Math.max(n, 1) }) };
}

function dropAll(filter) {
  const query = Object.keys(givenOf(filter)).length ? filter : { all: true };
  const count = async () => (await send("DELETE", withQuery(PATH, { ...query, dry_run: true }))).letters;
  return { ...DROP, count, act: async () => dropped((await send("DELETE", withQuery(PATH, query))).letters) };
}

function dropOf(ids) {
  return { ...DROP, count: async () => ids.length, act: () => dropEach(ids) };
}

/** One by one; what somebody else has dropped meanwhile is gone as was wished. */
export async function dropEach(ids) {
  let n = 0;
  for (const id of ids) {
    try {
      n += (await send("DELETE", `${PATH}/${id}`)).letters;
    } catch (problem) {
      if (problem.status !== 404) throw problem;
    }
  }
  return dropped(n);
}

export async function replayed(body) {
  return { words: "letters.replay_done", n: (await send("POST", `${PATH}/replay`, body)).letters };
}

function dropped(n) {
  return { words: "letters.drop_done", n };
}

/** What of a filter is given, its numbers as numbers: the address knows only text. */
function givenOf(filter) {
  const given = Object.entries(filter).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return Object.fromEntries(given.map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value]));
}
