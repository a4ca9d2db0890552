// Where file, running configuration and worker differ, and what was changed in the process alone.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { giveUp } from "../actions.js";
import { Ago, Badge, Loaded, Nothing, Partly, RowButton, shown, useLoaded, useTick } from "../kit.js";
import { short } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing, unread } from "../rights.js";
import { state, useStore } from "../store.js";

const LOOK = 10_000;
const CAUSES = { pending: ["reload", "A reload is due"], not_loaded: ["warn", "Not loaded"], override: ["", "Override"], outside: ["warn", "Set by others"] };

export function DriftView() {
  useStore("changes", "caller");
  useTick(LOOK);
  const turn = Math.floor(Date.now() / LOOK);
  const drift = useLoaded((signal) => get("v3/sidecar/drift", { signal }), [state.changes, turn]);
  const overrides = useLoaded((signal) => get("v3/sidecar/overrides", { signal }), [state.changes, turn]);
  return html`<header class="view-head"><h1>Drift and overrides</h1></header>
    <${Partly} objects=${["**"]} />
    <${Loaded} of=${drift} what="drift">${(found) => html`
      ${!found.worker_answers && html`<p class="note">HAProxy does not answer, so the process was not compared.</p>`}
      ${!found.running_known && html`<p class="note">It is unknown what the worker has loaded, so the file was not compared.</p>`}
      ${found.differences.length
        ? html`<div class="scroll" tabindex="0" role="region" aria-label="Differences"><table class="stacked"><thead><tr><th scope="col">Object</th><th scope="col">What</th><th scope="col">File</th><th scope="col">Loaded</th><th scope="col">Process</th><th scope="col">Cause</th></tr></thead>
          <tbody>${found.differences.map((each) => html`<tr><td><code>${short(each.object)}</code></td><td data-label="What">${each.member ?? "all of it"}</td><td data-label="File">${shown(each.file)}</td><td data-label="Loaded">${shown(each.running)}</td><td data-label="Process">${shown(each.worker)}</td><td data-label="Cause"><${Badge} tone=${CAUSES[each.cause]?.[0]}>${CAUSES[each.cause]?.[1] ?? each.cause}<//></td></tr>`)}</tbody></table></div>`
        : html`<${Nothing} title=${`${found.in_sync ? "File and process agree" : "No difference is known"}${unread("**") ? " where your role may read" : ""}`} />`}
      ${found.notes?.length > 0 && html`<ul class="reasons">${found.notes.map((each) => html`<li>${each}</li>`)}</ul>`}`}<//>
    <h2 class="section">Overrides</h2>
    <${Loaded} of=${overrides} what="overrides">${(found) => (found.length
      ? html`<div class="scroll" tabindex="0" role="region" aria-label="Overrides"><table class="stacked"><thead><tr><th scope="col">Server</th><th scope="col">What</th><th scope="col">Configuration</th><th scope="col">Process</th><th scope="col">By</th><th scope="col">Since</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
        <tbody>${found.map((each) => html`<tr key=${`${each.object} ${each.member}`}><td><code>${short(each.object)}</code></td><td data-label="What">${each.member}</td><td data-label="Configuration">${shown(each.former)}</td><td data-label="Process"><b>${shown(each.value)}</b></td><td data-label="By">${each.source === "api" ? (each.author ?? "this server") : html`<${Badge} tone="warn">Outside<//>`}</td>
          <td data-label="Since">${each.since ? html`<${Ago} time=${each.since} />` : "–"}</td><td class="numeric">${each.source === "api" && !state.caller?.read_only && html`<${RowButton} word="Give up …" sign="↶" label=${`Give up ${each.member} of ${short(each.object)}`} why=${missing("change", each.object, ...membersOf(found, each.object))} onClick=${() => propose(giveUp(each, found))} />`}</td></tr>`)}</tbody></table></div>`
      : unread("backend/*") ? html`<${Nothing} title="No overrides that your role may read" />` : html`<${Nothing} title="No overrides">Every server is as the configuration has it.<//>`)}<//>`;
}

const membersOf = (overrides, object) => overrides.filter((each) => each.object === object && each.source === "api").map((each) => each.member);
