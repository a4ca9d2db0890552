// Reloads with their outcome, HAProxy's messages, and the lines that they name.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { reload } from "../actions.js";
import { Actions, Ago, Badge, Facts, Loaded, None, Nothing, Partly, Problem, Two, useLoaded } from "../kit.js";
import { segment } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, useStore } from "../store.js";

const STATUS = { failed: ["bad", "Failed"], succeeded: ["good", "Succeeded"], in_progress: ["warn", "Due"] };
// The number of lines around a line that HAProxy names.
const AROUND = 3;

export function ReloadsView({ route }) {
  useStore("reload", "changes", "caller");
  const [id] = route.parts;
  const list = useLoaded((signal) => get("v3/services/haproxy/reloads", { signal }), [state.changes, state.pendingReload]);
  return html`<${Two} view="reloads" title="Reloads" isChosen=${Boolean(id)}
      head=${!state.caller?.read_only && html`<${Actions} of=${[{ text: "Reload …", why: missing("create", "reload"), onClick: () => propose(reload()) }]} />`}
      list=${html`<${Loaded} of=${list} what="reloads">${(reloads) => (reloads.length
        ? html`<${Partly} objects=${["reload/*"]} /><ol class="entries">${[...reloads].sort((a, b) => (b.reload_timestamp ?? Infinity) - (a.reload_timestamp ?? Infinity) || (a.id < b.id ? 1 : -1)).map((each) => html`<li key=${each.id}><a class="entry" href=${hrefOf("reloads", [each.id])} aria-current=${each.id === id ? "true" : undefined}>
            <span class="entry-what">${each.id}</span><span class="entry-when">${each.reload_timestamp ? html`<${Ago} time=${each.reload_timestamp * 1000} />` : ""}</span>
            <span class="entry-who">${each.status === "succeeded" ? "" : complaint(each.response)}</span><span class="entry-how"><${Badge} tone=${STATUS[each.status]?.[0]}>${STATUS[each.status]?.[1] ?? each.status}<//></span></a></li>`)}</ol>`
        : html`<${None} what="reloads" objects=${["reload/*"]}>HAProxy was not reloaded since the sidecar started. Changes at runtime need no reload.<//>`)}<//>`}
      detail=${html`<${Record} key=${id} id=${id} />`}
      placeholder=${html`<${Nothing} title="Choose a reload">The reasons and HAProxy's messages appear here.<//>`} />`;
}

/** Return HAProxy's first alert. */
const complaint = (text = "") => /\[ALERT\]\s+(?:\(\d+\) : )?(.*)/.exec(text)?.[1] ?? text.split("\n")[0];

function Record({ id }) {
  const record = useLoaded((signal) => get(`v3/sidecar/reloads/${segment(id)}`, { signal }), [id, state.changes]);
  return html`<${Loaded} of=${record} what="this reload">${(found) => html`
    <header class="detail-head"><h2>Reload ${found.id}</h2><${Badge} tone=${STATUS[found.status]?.[0]}>${STATUS[found.status]?.[1] ?? found.status}<//></header>
    <${Facts} rows=${[
      ["Requested", html`<${Ago} time=${found.requested} />`], found.ended && ["Ended", html`<${Ago} time=${found.ended} />`], ["New worker", found.verified ? found.pid_after : "none"],
      found.version !== undefined && ["Version", found.version], found.restored_version !== undefined && ["Version after the rollback", found.restored_version],
    ]} />
    <${Partly} objects=${["**"]} />
    ${found.status === "failed" && html`<h3>HAProxy's messages</h3><${Problem} title=${found.error || "HAProxy refused the configuration"} text=${found.response} />`}
    ${found.status === "failed" && found.refused && html`<${Lines} text=${found.refused} said=${found.response ?? ""} />`}
    ${found.status !== "failed" && found.response && html`<pre class="said" tabindex="0">${found.response}</pre>`}
    ${found.changes?.length > 0 && html`<h3>Outcome of the changes</h3><ul class="plain">${found.changes.map((each) => html`<li><${Badge} tone=${each.outcome === "kept" ? "good" : "bad"}>${each.outcome === "kept" ? "Kept" : "Rolled back"}<//>
      ${each.entry ? html`<a href=${hrefOf("history", [each.entry])}>Change ${each.entry}</a>` : `Version ${each.version}`} <span class="quiet">by ${each.author ?? "unknown"}</span></li>`)}</ul>`}
    ${found.reasons?.length > 0 && html`<h3>Reasons</h3><ul class="reasons">${found.reasons.map((each) => html`<li>${each.section && html`<code>${each.section}</code>${each.line ? ` line ${each.line}` : ""}: `}${each.reason}${each.remedy && html`<br /><span class="quiet">${each.remedy}</span>`}</li>`)}</ul>`}`}<//>`;
}

/** Show the refused text around the lines that HAProxy names, as in "[/etc/haproxy/haproxy.cfg:19]". */
function Lines({ text, said }) {
  const lines = text.split("\n");
  const named = [...new Set([...said.matchAll(/\[[^\]\s]*:(\d+)\]/g)].map((match) => Number(match[1])))].filter((line) => line >= 1 && line <= lines.length);
  if (!named.length) return html`<details><summary>The refused text</summary><pre class="said" tabindex="0">${text}</pre></details>`;
  return html`<h3>${named.length === 1 ? `Line ${named[0]}` : `Lines ${named.join(", ")}`} of the refused text</h3>
    ${named.slice(0, 10).map((line) => html`<pre class="code" tabindex="0" role="group" aria-label=${`Line ${line}`}>${lines.slice(Math.max(0, line - 1 - AROUND), line + AROUND).map((content, index) => {
      const number = Math.max(0, line - 1 - AROUND) + index + 1;
      return html`<span class=${named.includes(number) ? "guilty" : ""}><i>${number}</i>${content || " "}${"\n"}</span>`;
    })}</pre>`)}`;
}
