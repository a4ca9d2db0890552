// Stick tables of the running HAProxy, and their entries.

import { html, useState } from "../vendor/preact.js";
import { get } from "../api.js";
import { Badge, Forbidden, Loaded, None, Nothing, Partly, Table, Two, counted, number, shown, span, useLoaded, useTick } from "../kit.js";
import { segment, spell } from "../names.js";
import { missing } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, useStore } from "../store.js";

const TABLES = "v3/services/haproxy/runtime/stick_tables", KINDS = ["stick_table/*"];
// A table may have millions of entries. So many are listed, and any other is found by its whole key.
const MOST = 500, REFRESH = 5_000;
const KEYS = { ip: "IP address", ipv6: "IPv6 address", integer: "integer", string: "text", binary: "binary" };

export function TablesView({ route }) {
  useStore("changes", "worker", "caller");
  const turn = useTick(REFRESH), [name] = route.parts, [search, setSearch] = useState("");
  const tables = useLoaded((signal) => get(TABLES, { signal }), [state.worker, state.changes, turn]);
  const wanted = search.trim().toLowerCase();
  return html`<${Two} view="tables" title="Stick tables" kind="list-detail" isChosen=${Boolean(name)}
      head=${html`<input type="search" placeholder="Name" aria-label="Find a stick table" value=${search} onInput=${(event) => setSearch(event.target.value)} />`}
      list=${html`<${Loaded} of=${tables} what="the stick tables">${(all) => {
        if (!all.length) return html`<${None} what="stick tables" objects=${KINDS}>No section of the running configuration has a line stick-table.<//>`;
        const rows = all.filter((each) => each.name.toLowerCase().includes(wanted));
        return html`<${Partly} objects=${KINDS} />${rows.length ? html`<ol class="entries">${rows.map((each) => html`<li key=${each.name}><a class="entry" href=${hrefOf("tables", [each.name])} aria-current=${each.name === name ? "true" : undefined}>
          <span class="entry-what">${each.name}</span><span class="entry-how"><${Badge} tone=${each.used >= each.size ? "warn" : ""}>${number(each.used)} of ${number(each.size)}<//></span>
          <span class="entry-who">${KEYS[each.type] ?? each.type}${each.fields?.length ? html`: ${each.fields.map((field) => field.field).join(", ")}` : ""}</span></a></li>`)}</ol>` : html`<${Nothing} title="No stick table matches" />`}`;
      }}<//>`}
      detail=${html`<${StickTable} key=${name} name=${name} />`}
      placeholder=${html`<${Nothing} title="Choose a stick table">Its entries appear here.<//>`} />`;
}

function StickTable({ name }) {
  const [search, setSearch] = useState(""), key = search.trim(), why = missing("read", spell("stick_table", name));
  const turn = useTick(REFRESH);
  const entries = useLoaded((signal) => (why ? Promise.resolve([]) : get(`${TABLES}/${segment(name)}/entries`, { query: { count: MOST + 1 }, signal })), [name, turn, why]);
  const isLong = (entries.data?.length ?? 0) > MOST;
  // The server refuses a key that does not fit the type of the table.
  const one = useLoaded((signal) => (isLong && key ? get(`${TABLES}/${segment(name)}/entries`, { query: { key }, signal }).catch(() => []) : Promise.resolve([])), [name, key, isLong, turn]);
  if (why) return html`<${Forbidden} what=${`the stick table ${name}`} text=${why} />`;
  return html`<header class="detail-head"><h2>${name}</h2><span class="quiet">stick table</span></header>
    <${Loaded} of=${entries} what="its entries">${(found) => {
      if (!found.length) return html`<${Nothing} title="No entries">HAProxy adds one when a request or a connection matches a rule that tracks it.<//>`;
      const listed = found.slice(0, MOST).filter((each) => each.key.toLowerCase().includes(key.toLowerCase()));
      const rows = [...listed, ...(one.data ?? []).filter((each) => !listed.some((other) => other.key === each.key))];
      const data = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((member) => !["key", "id", "use", "exp"].includes(member) && rows.some((row) => row[member] !== null));
      return html`<header class="view-head"><input type="search" placeholder="Key" aria-label="Find entries" value=${search} onInput=${(event) => setSearch(event.target.value)} />
          <p class="quiet" role="status">${counted(rows.length, "row")}</p></header>
        ${isLong && html`<p class="note">The first ${number(MOST)} entries are listed. Enter a whole key to find any other.</p>`}
        ${!rows.length ? html`<${Nothing} title="No entry matches" />` : html`<${Table} label=${`Entries of ${name}`} rows=${rows} keyOf=${(row) => row.key} columns=${[
          { title: "Key", of: (row) => html`<code>${row.key}</code>` },
          ...data.map((member) => ({ title: member, isNumeric: true, of: (row) => (typeof row[member] === "number" ? number(row[member]) : shown(row[member])) })),
          { title: "Expires in", isNumeric: true, of: (row) => (row.exp === undefined || row.exp === null ? "–" : span(row.exp)) },
          { title: "In use", of: (row) => (row.use ? "yes" : "no") },
        ]} />`}`;
    }}<//>`;
}
