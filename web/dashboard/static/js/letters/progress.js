// How far the replay is that somebody asked for: it goes on whoever looks, so that nothing of it lives in this page.
import { useAnswer } from "../asking.js";
import { html } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";
import { href } from "../router.js";

export function Progress() {
  const left = useAnswer("api/dead-letters?replay=asked&limit=1", 2000).data;
  const refused = useAnswer("api/dead-letters?replay=refused&limit=1").data;
  if (!left?.total && !refused?.total) return null;
  const link = (replay, words) => html`<a href=${href(["dead-letters"], { replay })}>${words}</a>`;
  return html`<p class="progress" role="status">
    ${left?.total > 0 && link("asked", t("letters.left", { n: format.total(left) }))}
    ${refused?.total > 0 && link("refused", t("letters.refused", { n: format.total(refused) }))}
  </p>`;
}
