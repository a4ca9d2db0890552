// Differences between file, loaded configuration and process, and overrides.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { removeOverrides } from "../actions.js";
import { Ago, Badge, Loaded, Nothing, Partly, RowButton, Table, shown, useLoaded, useTick } from "../kit.js";
import { short } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing, unread } from "../rights.js";
import { state, useStore } from "../store.js";

const LOOK = 10_000;
const CAUSES = { pending: ["reload", "Reload pending"], not_loaded: ["warn", "Not loaded"], override: ["", "Override"], outside: ["warn", "Set outside"] };

export function DriftView() {
  useStore("changes", "caller");
  const turn = useTick(LOOK);
  const drift = useLoaded((signal) => get("v3/sidecar/drift", { signal }), [state.changes, turn]);
  const overrides = useLoaded((signal) => get("v3/sidecar/overrides", { signal }), [state.changes, turn]);
  return html`<header class="view-head"><h1>Drift and overrides</h1></header>
    <${Partly} objects=${["**"]} />
    <${Loaded} of=${drift} what="drift">${(found) => html`
      ${!found.worker_answers && html`<p class="note">HAProxy does not answer, so the process was not compared.</p>`}
      ${!found.running_known && html`<p class="note">It is unknown what the worker has loaded, so the file was not compared.</p>`}
      ${found.differences.length
        ? html`<${Table} label="Differences" rows=${found.differences} columns=${[
          { title: "Object", of: nameOf },
          { title: "Member", of: (each) => each.member ?? "all" },
          { title: "File", of: (each) => shown(each.file) },
          { title: "Loaded", of: (each) => shown(each.running) },
          { title: "Process", of: (each) => shown(each.worker) },
          { title: "Cause", of: (each) => html`<${Badge} tone=${CAUSES[each.cause]?.[0]}>${CAUSES[each.cause]?.[1] ?? each.cause}<//>` },
        ]} />`
        : html`<${Nothing} title=${`${found.in_sync ? "File and process agree" : "No difference is known"}${unread("**") ? " where your role may read" : ""}`} />`}
      ${found.notes?.length > 0 && html`<ul class="reasons">${found.notes.map((each) => html`<li>${each}</li>`)}</ul>`}`}<//>
    <h2 class="section">Overrides</h2>
    <${Loaded} of=${overrides} what="overrides">${(found) => (found.length
      ? html`<${Table} label="Overrides" rows=${found} keyOf=${(each) => `${each.object} ${each.member}`} columns=${[
        { title: "Server", of: nameOf },
        { title: "Member", of: (each) => each.member },
        { title: "Configuration", of: (each) => shown(each.former) },
        { title: "Process", of: (each) => html`<b>${shown(each.value)}</b>` },
        { title: "By", of: (each) => (each.source === "api" ? (each.author ?? "this server") : html`<${Badge} tone="warn">Outside<//>`) },
        { title: "Since", of: (each) => (each.since ? html`<${Ago} time=${each.since} />` : "–") },
        { of: (each) => each.source === "api" && !state.caller?.read_only && html`<${RowButton} word="Remove …" sign="↶" label=${`Remove override ${each.member} of ${short(each.object)}`} why=${missing("change", each.object, ...membersOf(found, each.object))} onClick=${() => propose(removeOverrides(each, found))} />` },
      ]} />`
      : unread("backend/*") ? html`<${Nothing} title="No overrides that your role may read" />` : html`<${Nothing} title="No overrides">All servers have the values of the configuration.<//>`)}<//>`;
}

const nameOf = (each) => html`<code>${short(each.object)}</code>`;
const membersOf = (overrides, object) => overrides.filter((each) => each.object === object && each.source === "api").map((each) => each.member);
