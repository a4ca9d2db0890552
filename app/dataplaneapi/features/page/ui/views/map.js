// The map: frontends, their backends, and next to them the details of the selected object, or the path of a request.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { Loading, Mark, None, Problem, Reasons, number, rate } from "../kit.js";
import { addressesOf, backendNames, counters, health, routes, series } from "../model.js";
import { spell } from "../names.js";
import { Plot } from "../plot.js";
import { unread } from "../rights.js";
import { go, hrefOf } from "../route.js";
import { rateOf } from "../series.js";
import { state, useStore } from "../store.js";
import { useVirtual } from "../virtual.js";
import { BackendDetail, CreateSections, FrontendDetail, ServerDetail, Overview } from "./detail.js";
import { RequestDetail, wayOf } from "./request.js";

const ROW = 48;

export function MapView({ route }) {
  useStore("sections", "servers", "stats", "ready", "explained");
  const [search, setSearch] = useState("");
  const asks = route.view === "request", chosen = asks ? wayOf(state.explained) : chosenBy(route);
  const columns = useRef({});
  const places = { frontends: useRef({}), backends: useRef({}) };
  const [, redraw] = useState(0);

  const wanted = search.trim().toLowerCase();
  const frontends = useMemo(() => (state.frontends ?? []).filter((each) => matches(wanted, each.name, ...addressesOf(each))), [state.frontends, wanted]);
  const names = backendNames(state);
  const reached = useMemo(() => reachedBy(chosen, asks), [chosen.frontend, chosen.backend, asks, state.frontends]);
  const backends = arranged(names.filter((each) => matches(wanted, each) || serverMatches(wanted, each)), reached);

  if (state.refused.sections && !state.frontends) return html`<${Problem} title="The sections cannot be shown" text=${state.refused.sections} />`;
  if (!state.frontends || !state.backends) return html`<${Loading} what="the map" />`;
  if (!state.frontends.length && !names.length) return html`<${None} what="frontends and no backends" objects=${["frontend/*", "backend/*"]} action=${html`<${CreateSections} />`}>The configuration has none yet.<//>`;

  const sources = chosen.backend && !asks ? new Set(state.frontends.filter((each) => routes(each).some((one) => one.backend === chosen.backend)).map((each) => each.name)) : new Set();
  const move = (to) => columns.current[to]?.focusRow();
  return html`<div class=${`map ${asks || chosen.frontend || chosen.backend ? "has-choice" : ""}`}>
    <h1 class="sr">${asks ? "What happens to a request" : "Map"}</h1>
    <div class="map-search"><input type="search" placeholder="Find a frontend, backend, server or address" aria-label="Find in the map" value=${search} onInput=${(event) => setSearch(event.target.value)} /></div>
    <${Column} title="Frontends" items=${frontends.map((each) => each.name)} chosen=${chosen.frontend} linked=${sources} place=${places.frontends} columns=${columns} own="frontends"
      onMove=${() => redraw((count) => count + 1)} onRight=${() => move("backends")} href=${(name) => hrefOf("map", ["frontend", name])} row=${(name) => html`<${FrontendRow} name=${name} />`} nothing=${wanted ? "No frontend matches." : empty("frontend/*")} />
    <${Links} frontends=${frontends} backends=${backends} places=${places} chosen=${chosen} asks=${asks} />
    <${Column} title="Backends" items=${backends} chosen=${chosen.backend} linked=${reached} place=${places.backends} columns=${columns} own="backends"
      onMove=${() => redraw((count) => count + 1)} onLeft=${() => move("frontends")} onRight=${() => document.querySelector(".detail [tabindex='0'], .detail a, .detail button")?.focus()}
      href=${(name) => hrefOf("map", ["backend", name])} row=${(name) => html`<${BackendRow} name=${name} />`} nothing=${wanted ? "No backend matches." : empty("backend/*")} />
    <section class="detail" aria-label="Details">
      ${(asks || chosen.frontend || chosen.backend) && html`<a class="back" href="#/map">Back to the map</a>`}
      ${asks ? html`<${RequestDetail} />`
        : chosen.server ? html`<${ServerDetail} key=${`${chosen.backend}/${chosen.server}`} backend=${chosen.backend} name=${chosen.server} />`
        : chosen.backend ? html`<${BackendDetail} key=${chosen.backend} name=${chosen.backend} />`
        : chosen.frontend ? html`<${FrontendDetail} key=${chosen.frontend} section=${sectionOf(chosen.frontend)} name=${chosen.frontend} />`
        : html`<${Overview} />`}
    </section>
  </div>`;
}

const empty = (objects) => (unread(objects) ? html`<p>None that your role may read.</p><${Reasons} of=${[unread(objects)]} />` : "None");

function chosenBy({ parts }) {
  const [kind, name, , server] = parts;
  return kind === "frontend" ? { frontend: name } : kind === "backend" ? { backend: name, server } : {};
}

/** Return the backends to which the selected frontend may send, or the backend of a request. */
function reachedBy(chosen, asks) {
  if (asks) return new Set(chosen.backend ? [chosen.backend] : []);
  return new Set(chosen.frontend ? routes(sectionOf(chosen.frontend) ?? {}).map((each) => each.backend) : []);
}

const sectionOf = (name) => state.frontends?.find((each) => each.name === name);
const matches = (wanted, ...texts) => !wanted || texts.some((text) => text.toLowerCase().includes(wanted));

function serverMatches(wanted, backend) {
  for (const object of state.serversOf.get(backend) ?? []) {
    const { name, address } = state.servers.get(object);
    if (matches(wanted, name, address)) return true;
  }
  return false;
}

/** Put the backends of the selected frontend first. */
const arranged = (names, reached) => (reached.size ? [...names.filter((each) => reached.has(each)), ...names.filter((each) => !reached.has(each))] : names);

function Column({ title, items, chosen, linked, place, columns, own, onMove, onLeft, onRight, href, row, nothing }) {
  const view = useVirtual(items.length, ROW);
  const [cursor, setCursor] = useState(0);
  const id = `column-${own}`;
  place.current = { scroll: view.scroll, height: view.height, items };
  useEffect(onMove, [view.scroll, view.height, items.length]);
  const at = Math.max(0, chosen && items.includes(chosen) ? items.indexOf(chosen) : Math.min(cursor, items.length - 1));
  useEffect(() => {
    if (chosen) view.show(items.indexOf(chosen));
  }, [chosen]);
  useEffect(() => {
    if (linked.size && !chosen) view.show(items.findIndex((each) => linked.has(each)));
  }, [[...linked].join()]);

  const focusRow = (index = at) => {
    view.show(index);
    const row = () => view.ref.current?.querySelector(`[data-index="${index}"]`);
    // Focus a visible row immediately, so that the next key reaches it.
    if (row()) row().focus();
    else requestAnimationFrame(() => row()?.focus());
  };
  columns.current[own] = { focusRow };
  const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
  const onKeyDown = (event) => {
    const index = Number(event.target.closest("[data-index]")?.dataset.index ?? at);
    if (event.key in steps) {
      const next = Math.max(0, Math.min(items.length - 1, index + steps[event.key]));
      setCursor(next);
      go(href(items[next]), { replace: true });
      focusRow(next);
    } else if (event.key === "ArrowLeft") onLeft?.();
    else if (event.key === "ArrowRight") onRight?.();
    else return;
    event.preventDefault();
  };
  return html`<section class="column" aria-labelledby=${id}>
    <h2 id=${id}>${title} <span class="count">${number(items.length)}</span></h2>
    <div class="rows" ref=${view.ref} onKeyDown=${onKeyDown}>
      ${!items.length && html`<div class="quiet pad">${nothing}</div>`}
      <ul style=${{ paddingTop: `${view.top}px`, paddingBottom: `${view.bottom}px` }}>
        ${items.slice(view.first, view.last).map((name, offset) => {
          const index = view.first + offset;
          return html`<li key=${name}><a class=${`row ${linked.has(name) ? "linked" : ""}`} href=${href(name)} data-index=${index} tabindex=${index === at ? 0 : -1}
            aria-current=${name === chosen ? "true" : undefined} onFocus=${() => setCursor(index)}>${row(name)}</a></li>`;
        })}
      </ul>
    </div>
  </section>`;
}

function FrontendRow({ name }) {
  const row = counters(state, "frontend", name), section = sectionOf(name);
  return html`<span class="row-text"><span class="row-name">${name}</span><span class="row-sub">${addressesOf(section).join(", ") || section.mode || "no address"}</span></span>
    <${Plot} object=${spell("frontend", name)} name="rate" width=${64} height=${26} />
    <${Rates} row=${row} of=${series(state, "frontend", name)} />`;
}

function BackendRow({ name }) {
  const row = counters(state, "backend", name), { counts, total, is } = health(state, name);
  return html`<${Mark} is=${is} quiet />
    <span class="row-text"><span class="row-name">${name}</span><span class="row-sub"><${Share} counts=${counts} total=${total} is=${is} /></span></span>
    <${Plot} object=${spell("backend", name)} name="rate" width=${64} height=${26} />
    <${Rates} row=${row} of=${series(state, "backend", name)} />`;
}

function Rates({ row, of }) {
  const errors = of?.errorRate() ?? 0;
  return html`<span class="rates"><span class="number">${rate(rateOf(row))}<span class="unit">/s</span></span>
    ${errors > 0 ? html`<span class="number is-down">${rate(errors)}<span class="unit"> err/s</span></span>` : html`<span class="number quiet">${number(row.scur ?? 0)}<span class="unit"> sess</span></span>`}</span>`;
}

/** The number of servers by state, in words: colour alone is not enough. */
export function Share({ counts, total, is }) {
  if (is === "loading") return "…";
  if (!total) return "no servers";
  const rest = Object.entries({ down: counts.down, draining: counts.drain, "in maintenance": counts.maint, stopping: counts.stopping, unknown: counts.unknown }).filter(([, count]) => count);
  return html`${counts.up}/${total} up${rest.map(([word, count]) => html`<span class=${word === "down" ? "is-down" : ""}>, ${count} ${word}</span>`)}`;
}

/** Lines from frontends to backends. At least one end of a line is visible. */
function Links({ frontends, backends, places, chosen, asks }) {
  const width = 36, height = Math.max(places.frontends.current.height ?? 0, places.backends.current.height ?? 0, 100);
  const at = new Map(backends.map((name, index) => [name, index]));
  const y = (place, index) => index * ROW + ROW / 2 - (place.current.scroll ?? 0);
  const lines = [];
  frontends.forEach((frontend, index) => {
    const from = y(places.frontends, index);
    const isWay = (target) => asks && chosen.frontend === frontend.name && chosen.backend === target;
    // The rules of a computed backend have no lines of their own.
    for (const target of new Set([...routes(frontend).map((each) => each.backend), ...backends.filter(isWay)])) {
      if (!at.has(target)) continue;
      const to = y(places.backends, at.get(target));
      if ((from < 0 || from > height) && (to < 0 || to > height)) continue;
      const strong = asks ? isWay(target) : chosen.frontend === frontend.name || chosen.backend === target;
      lines.push({ key: `${frontend.name}/${target}`, strong, d: `M0 ${from} C ${width * 0.6} ${from}, ${width * 0.4} ${to}, ${width} ${to}` });
    }
  });
  const shown = lines.length > 600 ? lines.filter((each) => each.strong) : lines;
  return html`<div class="links" aria-hidden="true"><svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" width="100%" height=${height}>${[...shown].sort((a, b) => a.strong - b.strong).map((line) => html`<path key=${line.key} d=${line.d} class=${line.strong ? "strong" : ""} />`)}</svg></div>`;
}
