// Makes deliveries again: those that are chosen, those of the filter, or all that failed; counted before it is done.
import { send } from "../api.js";
import { useDeed } from "../asking.js";
import { Button, Confirm, Refusal } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";

const PATH = "api/deliveries/replay";

export function Replay({ chosen, filter, isOfOne = false, onDone }) {
  const [asked, setAsked] = useState(null);
  const counting = useDeed();
  const doing = useDeed();
  const hasFilter = Object.keys(filter).length > 0;
  const ask = (wish) => counting.run(async () => {
    const { deliveries } = await send("POST", PATH, { ...wish, dry_run: true });
    setAsked({ wish, deliveries });
  });
  const replay = async () => {
    const done = await doing.run(() => send("POST", PATH, asked.wish));
    if (!done) return;
    setAsked(null);
    onDone();
  };
  return html`<div class="buttons">
      <${Button} disabled=${chosen.size === 0} isBusy=${counting.isBusy} onClick=${() => ask({ ids: [...chosen] })}>
        ${isOfOne ? t("replay.do") : t("replay.chosen", { n: format.number(chosen.size) })}<//>
      ${!isOfOne && html`<${Button} isBusy=${counting.isBusy} onClick=${() => ask(hasFilter ? { filter } : { all: true })}>
        ${hasFilter ? t("replay.filter") : t("replay.all_failed")}<//>`}
    </div>
    <${Refusal} problem=${counting.problem} />
    ${doing.done && html`<p class="done" role="status">${t("replay.done", { n: format.number(doing.done.deliveries) })}</p>`}
    <${Confirm} isOpen=${asked !== null} title=${t("replay.title")} yes=${t("replay.do")} tone="primary" isBusy=${doing.isBusy}
      onYes=${replay} onNo=${() => setAsked(null)}>
      <p>${t("replay.count", { n: format.number(asked?.deliveries ?? 0) })}</p>
      <${Refusal} problem=${doing.problem} />
    <//>`;
}
