// Which devices wait, how long, and whether each gets what its weight promises.
import { useAnswer } from "../asking.js";
import { Bar, Button, Card, DeviceLink, Field, Page, Pill, Refusal, Select, Table, anyOf, figureColumn } from "../components.js";
import { html, useState } from "../dom.js";
import * as format from "../format.js";
import { t, tCode } from "../i18n.js";
import { setParams } from "../router.js";
import { withQuery } from "../api.js";

const SHOWN = ["waiting", "starved", "paused", "all"];
const ORDERS = ["oldest", "waiting", "share"];
const LANES = ["ocr", "text", "notify"];
/** Devices in the picture: more bars than that are no picture. */
const PICTURED = 20;

export function Devices({ route }) {
  const { params } = route;
  const { data, problem, isLoading } = useAnswer(withQuery("api/devices", params));
  return html`<${Page} title=${t("nav.devices")}>
    <${Filters} params=${params} />
    <${Refusal} problem=${problem} />
    <${Fairness} devices=${data?.devices ?? []} lane=${params.lane} />
    <${Card} title=${t("devices.list")} aside=${isLoading && html`<span class="quiet" role="status">${t("common.loading")}</span>`}>
      <${List} devices=${problem ? [] : data?.devices} sort=${params.sort ?? "oldest"} />
      <${Turning} params=${params} page=${data} />
    <//>
  <//>`;
}

function Filters({ params }) {
  const [mac, setMac] = useState(params.mac ?? "");
  const choose = (name) => (value) => setParams({ [name]: value, cursor: null });
  const search = (event) => {
    event.preventDefault();
    setParams({ mac: mac.trim(), cursor: null });
  };
  const options = (prefix, codes) => codes.map((code) => [code, tCode(prefix, code)]);
  return html`<form class="filters" role="search" onSubmit=${search}>
    <${Field} label=${t("devices.mac")} value=${mac} onInput=${setMac} placeholder="aa:bb:cc" maxlength="17" type="search" />
    <${Button} type="submit">${t("common.search")}<//>
    <${Select} label=${t("devices.show")} value=${params.show ?? "waiting"} options=${options("devices.show", SHOWN)}
      onChange=${choose("show")} />
    <${Select} label=${t("lane.name")} value=${params.lane} options=${anyOf(LANES, (lane) => lane)}
      onChange=${choose("lane")} />
    <${Select} label=${t("devices.sort")} value=${params.sort ?? "oldest"} options=${options("devices.sort", ORDERS)}
      onChange=${choose("sort")} />
  </form>`;
}

function List({ devices, sort }) {
  const onSort = (chosen) => setParams({ sort: chosen, cursor: null });
  const columns = [
    { key: "mac", title: t("device.one"), cell: (device) => html`<${DeviceLink} mac=${device.mac} site=${device.site} />` },
    { key: "site", title: t("device.site"), cell: (device) => device.site },
    figureColumn("oldest", "lane.oldest_wait", (device) => format.duration(device.oldest_wait_ms), "oldest"),
    figureColumn("waiting", "lane.waiting", (device) => format.number(device.waiting), "waiting"),
    figureColumn("running", "device.in_flight", (device) => format.number(device.in_flight)),
    { key: "share", title: t("device.share_of_due"), sort: "share", cell: (device) => html`<${Shares} lanes=${device.lanes} />` },
    figureColumn("weight", "device.weight", (device) => format.number(device.weight, 2)),
    { key: "state", title: t("device.state"), cell: (device) => html`<${DeviceState} device=${device} />` },
  ];
  const keyOf = (device) => `${device.site} ${device.mac}`;
  return html`<${Table} label=${t("devices.list")} columns=${columns} rows=${devices} empty=${t("devices.none")}
    keyOf=${keyOf} sort=${sort} onSort=${onSort} />`;
}

/** What keeps a device from being served, in words; nothing when it is served as usual. */
export function DeviceState({ device }) {
  const gates = [...new Set(Object.values(device.lanes).map((lane) => lane.gate).filter(Boolean))];
  const pills = gates.map((gate) => html`<${Pill} key=${gate} tone="warn">${tCode("gate", gate)}<//> `);
  if (device.paused && !gates.includes("paused")) pills.push(html`<${Pill} tone="warn">${t("gate.paused")}<//> `);
  if (device.starved) pills.push(html`<${Pill} tone="bad">${t("device.starved")}<//>`);
  return pills;
}

function Shares({ lanes }) {
  return Object.entries(lanes).filter(([, lane]) => lane.due_share !== null).map(([name, lane]) => html`<div class="share" key=${name}>
    <span class="quiet">${name}</span><${Bar} share=${lane.share} mark=${lane.due_share} label=${shareLabel(lane)} />
  </div>`);
}

function shareLabel(lane) {
  return t("device.share_label", { share: format.percent(lane.share, 1), due: format.percent(lane.due_share, 1) });
}

/** Share and wait of each device of one lane beside one another: fair is when the bars end at their marks. */
function Fairness({ devices, lane }) {
  const busiest = lane ?? LANES.find((name) => devices.some((device) => device.lanes[name]?.waiting)) ?? LANES[0];
  const shown = devices.filter((device) => device.lanes[busiest]?.waiting).slice(0, PICTURED);
  if (!shown.length) return null;
  const longest = Math.max(...shown.map((device) => device.lanes[busiest].oldest_wait_ms ?? 0), 1);
  return html`<${Card} title=${t("devices.fairness", { lane: busiest })}>
    <div class="fairness">
      <span></span><strong>${t("device.share_of_due")}</strong><strong>${t("lane.oldest_wait")}</strong>
      ${shown.map((device) => html`<${FairnessRow} key=${`${device.site} ${device.mac}`} ...${{ device, lane: busiest, longest }} />`)}
    </div>
  <//>`;
}

function FairnessRow({ device, lane, longest }) {
  const state = device.lanes[lane];
  const wait = format.duration(state.oldest_wait_ms);
  return html`<${DeviceLink} mac=${device.mac} site=${device.site} />
    <span><${Bar} share=${state.share} mark=${state.due_share} label=${shareLabel(state)} /><small>${shareLabel(state)}</small></span>
    <span><${Bar} share=${(state.oldest_wait_ms ?? 0) / longest} label=${wait} /><small>${wait}</small></span>`;
}

function Turning({ params, page }) {
  if (!page?.next && !params.cursor) return page?.has_more ? html`<p class="quiet">${t("devices.cut")}</p>` : null;
  const cursor = page?.next && new URLSearchParams(page.next.split("?")[1]).get("cursor");
  return html`<div class="buttons">
    ${params.cursor && html`<${Button} onClick=${() => setParams({ cursor: null })}>${t("common.first_page")}<//>`}
    ${cursor && html`<${Button} onClick=${() => setParams({ cursor })}>${t("common.next_page")}<//>`}
  </div>`;
}
