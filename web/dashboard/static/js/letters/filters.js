// The filters of the list of dead letters, which live in the address.
import { Button, Field, Select, anyOf } from "../components.js";
import { html, useEffect, useState } from "../dom.js";
import { t, tCode } from "../i18n.js";
import { setParams } from "../router.js";
import { beginOf } from "../times.js";

const REPLAYS = ["open", "asked", "replayed", "refused"];
const AGES = ["1h", "24h", "7d", "over-24h", "over-7d", "over-30d"];
const NONE = { task_id: null, mac: null, code: null, lane: null, state: null, replay: null, age: null, before: null };

/** The filter of the service for one of the ages. */
export function ageQuery(age = "") {
  return age.startsWith("over-") ? { older_than_ms: beginOf(age.slice(5)) } : { newer_than_ms: beginOf(age) };
}

export function LetterFilters({ params }) {
  const change = (patch) => setParams({ ...patch, before: null });
  const select = (name, label, options) => html`<${Select} label=${label} value=${params[name]} options=${options}
    onChange=${(value) => change({ [name]: value })} />`;
  const typed = (name, label, hint) => html`<${Typed} label=${label} value=${params[name]} placeholder=${hint}
    onChange=${(value) => change({ [name]: value })} />`;
  const isFiltered = Object.keys(params).some((name) => name in NONE);
  return html`<form class="filters" aria-label=${t("letters.filters")} onSubmit=${(event) => event.preventDefault()}>
    ${select("replay", t("letters.replay_state"), anyOf(REPLAYS, (code) => tCode("replay", code)))}
    ${typed("mac", t("device.one"), "aa:bb:cc:00:11:22")}
    ${select("lane", t("lane.name"), anyOf(["ocr", "text"], (code) => tCode("lane_name", code)))}
    ${typed("code", t("letters.code"), "engine_timeout")}
    ${select("state", t("task.state"), anyOf(["failed", "dead"], (code) => tCode("task.state", code)))}
    ${select("age", t("letters.dead"), anyOf(AGES, (code) => tCode("age", code)))}
    ${typed("task_id", t("task.one"))}
    <${Button} disabled=${!isFiltered} onClick=${() => setParams(NONE)}>${t("tasks.clear")}<//>
  </form>`;
}

/** Taken over when it is left or entered, not letter by letter. */
function Typed({ label, value = "", placeholder, onChange }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return html`<${Field} label=${label} value=${text} placeholder=${placeholder} maxlength="64" spellcheck=${false} autocomplete="off"
    onInput=${setText} onChange=${() => onChange(text.trim())} />`;
}
