// A table of servers: those of one backend, or all. Only visible rows are rendered.

import { html, useMemo, useState } from "../vendor/preact.js";
import { Mark, milliseconds, number, rate } from "../kit.js";
import { addressOf, checkOf, condition } from "../model.js";
import { go, hrefOf } from "../route.js";
import { errorsOf, rateOf } from "../series.js";
import { Plot } from "../plot.js";
import { state, useStore } from "../store.js";
import { useVirtual } from "../virtual.js";

const ROW = 34;
// The worst first.
const ORDER = ["down", "unknown", "stopping", "drain", "maint", "up"];
const row = (server) => state.counters.get(server.object) ?? {};
const collate = new Intl.Collator("en", { numeric: true }).compare;

const COLUMNS = [
  { name: "state", title: "State", of: (server) => ORDER.indexOf(condition(server)) },
  { name: "backend", title: "Backend", of: (server) => server.backend },
  { name: "name", title: "Server", of: (server) => server.name },
  { name: "address", title: "Address", of: addressOf, wide: true },
  { name: "weight", title: "Weight", of: (server) => server.weight, numeric: true },
  { name: "sessions", title: "Sessions", of: (server) => row(server).scur ?? 0, numeric: true },
  { name: "rate", title: "Rate /s", of: (server) => rateOf(row(server)), numeric: true, shown: rate },
  { name: "4xx", title: "4xx", of: (server) => row(server).hrsp_4xx ?? 0, numeric: true },
  { name: "5xx", title: "5xx", of: (server) => row(server).hrsp_5xx ?? 0, numeric: true },
  { name: "errors", title: "Errors", of: (server) => errorsOf(row(server)), numeric: true },
  { name: "time", title: "Time", of: (server) => row(server).rtime ?? 0, numeric: true, shown: milliseconds },
  { name: "check", title: "Last check", of: (server) => checkOf(row(server)), wide: true },
];

export function ServerTable({ servers, inBackend = false, label, sort, onSort }) {
  useStore("servers", "stats");
  const [ownSort, setOwnSort] = useState("");
  const sorted = sort ?? ownSort, setSorted = onSort ?? setOwnSort;
  const columns = COLUMNS.filter((each) => !(inBackend && each.name === "backend"));
  const by = columns.find((each) => each.name === sorted.replace("-", ""));
  const rows = useMemo(() => order(servers, by, sorted.startsWith("-")), [servers, sorted, Math.floor(Date.now() / 1000)]);
  const view = useVirtual(rows.length, ROW);

  const press = (name) => setSorted(sorted === name ? `-${name}` : sorted === `-${name}` ? "" : name);
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], at = event.target.closest("tr[data-index]");
    if (!step || !at) return;
    const index = Math.max(0, Math.min(rows.length - 1, Number(at.dataset.index) + step));
    view.show(index);
    requestAnimationFrame(() => view.ref.current?.querySelector(`tr[data-index="${index}"] a`)?.focus());
    event.preventDefault();
  };
  return html`<div class="table-box" ref=${view.ref} tabindex="0" role="region" aria-label=${label}>
    <table class="servers" aria-rowcount=${rows.length + 1} onKeyDown=${onKeyDown}>
      <thead><tr aria-rowindex="1">${columns.map((column) => html`<th scope="col" class=${`c-${column.name} ${column.numeric ? "numeric" : ""}`} aria-sort=${by === column ? (sorted.startsWith("-") ? "descending" : "ascending") : undefined}>
        <button type="button" onClick=${() => press(column.name)}>${column.title}<span class="arrow" aria-hidden="true">${by === column ? (sorted.startsWith("-") ? "▾" : "▴") : ""}</span></button></th>`)}
        <th scope="col" class="c-plot">Requests</th></tr></thead>
      ${view.top > 0 && html`<tbody aria-hidden="true"><tr class="spacer"><td style=${{ height: `${view.top}px` }}></td></tr></tbody>`}
      <tbody>${rows.slice(view.first, view.last).map((server, offset) => html`<${Row} key=${server.object} server=${server} index=${view.first + offset} columns=${columns} />`)}</tbody>
      ${view.bottom > 0 && html`<tbody aria-hidden="true"><tr class="spacer"><td style=${{ height: `${view.bottom}px` }}></td></tr></tbody>`}
    </table>
  </div>`;
}

function order(servers, column, backwards) {
  if (!column) return servers;
  const keyed = servers.map((server) => [column.of(server), server]);
  keyed.sort(([a], [b]) => (typeof a === "number" ? a - b : collate(a, b)));
  if (backwards) keyed.reverse();
  return keyed.map(([, server]) => server);
}

function Row({ server, index, columns }) {
  const href = hrefOf("map", ["backend", server.backend, "server", server.name]);
  return html`<tr data-index=${index} aria-rowindex=${index + 2} data-object=${server.object} onClick=${(event) => !event.target.closest("a, button") && !getSelection().toString() && go(href)}>
    ${columns.map((column) => html`<td class=${`c-${column.name} ${column.numeric ? "numeric" : ""}`}>${cell(column, server, href)}</td>`)}
    <td class="c-plot"><${Plot} object=${server.object} name="rate" width=${72} height=${22} /></td>
  </tr>`;
}

function cell(column, server, href) {
  if (column.name === "state") return html`<${Mark} is=${condition(server)} />`;
  if (column.name === "name") return html`<a href=${href}>${server.name}</a>`;
  if (column.name === "errors") return html`<span class=${errorsOf(row(server)) ? "is-down" : "quiet"}>${number(errorsOf(row(server)))}</span>`;
  const value = column.of(server);
  if (column.name === "check") return html`<span class="quiet" title=${value || undefined}>${value || "–"}</span>`;
  return column.numeric ? (column.shown ?? number)(value) : value;
}
