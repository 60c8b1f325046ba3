// Publishes a version of a list, or goes back to one; each is asked for twice.
import { send } from "../api.js";
import { useDeed } from "../asking.js";
import { Button, Confirm, Refusal } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t } from "../i18n.js";

export function PutIntoEffect({ list, version, inUse, onDone }) {
  const [isOpen, setIsOpen] = useState(false);
  const [isForced, setIsForced] = useState(false);
  const deed = useDeed();
  if (version === inUse) return "–";
  const isBack = version.published_ms !== null;
  const errors = version.findings.filter((finding) => finding.severity === "error").length;
  const warnings = isBack ? 0 : version.findings.length - errors;
  if (errors) return html`<small>${t("publish.not_with_errors")}</small>`;
  const close = () => setIsOpen(false);
  const put = async () => {
    const body = { version: version.version, ...(warnings && isForced && { force: true }) };
    if (!(await deed.run(() => send("POST", `api/words/${list.id}/${isBack ? "rollback" : "publish"}`, body)))) return;
    close();
    onDone();
  };
  const title = t(isBack ? "publish.back" : "publish.do");
  const said = { version: version.version, words: format.number(version.counts.words ?? 0) };
  return html`<${Button} onClick=${() => setIsOpen(true)}>${title}<//>
    <${Confirm} isOpen=${isOpen} title=${title} yes=${title} tone="primary" isBusy=${deed.isBusy} onYes=${put} onNo=${close}>
      <p>${t("publish.said", said)} ${inUse ? t("publish.instead_of", { version: inUse.version }) : ""}</p>
      ${warnings > 0 && html`<label class="check"><input type="checkbox" checked=${isForced}
        onChange=${(event) => setIsForced(event.target.checked)} /> ${t("publish.in_spite", { n: warnings })}</label>`}
      <${Refusal} problem=${deed.problem} />
    <//>`;
}
