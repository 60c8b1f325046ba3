// Dead letters: what died, whether it can run again, and how far a replay is.
import { withQuery } from "../api.js";
import { useAnswer } from "../asking.js";
import { Card, DeviceLink, Page, Pager, Refusal, Table, TaskLink, TaskState } from "../components.js";
import { html, useEffect, useMemo, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { href, usePages } from "../router.js";
import { Said } from "../said.js";
import { Deeds } from "../letters/deeds.js";
import { LetterFilters, ageQuery } from "../letters/filters.js";
import { Progress } from "../letters/progress.js";
import { ReplayState } from "../letters/replay_state.js";

const PATH = "api/dead-letters";
const PAGE = 50;
const NOBODY = new Set();

export function DeadLetters({ route, me }) {
  const { params } = route;
  const pages = usePages(params, "before");
  const age = useMemo(() => ageQuery(params.age), [params.age]);
  const { task_id, mac, code, lane, state, replay } = params;
  const filter = { task_id, mac, code, lane, state, replay, ...age };
  const filterText = withQuery("", filter);
  const answer = useAnswer(withQuery(PATH, { ...filter, before: pages.at, limit: PAGE }));
  const [chosen, setChosen] = useState(NOBODY);
  useEffect(() => setChosen(NOBODY), [filterText, pages.at]);
  const mayAct = me.may.includes("act");
  const letters = answer.problem?.status >= 400 ? [] : answer.data?.dead_letters;
  return html`<${Page} title=${t("nav.dead_letters")}
      aside=${html`<span class="quiet" role="status">${answer.data && t("letters.total", { n: format.total(answer.data) })}</span>`}>
    <${Progress} />
    <${Card}><${LetterFilters} params=${params} /><//>
    <${Card}>
      ${mayAct && html`<${Deeds} key=${filterText} filter=${filter} letters=${letters ?? []} chosen=${chosen} onChoose=${setChosen}
        onDone=${answer.reload} />`}
      <${Refusal} problem=${answer.problem} />
      <${Letters} letters=${letters} chosen=${chosen} onChoose=${mayAct ? setChosen : null} />
      <${Pager} isFirst=${!pages.at} hasNext=${Boolean(answer.data?.next)} onBack=${pages.back}
        onNext=${() => pages.forward(answer.data.next)} />
    <//>
  <//>`;
}

function Letters({ letters, chosen, onChoose }) {
  const toggle = (id) => {
    const changed = new Set(chosen);
    if (!changed.delete(id)) changed.add(id);
    onChoose(changed);
  };
  const choice = {
    key: "choice", title: t("letters.choose"), cell: (letter) => html`<input type="checkbox" checked=${chosen.has(letter.id)}
      aria-label=${t("letters.choose_one", { id: letter.id })} onChange=${() => toggle(letter.id)} />`,
  };
  const columns = [
    ...(onChoose ? [choice] : []),
    { key: "id", title: t("letters.id"), cell: (letter) => html`<a href=${href(["dead-letters", letter.id])}>${letter.id}</a>` },
    { key: "task", title: t("task.one"), cell: (letter) => html`<${TaskLink} id=${letter.task_id} />` },
    { key: "device", title: t("device.one"), cell: (letter) => html`<${DeviceLink} mac=${letter.mac} />` },
    { key: "lane", title: t("lane.name"), cell: (letter) => letter.lane },
    { key: "state", title: t("task.state"), cell: (letter) => html`<${TaskState} state=${letter.state} />` },
    { key: "why", title: t("letters.why"), cell: (letter) => html`<span class="why" title=${letter.code}>${tCode("code", letter.code)}
      <small><${Said}>${letter.message}<//></small></span>` },
    { key: "replay", title: t("letters.replay_state"), cell: (letter) => html`<${ReplayState} letter=${letter} />` },
    { key: "dead", title: t("letters.dead"), kind: "number", cell: (letter) => format.time(letter.dead_ms) },
  ];
  return html`<${Table} label=${t("nav.dead_letters")} columns=${columns} rows=${letters} empty=${t("letters.none")}
    keyOf=${(letter) => letter.id} />`;
}
