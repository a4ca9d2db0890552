// Events as they happen: changes, reloads, servers that go down and up, confirmations, and certificates that expire soon.

import { html, useState } from "../vendor/preact.js";
import { Ago, Badge, Loaded, None, Nothing, Partly, shown, span, useLoaded, useTick } from "../kit.js";
import { checkText } from "../model.js";
import { parse, short } from "../names.js";
import { hrefOf } from "../route.js";
import { KINDS, loadFeed, state, useStore } from "../store.js";
import { DAY, NEAR, loadCertificates } from "./certificates.js";
import { OUTCOMES } from "./history.js";

const FILTERS = { Configuration: ["config", "certificate", "storage"], Servers: ["server"], Reloads: ["reload", "worker"], Confirmations: ["confirmation"], Operations: ["operation"] };
const REFRESH = 10_000;

export function FeedView() {
  useStore("feed");
  useTick(REFRESH);
  const [filter, setFilter] = useState("");
  // The events themselves are in the store.
  const loaded = useLoaded((signal) => loadFeed(signal).then(() => true), []);
  const rows = state.feed.filter((each) => !filter || FILTERS[filter].includes(each.type));
  return html`<header class="view-head"><h1>Events</h1>
      <div class="filters" role="group" aria-label="Kind"><button type="button" aria-pressed=${!filter} onClick=${() => setFilter("")}>All</button>
        ${Object.keys(FILTERS).map((name) => html`<button type="button" key=${name} aria-pressed=${filter === name} onClick=${() => setFilter(filter === name ? "" : name)}>${name}</button>`)}</div></header>
    <${Expiring} />
    <${Loaded} of=${loaded} what="the events">${() => (rows.length
      ? html`<${Partly} objects=${["**"]} /><ol class="entries feed" aria-label="Events">${rows.map((each) => html`<${Row} key=${each.id} event=${each} />`)}</ol>`
      : filter ? html`<${Nothing} title="No such event in the last day" />`
      : html`<${None} what="events" objects=${["**"]}>Changes, reloads and servers that go down or up appear here as they happen. The server forgets them when it restarts.<//>`)}<//>`;
}

/** Certificates that expire within NEAR days. */
function Expiring() {
  useStore("changes");
  const all = useLoaded(loadCertificates, [state.changes]);
  const soon = (all.data ?? []).filter((each) => each.not_after && Date.parse(each.not_after) - Date.now() < NEAR * DAY);
  return soon.length > 0 && html`<section class="expiring" aria-label="Certificates that expire soon"><ul class="plain">${soon.map((each) => {
    const left = Date.parse(each.not_after) - Date.now();
    return html`<li key=${each.name}><${Badge} tone=${left < 0 ? "bad" : "warn"}>${left < 0 ? "Expired" : "Expires"}<//> <a href="#/certificates">${each.name}</a> <span class="quiet">${left < 0 ? `${span(-left)} ago` : `in ${span(left)}`}</span></li>`;
  })}</ul></section>`;
}

function Row({ event }) {
  const { tone, word, what, text, href } = describe(event);
  const body = html`<span class="entry-what">${what}</span><span class="entry-when"><${Ago} time=${event.time} /></span>
    <span class="entry-who">${text}</span><span class="entry-how"><${Badge} tone=${tone}>${word}<//></span>`;
  return html`<li>${href ? html`<a class="entry" href=${href}>${body}</a>` : html`<div class="entry">${body}</div>`}</li>`;
}

const DESCRIBED = {
  server({ object, data }) {
    const [, backend, , name] = parse(object), { former = {} } = data;
    const [tone, word] = data.change !== "changed" ? ["", data.change === "added" ? "Added" : "Deleted"]
      : former.admin_state ? { ready: ["good", "In service"], drain: ["warn", "Draining"], maint: ["warn", "Maintenance"] }[data.admin_state]
      : former.operational_state ? { up: ["good", "Up"], down: ["bad", "Down"], stopping: ["warn", "Stopping"] }[data.operational_state] ?? ["", "Unknown"]
      : ["", "Changed"];
    const members = Object.keys(former).filter((each) => !each.endsWith("_state")).map((each) => `${each} ${shown(former[each])} → ${shown(data[each])}`);
    const text = [data.check && former.operational_state && checkText(data.check), ...members].filter(Boolean).join(", ");
    return { tone, word, what: short(object), text, href: data.change === "deleted" ? "" : hrefOf("map", ["backend", backend, "server", name]) };
  },
  config: changed,
  certificate: changed,
  storage: changed,
  reload: ({ data }) => ({
    tone: data.status === "succeeded" ? "good" : "bad",
    word: data.status === "succeeded" ? "Reloaded" : "Reload failed",
    what: `Reload ${data.id}`,
    text: [data.keywords?.length && `because of ${data.keywords.join(", ")}`, `${shown(data.seconds)} s`, data.status === "failed" && data.response?.split("\n")[0]].filter(Boolean).join(", "),
    href: hrefOf("reloads", [data.id]),
  }),
  worker: ({ data }) => ({ tone: "", word: "New worker", what: `Worker ${data.pid}`, text: data.former ? `replaces ${data.former}` : "", href: "#/workers" }),
  operation: ({ data }) => ({
    tone: { succeeded: "good", failed: "bad" }[data.status] ?? "",
    word: { succeeded: "Done", failed: "Failed", cancelled: "Cancelled" }[data.status] ?? data.status,
    what: KINDS[data.kind] ?? data.kind,
    text: [data.author && `by ${data.author}`, data.error].filter(Boolean).join(": "),
  }),
  confirmation({ data }) {
    const [tone, word] = { open: ["", "Begun"], pending: ["warn", "Not confirmed"], confirmed: ["good", "Confirmed"], returned: ["bad", "Rolled back"], failed: ["bad", "Not rolled back"], void: ["", "No change"] }[data.status];
    return { tone, word, what: `Confirmation ${data.id}`, text: [data.author && `by ${data.author}`, data.error ?? data.verdict?.reasons?.[0]].filter(Boolean).join(": ") };
  },
};

function changed({ object, data }) {
  const [tone, word] = OUTCOMES[data.outcome] ?? ["", data.outcome];
  const [effect, ...more] = data.effects ?? [], objects = data.objects ?? [object];
  const first = effect ? `${effect.member ?? "all"}${effect.old !== undefined && effect.new !== undefined ? ` ${shown(effect.old)} → ${shown(effect.new)}` : effect.old === undefined ? " added" : " removed"}` : data.change;
  const who = data.author ?? data.owner;
  return {
    tone, word,
    what: html`${short(effect?.object ?? objects[0] ?? object)}${objects.length > 1 && html` <span class="quiet">and ${objects.length - 1} more</span>`}`,
    text: [first, more.length && `${more.length} more`, who && `by ${who}`, data.message].filter(Boolean).join(", "),
    href: "#/history",
  };
}

const describe = (event) => DESCRIBED[event.type](event);
