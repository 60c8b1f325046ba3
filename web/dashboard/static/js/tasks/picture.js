// The picture of a task with a box over each line that was read in it; line and box show each other.
import { usePicture } from "../asking.js";
import { Card, Refusal } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";
import { Marked, inUnits } from "../said.js";

//: Lines that are drawn at once; a page of small print may have thousands.
const LINES = 300;

export function Picture({ task, path }) {
  const picture = usePicture(path);
  const [active, setActive] = useState(null);
  const [isWhole, setIsWhole] = useState(false);
  const lines = linesOf(task);
  const shown = isWhole ? lines : lines.slice(0, LINES);
  const show = { active, onActive: setActive };
  const size = task.ocr && { width: task.ocr.width_px, height: task.ocr.height_px, n: lines.length };
  return html`<${Card} title=${t("picture.title")} aside=${size && html`<span class="quiet">${t("picture.size", size)}</span>`}>
    ${picture.problem?.status === 404
      ? html`<p class="quiet">${t("picture.gone")} ${task.ocr && t("picture.boxes")}</p>`
      : html`<${Refusal} problem=${picture.problem} />`}
    <div class="picture">
      ${(picture.url || task.ocr) && html`<${Canvas} url=${picture.url} ocr=${task.ocr} lines=${shown} ...${show} />`}
      ${task.ocr && html`<ol class="lines">${shown.map((line) => html`<${Line} key=${line.number} line=${line} ...${show} />`)}
        ${shown.length < lines.length && html`<li><button type="button" class="button" onClick=${() => setIsWhole(true)}>
          ${t("picture.all", { n: lines.length })}</button></li>`}
      </ol>`}
    </div>
  <//>`;
}

/** Each line with the spans and boxes of the hits in it. */
function linesOf(task) {
  const partsOf = (hit) => hit.segments.map((segment) => ({ ...segment, title: hit.word, tone: "hit" }));
  const parts = (task.detection?.hits ?? []).flatMap(partsOf);
  return (task.ocr?.lines ?? []).map((line, number) => {
    const hits = parts.filter((part) => part.line === number);
    const hitBoxes = hits.map((hit) => hit.box).filter(Boolean);
    return { ...line, number, hitBoxes, spans: inUnits(line.text, hits), isHit: hits.length > 0 };
  });
}

function Canvas({ url, ocr, lines, active, onActive }) {
  if (!ocr) return html`<div class="canvas"><img src=${url} alt=${t("picture.title")} /></div>`;
  const at = (box) => box.map((point) => point.join(",")).join(" ");
  const thin = Math.max(ocr.width_px, ocr.height_px) / 400;
  const hits = lines.flatMap((line) => line.hitBoxes);
  const kind = (line) => `box ${line.isHit ? "hit" : ""} ${line.number === active ? "active" : ""}`;
  return html`<div class="canvas">
    ${url && html`<img src=${url} width=${ocr.width_px} height=${ocr.height_px} alt=${t("picture.title")} />`}
    <svg class=${url ? "over" : "alone-boxes"} viewBox=${`0 0 ${ocr.width_px} ${ocr.height_px}`} aria-hidden="true">
      ${lines.map((line) => html`<polygon key=${line.number} class=${kind(line)} points=${at(line.box)}
        stroke-width=${line.number === active ? thin * 2 : thin} onClick=${() => focusOn(line.number)}
        onMouseEnter=${() => onActive(line.number)} onMouseLeave=${() => onActive(null)} />`)}
      ${hits.map((box, index) => html`<polygon key=${`hit ${index}`} class="hit-box" points=${at(box)} />`)}
    </svg>
  </div>`;
}

function Line({ line, active, onActive }) {
  const kind = `line ${line.isHit ? "hit" : ""} ${line.number === active ? "active" : ""}`;
  return html`<li id=${`line-${line.number}`} tabindex="0" class=${kind}
      onMouseEnter=${() => onActive(line.number)} onMouseLeave=${() => onActive(null)}
      onFocus=${() => onActive(line.number)} onBlur=${() => onActive(null)}>
    <${Marked} text=${line.text} spans=${line.spans} /> <small>${format.percent(line.confidence)}</small>
  </li>`;
}

function focusOn(number) {
  document.getElementById(`line-${number}`)?.focus();
}
