// Splits: the share of each backend, and the requests that it got.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { Actions, Ago, Loaded, Mark, None, Partly, number, useLoaded, useTick } from "../kit.js";
import { health } from "../model.js";
import { spell } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing, untouchable } from "../rights.js";
import { hrefOf } from "../route.js";
import { deleteSplit, newSplit, setShares } from "../split-actions.js";
import { state, useStore } from "../store.js";

const LOOK = 5_000;

export function SplitsView() {
  useStore("changes", "caller", "servers", "sections");
  const turn = useTick(LOOK), splits = useLoaded((signal) => get("v3/sidecar/splits", { signal }), [state.changes, turn]);
  const may = !state.caller?.read_only;
  return html`<header class="view-head"><h1>Splits</h1>${may && html`<${Actions} of=${[{ text: "Create split …", why: missing("create", "map/*") || untouchable("frontend/*"), onClick: () => propose(newSplit()) }]} />`}</header>
    <${Loaded} of=${splits} what="the splits">${(found) => (found.length
      ? html`<${Partly} objects=${["split/*"]} /><div class="cards">${found.map((each) => html`<${Split} key=${each.name} of=${each} may=${may} />`)}</div>`
      : html`<${None} what="splits" objects=${["split/*"]}>A split sends a share of a frontend's requests to one backend, and the rest to others. Changes of its shares need no reload.<//>`)}<//>`;
}

function Split({ of, may }) {
  const names = Object.keys(of.shares), requests = of.requests ?? {}, map = spell("map", `split_${of.name}.map`);
  const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
  return html`<section class="card" aria-label=${`Split ${of.name}`}>
    <header class="detail-head"><h2>${of.name}</h2><span class="quiet">of ${of.used_by.length ? of.used_by.map((name, index) => html`${index ? ", " : ""}<a href=${hrefOf("map", ["frontend", name])}>${name}</a>`) : "no frontend"}, ${of.by === "random" ? "at random" : `by ${of.by}`}</span></header>
    <div class="shares" aria-hidden="true">${names.map((name) => html`<span key=${name} style=${{ flexGrow: of.shares[name] }}></span>`)}</div>
    <table><thead><tr><th scope="col">Backend</th><th scope="col" class="numeric">Share</th><th scope="col" class="numeric">Requests</th></tr></thead><tbody>${names.map((name) => html`<tr>
      <td><${Mark} is=${health(state, name).is} quiet /> <a href=${hrefOf("map", ["backend", name])}>${name}</a></td><td class="numeric">${of.shares[name]} %</td>
      <td class="numeric">${number(requests[name])}${all > 0 && requests[name] !== undefined ? html` <span class="quiet">${Math.round((100 * requests[name]) / all)} %</span>` : ""}</td></tr>`)}</tbody></table>
    <p class="note">Requests since <${Ago} time=${of.since} />${of.complete === false ? "; those of a worker that has ended are not known" : ""}.</p>
    ${may && html`<${Actions} of=${[{ text: "Change the shares …", isMain: true, why: untouchable(map), onClick: () => propose(setShares(of)) }, { text: "Delete …", why: missing("delete", map), onClick: () => propose(deleteSplit(of)) }]} />`}
  </section>`;
}
