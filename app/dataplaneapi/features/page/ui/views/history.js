// The history: the last changes, and the details of one with its difference, to revert it.

import { html, useState } from "../vendor/preact.js";
import { get } from "../api.js";
import { restore, revert } from "../actions.js";
import { Actions, Ago, Badge, Changes, Diff, Facts, Loaded, None, Nothing, Partly, Two, useLoaded } from "../kit.js";
import { segment, short } from "../names.js";
import { propose } from "../plan-dialog.js";
import { untouchable } from "../rights.js";
import { go, hrefOf } from "../route.js";
import { state, useStore } from "../store.js";

const MANY = 50;
export const OUTCOMES = { live: ["live", "Live"], reloaded: ["reload", "By reload"], taken_back: ["bad", "Rolled back"], scheduled: ["reload", "Reload due"], written: ["", "Written"], runtime: ["live", "Runtime only"], outside: ["warn", "Outside"], refused: ["bad", "Refused"] };

export function HistoryView({ route }) {
  useStore("changes", "caller");
  const [id] = route.parts, { object = "", author = "", refused = "" } = route.query;
  const [limit, setLimit] = useState(MANY);
  const list = useLoaded(
    (signal) => get("v3/sidecar/history", { query: { limit: String(limit + 1), object: object && !object.includes("/") ? `backend/${object}` : object, author, refused }, signal }),
    [state.changes, object, author, refused, limit],
  );
  const change = (query) => go(hrefOf("history", [], { object, author, refused, ...query }), { replace: true });
  return html`<${Two} view="history" title="History" isChosen=${Boolean(id)}
      head=${html`<input type="search" placeholder="backend/shop" aria-label="Changes of this object" value=${object} onChange=${(event) => change({ object: event.target.value.trim() })} />
        <div class="filters" role="group" aria-label="Which"><button type="button" aria-pressed=${!refused} onClick=${() => change({ refused: "" })}>Made</button><button type="button" aria-pressed=${Boolean(refused)} onClick=${() => change({ refused: "true" })}>Refused</button></div>
        ${author && html`<button type="button" onClick=${() => change({ author: "" })}>By ${author} ×</button>`}`}
      list=${html`<${Loaded} of=${list} what="the history">${(entries) => (entries.length
        ? html`<${Partly} objects=${["**"]} /><ol class="entries">${entries.slice(0, limit).map((entry) => html`<${Line} key=${entry.id} entry=${entry} chosen=${entry.id === id} query=${route.query} />`)}</ol>
            ${entries.length > limit && html`<button type="button" class="more" onClick=${() => setLimit(limit + MANY)}>Older changes</button>`}`
        : html`<${None} what=${refused ? "refused changes" : "changes"} objects=${["**"]}>${object || author ? "No entry matches." : refused ? "Nothing was refused." : "Changes from now on appear here, with author and reason."}<//>`)}<//>`}
      detail=${html`<${Entry} key=${id} id=${id} />`}
      placeholder=${html`<${Nothing} title="Choose a change">Its difference appears here, with a button to revert it.<//>`} />`;
}

function Line({ entry, chosen, query }) {
  const [tone, word] = OUTCOMES[entry.outcome] ?? ["", entry.outcome];
  const objects = innermost(entry.objects ?? []);
  const body = html`<span class="entry-what">${entry.summary ? entry.summary : objects.length ? short(objects[0]) : "the configuration"}${!entry.summary && objects.length > 1 ? html` <span class="quiet">and ${objects.length - 1} more</span>` : ""}</span>
    <span class="entry-when"><${Ago} time=${entry.time} /></span>
    <span class="entry-who">${entry.author ?? "unknown"}${entry.message ? html`: ${entry.message}` : ""}${entry.cause ? html` <span class="quiet">(${entry.cause})</span>` : ""}${entry.reason ? html`: ${entry.reason}` : ""}</span>
    <span class="entry-how"><${Badge} tone=${tone}>${word}<//>${entry.reload?.outcome === "kept" ? html` <${Badge} tone="bad">Kept<//>` : ""}</span>`;
  return html`<li>${entry.outcome === "refused" ? html`<div class="entry">${body}</div>` : html`<a class="entry" href=${hrefOf("history", [entry.id], query)} aria-current=${chosen ? "true" : undefined}>${body}</a>`}</li>`;
}

/** Leave out the objects that contain others: the backend of a changed server adds nothing. */
const innermost = (objects) => objects.filter((each) => !objects.some((other) => other.startsWith(`${each}/`)));

const ofProcess = "It changed only the running process. Remove the override, or reload.";

function Entry({ id }) {
  const entry = useLoaded((signal) => get(`v3/sidecar/history/${segment(id)}`, { signal }), [id, state.changes]);
  return html`<${Loaded} of=${entry} what="this change">${(found) => html`
    <header class="detail-head"><h2>Change ${found.id}</h2><span class="quiet">version ${found.version ?? "–"}, ${new Date(found.time).toLocaleString()}</span></header>
    ${!state.caller?.read_only && html`<${Actions} of=${[
      { text: "Revert …", isMain: true, why: found.kind === "runtime" ? ofProcess : innermost(found.objects ?? []).map(untouchable).find(Boolean), onClick: () => propose(revert(found)) },
      { text: "Restore this state …", why: untouchable(), onClick: () => propose(restore(found)) },
    ]} />`}
    <${Facts} rows=${[
      ["Author", html`<a href=${hrefOf("history", [], { author: found.author })}>${found.author ?? "unknown"}</a>`], ["From", found.address ?? "–"],
      ["How", (OUTCOMES[found.outcome] ?? ["", found.outcome])[1]], found.message && ["Message", found.message],
      found.reload_id && ["Reload", html`<a href=${hrefOf("reloads", [found.reload_id])}>${found.reload_id}</a>`], found.cause && ["Because of", found.cause],
    ]} />
    ${found.effects?.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Members that changed"><${Changes} rows=${found.effects.slice(0, 200)} titles=${["Before", "After"]} /></div>`}
    ${found.diff && html`<h3>Difference</h3><${Diff} text=${found.diff} />`}
    ${!found.diff && !found.effects?.length && html`<p class="quiet">No text differs: ${(found.objects ?? []).join(", ")}.</p>`}`}<//>`;
}
