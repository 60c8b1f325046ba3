// Whether a dead letter can run again, in a word.
import { Pill } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";
import { Said } from "../said.js";

export function ReplayState({ letter }) {
  if (letter.replayed_ms !== null) {
    return html`<${Pill} tone="good">${t("letters.replayed_at", { time: format.time(letter.replayed_ms) })}<//>`;
  }
  if (letter.replay_asked_ms !== null) return html`<${Pill} tone="running">${t("replay.asked")}<//>`;
  if (!letter.replay_refusal) return html`<${Pill}>${t("replay.open")}<//>`;
  return html`<${Pill} tone="warn">${t("replay.refused")}<//> <small><${Said}>${letter.replay_refusal}<//></small>`;
}

/** Neither replayed nor about to be. */
export function mayReplay(letter) {
  return letter.replayed_ms === null && letter.replay_asked_ms === null;
}
