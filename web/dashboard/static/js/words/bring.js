// A file or a pasted text, kept as the next version of a list: a draft that the linter looks through.
import { sendFile, withQuery } from "../api.js";
import { useDeed } from "../asking.js";
import { Button, Card, Field, Refusal, Select } from "../components.js";
import { html, useState } from "../dom.js";
import { t, tCode } from "../i18n.js";

const TYPES = { txt: "text/plain", csv: "text/csv", json: "application/json" };

export function Bring({ list, onDone }) {
  const [file, setFile] = useState(null);
  const [text, setText] = useState("");
  const [kind, setKind] = useState("txt");
  const deed = useDeed();
  const bring = (event) => {
    event.preventDefault();
    const source = file ? file.name : t("bring.pasted");
    // A pasted text is in the encoding that the browser sends; that of a file is found out by the service.
    const blob = file ? new Blob([file], { type: TYPES[kind] }) : new Blob([text], { type: `${TYPES[kind]}; charset=utf-8` });
    deed.run(async () => {
      const version = await sendFile("PUT", withQuery(`api/words/${list.id}`, { source }), blob);
      onDone();
      return version;
    });
  };
  const choose = (event) => {
    const [chosen = null] = event.target.files;
    setFile(chosen);
    const ending = chosen?.name.split(".").pop().toLowerCase();
    if (ending in TYPES) setKind(ending);
  };
  const kinds = Object.keys(TYPES).map((each) => [each, tCode("bring.kind", each)]);
  const area = (id) => html`<textarea id=${id} rows="5" value=${text} disabled=${file !== null} required=${file === null}
    onInput=${(event) => setText(event.target.value)}></textarea>`;
  return html`<${Card} title=${t("bring.title")}>
    <form onSubmit=${bring}>
      <${Field} label=${t("bring.file")} hint=${t("bring.hint")}>
        ${(id) => html`<input id=${id} type="file" accept=".txt,.csv,.json,text/plain,text/csv,application/json" onChange=${choose} />`}
      <//>
      <${Field} label=${t("bring.text")}>${area}<//>
      <div class="filters">
        <${Select} label=${t("bring.kind")} value=${kind} options=${kinds} onChange=${setKind} />
        <${Button} type="submit" tone="primary" isBusy=${deed.isBusy}>${t("bring.do")}<//>
      </div>
    </form>
    <${Refusal} problem=${deed.problem} />
    ${deed.done && html`<p role="status" class="done">${said(deed.done)}</p>`}
  <//>`;
}

function said({ version, findings }) {
  const errors = findings.filter((finding) => finding.severity === "error").length;
  const which = { version, errors, warnings: findings.length - errors };
  return findings.length ? t("bring.done_with", which) : t("bring.done", which);
}
