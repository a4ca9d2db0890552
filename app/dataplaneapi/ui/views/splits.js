// Splits: which share of requests each backend is to get, and how many it got.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { Ago, Loaded, Mark, Nothing, number, useLoaded, useTick } from "../kit.js";
import { health } from "../model.js";
import { propose } from "../plan-dialog.js";
import { hrefOf } from "../route.js";
import { deleteSplit, newSplit, setShares } from "../split-actions.js";
import { state, useStore } from "../store.js";

const LOOK = 5_000;

export function SplitsView() {
  useStore("changes", "caller", "servers", "sections");
  useTick(LOOK);
  const splits = useLoaded((signal) => get("v3/sidecar/splits", { signal }), [state.changes, Math.floor(Date.now() / LOOK)]);
  const may = !state.caller?.read_only;
  return html`<header class="view-head"><h1>Splits</h1>${may && html`<button type="button" onClick=${() => propose(newSplit())}>Divide traffic …</button>`}</header>
    <${Loaded} of=${splits} what="the splits">${(found) => (found.length
      ? html`<div class="cards">${found.map((each) => html`<${Split} key=${each.name} of=${each} may=${may} />`)}</div>`
      : html`<${Nothing} title="No splits">There is none, or none that your role may read. A split sends one share of a frontend's requests to one backend, the rest to another, and changes shares without a reload.<//>`)}<//>`;
}

function Split({ of, may }) {
  const names = Object.keys(of.shares), requests = of.requests ?? {};
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
  return html`<section class="card" aria-label=${`Split ${of.name}`}>
    <header class="detail-head"><h2>${of.name}</h2><span class="quiet">of ${of.used_by.length ? of.used_by.map((name, index) => html`${index ? ", " : ""}<a href=${hrefOf("map", ["frontend", name])}>${name}</a>`) : "no frontend"}, by ${of.by}</span></header>
    <div class="shares" aria-hidden="true">${names.map((name) => html`<span key=${name} style=${{ flexGrow: of.shares[name] }}></span>`)}</div>
    <table><thead><tr><th scope="col">Backend</th><th scope="col" class="numeric">Share</th><th scope="col" class="numeric">Requests</th></tr></thead><tbody>${names.map((name) => html`<tr>
      <td><${Mark} is=${health(state, name).is} quiet /> <a href=${hrefOf("map", ["backend", name])}>${name}</a></td><td class="numeric">${of.shares[name]} %</td>
      <td class="numeric">${number(requests[name])}${all > 0 && requests[name] !== undefined ? html` <span class="quiet">${Math.round((100 * requests[name]) / all)} %</span>` : ""}</td></tr>`)}</tbody></table>
    <p class="note">Requests since <${Ago} time=${of.since} />${of.complete === false ? "; those of a worker that has ended are not known" : ""}.</p>
    ${may && html`<div class="actions"><button type="button" class="primary" onClick=${() => propose(setShares(of))}>Change the shares …</button><button type="button" onClick=${() => propose(deleteSplit(of))}>Delete …</button></div>`}
  </section>`;
}
