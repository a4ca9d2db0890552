// All servers, to find and sort.

import { html, useEffect, useMemo } from "../vendor/preact.js";
import { create, lacksCreate } from "../create.js";
import { Act, Loading, None, Nothing, Partly, Reasons, number } from "../kit.js";
import { CONDITIONS, addressOf, condition } from "../model.js";
import { go, hrefOf } from "../route.js";
import { countServers, state, useStore } from "../store.js";
import { ServerTable } from "./server-table.js";

const FILTERS = ["up", "down", "drain", "maint", "stopping", "unknown"];

export function ServersView({ route }) {
  useEffect(() => {
    countServers(true);
    return () => countServers(false);
  }, []);
  useStore("servers", "ready");
  const { q = "", is = "", sort = "" } = route.query;
  const change = (query) => go(hrefOf("servers", [], { q, is, sort, ...query }), { replace: true });
  const counts = {};
  for (const server of state.servers.values()) counts[condition(server)] = (counts[condition(server)] ?? 0) + 1;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = useMemo(
    () => [...state.servers.values()].filter((server) => (!is || condition(server) === is) && words.every((word) => `${server.backend}/${server.name} ${addressOf(server)}`.toLowerCase().includes(word))),
    [q, is, state.servers, Math.floor(Date.now() / 250)],
  );
  if (!state.ready) return html`<${Loading} what="the servers" />`;
  const lacks = lacksCreate({ keyword: "backend", kind: "server" });
  return html`<div class="servers-view">
    <header class="view-head"><h1>Servers</h1>
      <input type="search" placeholder="Backend, server or address" aria-label="Find servers" value=${q} onInput=${(event) => change({ q: event.target.value })} />
      <div class="filters" role="group" aria-label="State">
        <button type="button" aria-pressed=${!is} onClick=${() => change({ is: "" })}>All <span class="number">${number(state.servers.size)}</span></button>
        ${FILTERS.filter((each) => counts[each] || is === each).map((each) => html`<button type="button" aria-pressed=${is === each} onClick=${() => change({ is: is === each ? "" : each })}>${CONDITIONS[each]} <span class="number">${number(counts[each] ?? 0)}</span></button>`)}
      </div>
      ${!state.caller?.read_only && html`<${Act} text="Create server …" why=${lacks} onClick=${() => create({ keyword: "backend", kind: "server" })} />`}
      <p class="sr" role="status">${number(found.length)} servers</p>
    </header>
    <${Reasons} of=${[!state.caller?.read_only && lacks]} />
    ${state.servers.size > 0 && html`<${Partly} objects=${["backend/*"]} />`}
    ${!state.servers.size ? html`<${None} what="servers" objects=${["backend/*"]}>No backend has one.<//>`
    : !found.length ? html`<${Nothing} title="No server matches" action=${html`<button type="button" onClick=${() => change({ q: "", is: "" })}>Show all</button>`} />`
    : html`<${ServerTable} servers=${found} label="Servers" sort=${sort} onSort=${(value) => change({ sort: value })} />`}
  </div>`;
}
