// Whose texts a list of words is for.
import { DeviceLink } from "../components.js";
import { html } from "../dom.js";
import { t } from "../i18n.js";
import { Said } from "../said.js";

export function Owner({ list }) {
  if (list.scope === "global") return t("words.scope.global");
  const site = html`<${Said}>${list.site}<//>`;
  if (list.scope === "site") return html`${t("words.scope.site")} ${site}`;
  return html`${t("words.scope.device")} <${DeviceLink} mac=${list.mac} /> (${site})`;
}
