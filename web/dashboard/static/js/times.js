// Spans of time that filters offer: fixed ones that end now, or any two times.
const HOUR_MS = 3_600_000;
const SPANS = { "1h": HOUR_MS, "24h": 24 * HOUR_MS, "7d": 168 * HOUR_MS, "30d": 720 * HOUR_MS };

/** When a span began that ends now, epoch ms; null when there is no such span. `today` began at midnight, here. */
export function beginOf(span) {
  if (span === "today") return new Date().setHours(0, 0, 0, 0);
  return span in SPANS ? Date.now() - SPANS[span] : null;
}

/** Epoch ms as an `<input type="datetime-local">` has it. */
export function localOf(ms) {
  if (!ms || !Number.isFinite(Number(ms))) return "";
  const offsetMs = new Date(Number(ms)).getTimezoneOffset() * 60_000;
  const local = new Date(Number(ms) - offsetMs);
  return Number.isNaN(local.getTime()) ? "" : local.toISOString().slice(0, 16);
}

/** The other way; null for an empty field. */
export function msOf(local) {
  const ms = new Date(local).getTime();
  return Number.isNaN(ms) ? null : ms;
}
