// Figures for people, in their language. Times come as epoch milliseconds, durations as milliseconds.
import { language, t } from "./i18n.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOTHING = "–";

/** `850 ms`, `12 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < SECOND) return t("unit.ms", { n: Math.round(ms) });
  if (ms < MINUTE) return t("unit.s", { n: number(ms / SECOND, ms < 10 * SECOND ? 1 : 0) });
  if (ms < HOUR) return pair(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return pair(ms, HOUR, "h", MINUTE, "min");
  return pair(ms, DAY, "d", HOUR, "h");
}

function pair(ms, large, largeName, small, smallName) {
  const whole = t(`unit.${largeName}`, { n: Math.floor(ms / large) });
  const rest = Math.floor((ms % large) / small);
  return rest ? `${whole} ${t(`unit.${smallName}`, { n: rest })}` : whole;
}

export function number(value, digits = 0) {
  if (value === null || value === undefined) return NOTHING;
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
}

/** The `total` of a list: `12`, or `10,000+` when it is only the least that there are. */
export function total(answer) {
  if (!answer) return NOTHING;
  return answer.total_is_least ? t("common.at_least", { n: number(answer.total) }) : number(answer.total);
}

/** A number with its sign: how much more, or less. */
export function difference(value) {
  return new Intl.NumberFormat(language, { signDisplay: "exceptZero" }).format(value);
}

/** A share of one as percent. */
export function percent(share, digits = 0) {
  if (share === null || share === undefined) return NOTHING;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits }).format(share);
}

export function bytes(value) {
  if (value === null || value === undefined) return NOTHING;
  const power = Math.min(Math.floor(Math.log(Math.max(value, 1)) / Math.log(1024)), 4);
  return `${number(value / 1024 ** power, power ? 1 : 0)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

/** Date and time of day, where whoever looks is. */
export function time(ms) {
  if (ms === null || ms === undefined) return NOTHING;
  return new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium" }).format(ms);
}

/** Time of day alone. */
export function clock(ms) {
  return new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(ms);
}

/** `aa:bb:cc:00:11:22`, as it stands on devices. */
export function mac(value) {
  return value ? value.match(/../g).join(":") : NOTHING;
}
