// The state of a delivery.
import { Pill } from "../components.js";
import { html } from "../dom.js";
import { tCode } from "../i18n.js";

const TONES = { delivered: "good", failed: "bad" };

export function DeliveryState({ state }) {
  return html`<${Pill} tone=${TONES[state] ?? ""}>${tCode("delivery.state", state)}<//>`;
}
