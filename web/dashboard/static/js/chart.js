// Lines over time, drawn by uPlot in the colours of the page's theme.
import { html, useEffect, useRef } from "./dom.js";
import * as format from "./format.js";
import { t } from "./i18n.js";

const HEIGHT_PX = 170;
/** Room for `12 min 30 s` beside the axis. */
const AXIS_PX = 88;

/**
 * `times`: epoch ms; `lines`: {label, values, color (a CSS variable), format}, each with as many values as there are
 * times, null where nothing is known.
 */
export function Chart({ label, times, lines }) {
  if (!times.length) return html`<div class="chart empty">${t("common.nothing")}</div>`;
  return html`<${Plot} key=${lines.map((line) => line.label).join()} ...${{ label, times, lines }} />`;
}

function Plot({ label, times, lines }) {
  const frame = useRef(null);
  const plot = useRef(null);
  const data = [times.map((ms) => ms / 1000), ...lines.map((line) => line.values)];
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(frame.current, lines), data, frame.current);
    };
    draw();
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const resizing = new ResizeObserver(([seen]) => plot.current.setSize({ width: seen.contentRect.width, height: HEIGHT_PX }));
    theme.addEventListener("change", draw);
    resizing.observe(frame.current);
    return () => {
      theme.removeEventListener("change", draw);
      resizing.disconnect();
      plot.current.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data));
  return html`<div class="chart" role="img" aria-label=${label} ref=${frame}></div>`;
}

function optionsOf(frame, lines) {
  const styles = getComputedStyle(frame);
  const axis = { stroke: styles.getPropertyValue("--quiet"), grid: { stroke: styles.getPropertyValue("--line") } };
  return {
    width: frame.clientWidth,
    height: HEIGHT_PX,
    legend: { live: true },
    scales: { y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max(high ?? 0, 1)] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((tick) => format.clock(tick * 1000)) },
      { ...axis, size: AXIS_PX, values: (_, ticks) => ticks.map((tick) => lines[0].format(tick)) },
    ],
    series: [
      { label: t("chart.time"), value: (_, tick) => (tick === null ? "–" : format.clock(tick * 1000)) },
      ...lines.map((line) => ({
        label: line.label,
        stroke: styles.getPropertyValue(line.color),
        width: 2,
        points: { show: false },
        value: (_, value) => (value === null ? "–" : line.format(value)),
      })),
    ],
  };
}
