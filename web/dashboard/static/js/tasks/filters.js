// The filters of the list of tasks, which live in the address.
import { Button, Field, Select, anyOf } from "../components.js";
import { html, useEffect, useState } from "../dom.js";
import { t, tCode } from "../i18n.js";
import { setParams } from "../router.js";
import { localOf, msOf } from "../times.js";

const STATES = ["queued", "delayed", "running", "done", "failed", "dead", "expired", "evicted", "cancelled"];
const SPANS = ["1h", "today", "24h", "7d", "30d", "between"];
const NONE = { q: null, as: null, mac: null, lane: null, state: null, hit: null, since: null, from: null, until: null, cursor: null };

export function TaskFilters({ params }) {
  const change = (patch) => setParams({ ...patch, cursor: null });
  const isBetween = params.since === "between" || (!params.since && (params.from || params.until));
  const isFiltered = Object.keys(params).some((name) => name in NONE);
  return html`<form class="filters" aria-label=${t("tasks.filters")} onSubmit=${(event) => event.preventDefault()}>
    <${Device} mac=${params.mac} onChange=${(mac) => change({ mac })} />
    <${Select} label=${t("lane.name")} value=${params.lane} onChange=${(lane) => change({ lane })}
      options=${anyOf(["ocr", "text"], (code) => tCode("lane_name", code))} />
    <${Select} label=${t("task.state")} value=${params.state} onChange=${(state) => change({ state })}
      options=${anyOf(STATES, (code) => tCode("task.state", code))} />
    <${Select} label=${t("task.found")} value=${params.hit} onChange=${(hit) => change({ hit })}
      options=${anyOf(["true", "false"], (code) => tCode("hit", code))} />
    <${Select} label=${t("task.accepted")} value=${isBetween ? "between" : params.since}
      options=${anyOf(SPANS, (code) => tCode("span", code))} onChange=${(since) => change({ since, from: null, until: null })} />
    ${isBetween && html`<${Time} label=${t("tasks.from")} ms=${params.from} onChange=${(from) => change({ from })} />
      <${Time} label=${t("tasks.until")} ms=${params.until} onChange=${(until) => change({ until })} />`}
    <${Button} disabled=${!isFiltered} onClick=${() => setParams(NONE)}>${t("tasks.clear")}<//>
  </form>`;
}

/** Taken over when it is left or entered, not letter by letter. */
function Device({ mac, onChange }) {
  const [text, setText] = useState(mac ?? "");
  useEffect(() => setText(mac ?? ""), [mac]);
  return html`<${Field} label=${t("device.one")} value=${text} onInput=${setText} maxlength="32" spellcheck=${false}
    placeholder="aa:bb:cc:00:11:22" autocomplete="off" onChange=${() => onChange(text.trim())} />`;
}

function Time({ label, ms, onChange }) {
  return html`<${Field} label=${label}>
    ${(id) => html`<input id=${id} type="datetime-local" value=${localOf(ms)} onChange=${(event) => onChange(msOf(event.target.value))} />`}
  <//>`;
}
