// One delivery of an announcement, in full.
import { useAnswer } from "../asking.js";
import { Card, DeviceLink, Facts, Page, Refusal, TaskLink } from "../components.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href } from "../router.js";
import { Said, visible } from "../said.js";
import { Replay } from "../announcements/replay.js";
import { DeliveryState } from "../announcements/state.js";

const NO_FILTER = {};

export function Announcement({ route, me }) {
  const { data, problem, reload } = useAnswer(`api/deliveries/${encodeURIComponent(route.parts[1])}`);
  const back = html`<a href=${href(["announcements"])}>${t("delivery.all")}</a>`;
  return html`<${Page} title=${t("delivery.title", { id: route.parts[1] })} aside=${back}>
    <${Refusal} problem=${problem} />
    ${data && html`<${Card}><${Facts} facts=${factsOf(data)} />
        ${me.may.includes("act") && data.state !== "pending" &&
        html`<${Replay} chosen=${new Set([data.id])} filter=${NO_FILTER} isOfOne=${true} onDone=${reload} />`}<//>
      <${Card} title=${t("delivery.body")}><pre class="raw" tabindex="0">${spread(data.body)}</pre><//>`}
  <//>`;
}

function factsOf(delivery) {
  return [
    [t("delivery.state"), html`<${DeliveryState} state=${delivery.state} />`],
    [t("delivery.task"), html`<${TaskLink} id=${delivery.task_id} />`],
    [t("words.device"), html`<${DeviceLink} mac=${delivery.mac} />`],
    [t("words.site"), html`<${Said}>${delivery.site}<//>`],
    [t("lane.name"), html`<${Said}>${delivery.lane}<//>`],
    [t("delivery.type"), html`<${Said}>${delivery.type}<//>`],
    [t("delivery.effect"), tCode("delivery.effect", delivery.effect)],
    [t("delivery.target"), html`<${Said}>${delivery.url}<//>`],
    [t("delivery.message_id"), html`<code>${delivery.message_id}</code>`],
    [t("delivery.attempts"), format.number(delivery.attempts)],
    [t("delivery.status"), delivery.last_status],
    [t("delivery.error"), delivery.error && html`<${Said}>${delivery.error}<//>`],
    [t("delivery.made"), format.time(delivery.created_ms)],
    [t("delivery.last"), delivery.last_attempt_ms && format.time(delivery.last_attempt_ms)],
    [t("delivery.next"), delivery.state === "pending" ? format.time(delivery.due_ms) : null],
    [t("delivery.ended"), delivery.ended_ms && format.time(delivery.ended_ms)],
  ];
}

/** JSON with a line for each field; what is none, as it is. */
function spread(body) {
  try {
    return visible(JSON.stringify(JSON.parse(body), null, 2));
  } catch {
    return visible(body);
  }
}
