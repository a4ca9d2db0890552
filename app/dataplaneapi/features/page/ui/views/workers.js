// The processes of HAProxy: the current one, and former ones with the sessions that keep them.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { endWorker } from "../actions.js";
import { Actions, Ago, Badge, Facts, Loaded, None, Nothing, bytes, number, useLoaded, useTick } from "../kit.js";
import { missing } from "../rights.js";
import { hrefOf } from "../route.js";
import { propose } from "../plan-dialog.js";
import { state, useStore } from "../store.js";

const LOOK = 5_000;

export function WorkersView() {
  useStore("worker", "operations", "caller");
  const turn = useTick(LOOK), workers = useLoaded((signal) => get("v3/sidecar/workers", { signal }), [state.worker, state.operations.size, turn]);
  return html`<header class="view-head"><h1>Workers</h1></header>
    <${Loaded} of=${workers} what="the workers">${(found) => !found.length ? html`<${None} what="workers" objects=${["worker/*"]}>HAProxy does not run.<//>` : html`
      ${found[0]?.note && html`<p class="note">${found[0].note}</p>`}
      <div class="cards">${found.map((each) => html`<${Worker} key=${each.pid} of=${each} />`)}</div>
      ${found.length === 1 && !found[0].note && html`<${Nothing} title="No former workers">After a reload, the former worker continues until its last connection ends.<//>`}`}<//>`;
}

function Worker({ of }) {
  const sessions = Object.entries(of.sessions ?? {}).sort(([, a], [, b]) => b - a);
  const ending = [...state.operations.values()].some((each) => each.kind === "end_worker" && each.status === "running" && each.progress?.pid === of.pid);
  return html`<section class="card" aria-label=${`Worker ${of.pid}`}>
    <header class="detail-head"><h2>Worker ${of.pid}</h2><${Badge} tone=${of.current ? "good" : "warn"}>${of.current ? "In service" : "Former"}<//></header>
    <${Facts} rows=${[["Started", html`<${Ago} time=${of.started} />`], ["Version", of.version], ["Connections", number(of.connections)], ["Memory", bytes(of.memory)]]} />
    <h3>Open sessions</h3>
    ${sessions.length ? html`<ul class="held">${sessions.map(([name, count]) => html`<li><a href=${hrefOf("map", ["frontend", name])}>${name}</a><b class="number">${number(count)}</b></li>`)}</ul>`
      : html`<p class="quiet">${of.connections ? `${number(of.connections)} connections without a session. They end with their timeout.` : "None"}</p>`}
    ${!of.current && !state.caller?.read_only && html`<${Actions} of=${[{ text: "End worker …", why: ending ? "It is ending." : missing("delete", `worker/${of.pid}`), onClick: () => propose(endWorker(of)) }]} />`}
  </section>`;
}
