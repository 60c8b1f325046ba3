// One box for whatever is known of a task; it says what it took it for, and lets whoever looks say otherwise.
import { Button, Field } from "../components.js";
import { html, useEffect, useState } from "../dom.js";
import { t, tCode } from "../i18n.js";
import { kindsOf } from "../searching.js";

/** `typed` was looked for as `kind`; `onSearch(typed, kind)`, without a kind: as what it is taken for. */
export function SearchBox({ typed, kind, isBusy, onSearch }) {
  const [text, setText] = useState(typed);
  useEffect(() => setText(typed), [typed]);
  const trimmed = text.trim();
  const isShown = trimmed !== "" && trimmed === typed;
  const submit = (event) => {
    event.preventDefault();
    onSearch(trimmed);
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <${Field} label=${t("tasks.search")} value=${text} onInput=${setText} type="search" maxlength="200" spellcheck=${false}
      autocomplete="off" />
    <${Button} type="submit" tone="primary" isBusy=${isBusy}>${t("common.search")}<//>
    <p class="kinds" role="status">
      ${trimmed
        ? html`<${Kinds} kinds=${kindsOf(trimmed)} taken=${isShown ? kind : null} onChoose=${(chosen) => onSearch(trimmed, chosen)} />`
        : t("tasks.search_hint")}
    </p>
  </form>`;
}

function Kinds({ kinds, taken, onChoose }) {
  const first = taken ?? kinds[0];
  return html`<span>${t(taken ? "tasks.taken_for" : "tasks.takes_for")} <strong>${tCode("kind", first)}</strong></span>
    ${kinds.length > 1 && html` <span>${t("tasks.not_so")}</span>`}
    ${kinds.filter((kind) => kind !== first).map((kind) => html` <${Button} key=${kind} tone="plain"
      onClick=${() => onChoose(kind)}>${tCode("kind", kind)}<//>`)}`;
}
