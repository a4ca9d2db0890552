// The processes of HAProxy: the one in service, and what holds those that reloads have replaced.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { endWorker } from "../actions.js";
import { Actions, Ago, Badge, Loaded, None, Nothing, bytes, number, useLoaded, useTick } from "../kit.js";
import { missing } from "../rights.js";
import { hrefOf } from "../route.js";
import { propose } from "../plan-dialog.js";
import { state, useStore } from "../store.js";

const LOOK = 5_000;

export function WorkersView() {
  useStore("worker", "operations", "caller");
  useTick(LOOK);
  const workers = useLoaded((signal) => get("v3/sidecar/workers", { signal }), [state.worker, state.operations.size, Math.floor(Date.now() / LOOK)]);
  return html`<header class="view-head"><h1>Workers</h1></header>
    <${Loaded} of=${workers} what="the workers">${(found) => !found.length ? html`<${None} what="workers" objects=${["worker/*"]}>HAProxy does not run.<//>` : html`
      ${found[0]?.note && html`<p class="note">${found[0].note}</p>`}
      <div class="cards">${found.map((each) => html`<${Worker} key=${each.pid} of=${each} />`)}</div>
      ${found.length === 1 && !found[0].note && html`<${Nothing} title="No former workers">A reload leaves the worker before it until its last connection ends. There is none now.<//>`}`}<//>`;
}

function Worker({ of }) {
  const sessions = Object.entries(of.sessions ?? {}).sort(([, a], [, b]) => b - a);
  const ending = [...state.operations.values()].some((each) => each.kind === "end_worker" && each.status === "running" && each.progress?.pid === of.pid);
  return html`<section class="card" aria-label=${`Worker ${of.pid}`}>
    <header class="detail-head"><h2>${of.pid}</h2><${Badge} tone=${of.current ? "good" : "warn"}>${of.current ? "In service" : "Former"}<//></header>
    <dl class="facts-list">
      <div><dt>Started</dt><dd><${Ago} time=${of.started} /></dd></div>
      <div><dt>Version</dt><dd>${of.version}</dd></div>
      <div><dt>Connections</dt><dd class="number">${number(of.connections)}</dd></div>
      <div><dt>Memory</dt><dd>${bytes(of.memory)}</dd></div>
    </dl>
    <h3>${of.current ? "Open sessions" : "What keeps it"}</h3>
    ${sessions.length ? html`<ul class="held">${sessions.map(([name, count]) => html`<li><a href=${hrefOf("map", ["frontend", name])}>${name}</a><b class="number">${number(count)}</b></li>`)}</ul>`
      : html`<p class="quiet">${of.connections ? `${number(of.connections)} connections without a session, which end with their timeout.` : "Nothing."}</p>`}
    ${!of.current && !state.caller?.read_only && html`<${Actions} of=${[{ text: "End it …", why: ending ? "It is ending." : missing("delete", `worker/${of.pid}`), onClick: () => propose(endWorker(of)) }]} />`}
  </section>`;
}
