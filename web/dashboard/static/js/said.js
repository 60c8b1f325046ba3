// Text that a device said, or that was read in its image: anything may stand in it, and it stays where it is shown.
import { html } from "./dom.js";

//: Characters that turn the direction of what follows, or cannot be seen; line ends and tabs stay.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** The text with what cannot be seen spelled out. */
export function visible(text) {
  return String(text).replace(UNSEEN, (one) => `⟨${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function Said({ children }) {
  return html`<bdi class="said">${visible(children ?? "")}</bdi>`;
}

/**
 * A text whose `spans` ({start, end, title, tone}, in UTF-16 units) are marked, wherever they overlap.
 */
export function Marked({ text, spans }) {
  const inside = spans.filter(({ start, end }) => start >= 0 && start < end && end <= text.length);
  const cuts = [...new Set([0, text.length, ...inside.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  return html`<bdi class="said">${cuts.slice(1).map((end, index) => {
    const start = cuts[index];
    const over = inside.filter((span) => span.start <= start && end <= span.end);
    const part = visible(text.slice(start, end));
    if (!over.length) return part;
    return html`<mark key=${start} class=${over[0].tone} title=${visible(over.map((span) => span.title).join(" · "))}>${part}</mark>`;
  })}</bdi>`;
}

/** The same spans, of code points, in UTF-16 units. */
export function inUnits(text, spans) {
  const units = [0];
  for (const point of text) units.push(units.at(-1) + point.length);
  return spans.map((span) => ({ ...span, start: units[span.start] ?? text.length, end: units[span.end] ?? text.length }));
}
