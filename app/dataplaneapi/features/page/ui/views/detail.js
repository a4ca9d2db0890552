// The details next to the map: a frontend, a backend with its servers, or a server.

import { html, useState } from "../vendor/preact.js";
import { deleteServer, drain, setState, setWeight } from "../actions.js";
import { OFTEN, create, lacksCreate } from "../create.js";
import { Act, Actions, Badge, Facts, Forbidden, Loading, Mark, Nothing, Partly, Reasons, bytes, number, rate, span, useRepeated } from "../kit.js";
import { addressOf, addressesOf, backendNames, checkOf, condition, counters, health, routes, serversOf } from "../model.js";
import { spell } from "../names.js";
import { PLOTS, Plot, RANGES } from "../plot.js";
import { propose } from "../plan-dialog.js";
import { missing, unread } from "../rights.js";
import { hrefOf } from "../route.js";
import { classesAt, rateOf } from "../series.js";
import { loadCounters, loadHour, setRange, state, touch, useStore } from "../store.js";
import { addLines } from "../text-actions.js";
import { ServerTable } from "./server-table.js";
import { Share } from "./map.js";

const LOOK = 2_000, RECORDED = 15_000;

/** The plots of one object over the chosen time range, with the current value, or that of the point under the pointer. */
function Plots({ object, without = [] }) {
  useStore("range");
  useRepeated((signal) => loadHour(object, signal), RECORDED, [object]);
  return html`<div class="filters ranges" role="group" aria-label="Time range">${RANGES.map(([seconds, title]) => html`<button type="button" aria-pressed=${state.range === seconds} onClick=${() => setRange(seconds)}>${title}</button>`)}</div>
    <div class="plots">${PLOTS.filter((each) => !without.includes(each.name)).map((plot) => html`<${LabelledPlot} key=${plot.name} object=${object} plot=${plot} />`)}</div>`;
}

function LabelledPlot({ object, plot }) {
  const [point, setPoint] = useState(null);
  const row = state.counters.get(object) ?? {}, of = state.series.get(object);
  const now = { rate: rateOf(row), scur: row.scur ?? 0, errors: of?.errorRate() ?? 0, rtime: row.rtime ?? 0, queue: row.qcur ?? 0 }[plot.name];
  const value = point?.value === null ? "–" : plot.format(point ? point.value : now);
  const classes = plot.name === "errors" ? classesAt(state.past.get(object), point?.time) : [];
  return html`<figure><figcaption>${plot.title} ${point && html`<span class="unit">${new Date(point.time * 1000).toLocaleTimeString()}</span>`}<b class="number">${value}</b></figcaption>
    <${Plot} object=${object} name=${plot.name} height=${96} label=${`${plot.title}, the last ${RANGES.find(([seconds]) => seconds === state.range)[1]}; now ${value}`} onPoint=${setPoint} />
    ${classes.length > 0 && html`<p class="classes quiet">${classes.map(([name, each]) => html`<span>${name} <span class="number">${rate(each)}</span></span>`)}</p>`}</figure>`;
}

/** Load the counters of a backend's servers every two seconds. */
const useCounters = (backend) => useRepeated((signal) => loadCounters(backend, signal), LOOK, [backend]);

/** Add the missing lines. Only the next snapshot reports again which lines are missing. */
async function addThem() {
  if (!(await propose(addLines()))) return;
  state.linesToAdd = {};
  touch("ready");
}

export function Overview() {
  if (!state.ready) return html`<${Loading} what="the servers" />`;
  const all = [...state.servers.values()];
  const bad = backendNames(state).map((name) => ({ name, ...health(state, name) })).filter((each) => each.is === "down" || each.is === "degraded");
  const off = all.filter((each) => ["drain", "maint"].includes(condition(each)));
  return html`<h2>${bad.length ? `${bad.length} of ${backendNames(state).length} backends have servers that are down` : `No server ${unread("backend/*") ? "that your role may read " : ""}is down`}</h2>
    <${Partly} objects=${["frontend/*", "backend/*"]} />
    <${Facts} rows=${[["Frontends", number(state.frontends.length)], ["Backends", number(backendNames(state).length)], ["Servers", number(all.length)], ["Up", number(all.filter((each) => condition(each) === "up").length)], ["Drained or in maintenance", number(off.length)]]} />
    ${bad.length > 0 && html`<h3>Needs attention</h3><ul class="plain">${bad.slice(0, 50).map((each) => html`<li><${Mark} is=${each.is} quiet /> <a href=${hrefOf("map", ["backend", each.name])}>${each.name}</a> <span class="quiet"><${Share} counts=${each.counts} total=${each.total} /></span></li>`)}</ul>`}
    ${Object.keys(state.linesToAdd).length > 0 && html`<details class="hint"><summary>States are polled four times a second. With these lines, HAProxy reports them immediately</summary>
      <pre class="said" tabindex="0">${Object.entries(state.linesToAdd).map(([section, lines]) => (lines.startsWith(section) ? lines : `${section}\n${lines}`)).join("\n")}</pre>
      ${!state.caller?.read_only && html`<${Actions} of=${[{ text: "Review and add …", why: missing("create", "ring/*"), onClick: addThem }]} />`}</details>`}
    <${CreateSections} />
    <p class="quiet">Choose a frontend to see where it sends requests, or a backend to see its servers.</p>`;
}

export function FrontendDetail({ section, name }) {
  if (!section) return html`<${Gone} what="frontend" object=${spell("frontend", name)} name=${name} />`;
  const row = counters(state, "frontend", name), ways = routes(section);
  return html`<header class="detail-head"><h2>${name}</h2><span class="quiet">frontend</span>${row.status && html`<${Badge}>${row.status}<//>`}</header>
    <${Plots} object=${spell("frontend", name)} without=${["rtime", "queue"]} />
    <${Facts} rows=${[["Listens on", addressesOf(section).join(", ") || "–"], ["Mode", row.mode ?? section.mode ?? "–"], ["Sessions in total", number(row.stot ?? 0)], ["Limit", number(row.slim ?? 0)], ["In / out", `${bytes(row.bin ?? 0)} / ${bytes(row.bout ?? 0)}`], ["Responses 4xx / 5xx", `${number(row.hrsp_4xx ?? 0)} / ${number(row.hrsp_5xx ?? 0)}`]]} />
    <${SectionActions} keyword="frontend" name=${name} why=${[unread("**")]}><a class="button" href="#/request">Ask about a request</a><${AsText} section=${`frontend ${name}`} /><//>
    <h3>Where requests go</h3>
    ${ways.length ? html`<table class="ways"><thead><tr><th scope="col">Backend</th><th scope="col">State</th><th scope="col">When</th></tr></thead><tbody>${ways.map((way) => html`<tr>
      <td>${way.backend ? html`<a href=${hrefOf("map", ["backend", way.backend])}>${way.backend}</a>` : html`computed: <code>${way.computed}</code>`}</td>
      <td>${way.backend && html`<${Mark} is=${health(state, way.backend).is} />`}</td><td><code>${way.when}</code></td></tr>`)}</tbody></table>`
    : html`<p class="quiet">It names no backend: only its own rules can answer.</p>`}`;
}

/** The buttons of a section: create its most common kind, or any other. */
function SectionActions({ keyword, name, why, children }) {
  const [kind] = Object.keys(OFTEN[keyword]), lacks = lacksCreate({ keyword, name, kind }), lacksAny = lacksCreate({ keyword, name });
  return html`<div class="actions">${!state.caller?.read_only && html`<${Act} text=${`Create ${kind} …`} why=${lacks} onClick=${() => create({ keyword, name, kind })} /><${Act} text="Create other …" why=${lacksAny} onClick=${() => create({ keyword, name })} />`}${children}</div><${Reasons} of=${[lacks, lacks ? "" : lacksAny, ...why]} />`;
}

/** The buttons that create sections. */
export function CreateSections() {
  if (state.caller?.read_only) return null;
  return html`<${Actions} of=${["frontend", "backend"].map((kind) => ({ text: `Create ${kind} …`, why: lacksCreate({ kind }), onClick: () => create({ kind }) }))} />`;
}

/** A link to the text of a section. It needs the permission to read the whole configuration. */
const AsText = ({ section }) => html`<${Act} text="Edit as text" why=${unread("**")} href=${hrefOf("configuration", [section])} />`;

/** A note that an object does not exist, or that the caller may not read it. */
function Gone({ what, object, name }) {
  const why = missing("read", object);
  return why ? html`<${Forbidden} what=${`${what} ${name}`} text=${why} />` : html`<${Nothing} title=${`There is no ${what} ${name}`}>It may have been deleted, or renamed.<//>`;
}

export function BackendDetail({ name }) {
  useCounters(name);
  const section = state.backends?.find((each) => each.name === name), { counts, total, is } = health(state, name);
  if (!state.ready) return html`<${Loading} what="the servers" />`;
  if (!section && !total) return html`<${Gone} what="backend" object=${spell("backend", name)} name=${name} />`;
  const row = counters(state, "backend", name);
  const from = (state.frontends ?? []).filter((each) => routes(each).some((way) => way.backend === name));
  return html`<header class="detail-head"><${Mark} is=${is} /><h2>${name}</h2><span class="quiet">backend, <${Share} counts=${counts} total=${total} /></span></header>
    <${Plots} object=${spell("backend", name)} />
    <${Facts} rows=${[
      ["Reached from", from.length ? from.map((each, index) => html`${index ? ", " : ""}<a href=${hrefOf("map", ["frontend", each.name])}>${each.name}</a>`) : unread("frontend/*") ? "no frontend that your role may read" : "no frontend by name"],
      ["Balance", section?.balance?.algorithm ?? (row.algo === "unknown" ? "HAProxy's default" : row.algo) ?? "–"], ["Queue", number(row.qcur ?? 0)], ["Sessions in total", number(row.stot ?? 0)],
      ["Responses 4xx / 5xx", `${number(row.hrsp_4xx ?? 0)} / ${number(row.hrsp_5xx ?? 0)}`], ["Retries", number(row.wretr ?? 0)],
    ]} />
    ${section && html`<${SectionActions} keyword="backend" name=${name} why=${[unread("**")]}><${AsText} section=${`backend ${name}`} /><//>`}
    <${ServerTable} servers=${serversOf(state, name)} inBackend label=${`Servers of ${name}`} />`;
}

export function ServerDetail({ backend, name }) {
  useCounters(backend);
  const server = state.servers.get(spell("backend", backend, "server", name));
  if (!state.ready) return html`<${Loading} what="the servers" />`;
  if (!server) return html`<${Gone} what="server" object=${spell("backend", backend, "server", name)} name=${`${name} in ${backend}`} />`;
  const row = state.counters.get(server.object) ?? {}, is = condition(server);
  return html`<header class="detail-head"><${Mark} is=${is} /><h2>${name}</h2><span class="quiet">server of <a href=${hrefOf("map", ["backend", backend])}>${backend}</a></span></header>
    <${ServerActions} server=${server} />
    <${Plots} object=${server.object} />
    <${Facts} rows=${[
      ["Address", html`<code>${addressOf(server)}</code>`], ["Weight", number(server.weight)], ["Administrative state", server.admin_state], ["Operational state", server.operational_state],
      row.check_status && ["Last check", checkOf(row)], ["Queue", number(row.qcur ?? 0)], ["Sessions in total", number(row.stot ?? 0)],
      ["Responses 4xx / 5xx", `${number(row.hrsp_4xx ?? 0)} / ${number(row.hrsp_5xx ?? 0)}`], ["Failed connections / responses", `${number(row.econ ?? 0)} / ${number(row.eresp ?? 0)}`], ["Went down", row.chkdown ? `${row.chkdown === 1 ? "once" : `${number(row.chkdown)} times`}, for ${span(1000 * (row.downtime ?? 0))} in total` : "never"],
    ]} />`;
}

function ServerActions({ server }) {
  const is = condition(server), isOut = is === "drain" || is === "maint";
  if (state.caller?.read_only) return html`<p class="note">This server is read-only: nothing can be changed here.</p>`;
  const { object } = server, noState = missing("change", object, "admin_state");
  return html`<${Actions} of=${[
    !isOut && { text: "Drain …", why: noState || missing("create", "operation"), onClick: () => propose(drain(server)) },
    is !== "maint" && { text: "Maintenance …", why: noState, onClick: () => propose(setState(server, "maint")) },
    isOut && { text: "Put into service …", why: noState, isMain: true, onClick: () => propose(setState(server, "ready")) },
    { text: "Weight …", why: missing("change", object, "weight"), onClick: () => propose(setWeight(server)) },
    { text: "Delete …", why: missing("delete", object), onClick: () => propose(deleteServer(server)) },
  ]} />`;
}
