// Maps and ACLs, loaded and stored, with their entries.

import { html, useMemo, useState } from "../vendor/preact.js";
import { get } from "../api.js";
import { addEntry, changeEntry, deleteEntry, deleteFile, editFile, entriesOf, upload } from "../file-actions.js";
import { Actions, Badge, Forbidden, Loaded, None, Nothing, Partly, RowButton, Two, number, useLoaded } from "../kit.js";
import { spell } from "../names.js";
import { announce, propose } from "../plan-dialog.js";
import { missing, unread, untouchable } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, useStore } from "../store.js";
import { useVirtual } from "../virtual.js";

const ROW = 34;
// A configuration can have thousands of ACLs. Those beyond this number are found by name.
const MOST = 300;
// The listed objects. Loaded ACLs are visible only to callers that may read everything.
const KINDS = ["map/*", "acl_file/*", "**"];

export function ListsView({ route }) {
  useStore("changes", "worker", "caller");
  const [kind, id] = route.parts;
  const lists = useLoaded(load, [state.changes, state.worker]);
  const [search, setSearch] = useState(""), wanted = search.trim().toLowerCase();
  const known = (of) => (lists.data?.rows ?? []).filter((each) => each.kind === of && each.stored).map((each) => each.name);
  return html`<${Two} view="lists" title="Maps and ACLs" kind="list-detail" isChosen=${Boolean(id)}
      head=${html`${!state.caller?.read_only && html`<${Actions} of=${[
          { text: "Upload a map …", why: untouchable("map/*"), onClick: () => propose(upload("map", known("map"))) },
          { text: "Upload an ACL …", why: untouchable("acl_file/*") || (lists.data?.hasAclFiles === false ? "The setting acl_dir has no value, so no ACLs are stored here." : ""), onClick: () => propose(upload("acl", known("acl"))) },
        ]} />`}
        <input type="search" placeholder="Name" aria-label="Find a map or an ACL" value=${search} onInput=${(event) => setSearch(event.target.value)} />`}
      list=${html`<${Loaded} of=${lists} what="maps and ACLs">${({ rows: all }) => html`
        ${all.length > 0 && html`<${Partly} objects=${KINDS} />`}
        ${all.length ? html`<${Names} all=${all.filter((each) => each.name.toLowerCase().includes(wanted))} chosen=${(each) => each.kind === kind && each.id === id} />`
          : html`<${None} what="maps and no ACLs" objects=${KINDS}>HAProxy has loaded none, and none is stored.<//>`}`}<//>`}
      detail=${lists.data && html`<${List} key=${`${kind} ${id}`} kind=${kind} id=${id} of=${lists.data.rows.find((each) => each.kind === kind && each.id === id)} />`}
      placeholder=${html`<${Nothing} title="Choose a map or an ACL">Its entries in HAProxy appear here.<//>`} />`;
}

function Names({ all, chosen }) {
  if (!all.length) return html`<${Nothing} title="No list matches" />`;
  return html`<ol class="entries">${all.slice(0, MOST).map((each) => html`<li key=${`${each.kind} ${each.id}`}><a class="entry" href=${hrefOf("lists", [each.kind, each.id])} aria-current=${chosen(each) ? "true" : undefined}>
      <span class="entry-what">${each.name}</span><span class="entry-how"><${Badge} tone=${each.loaded ? "good" : ""}>${each.loaded ? "Loaded" : "Not loaded"}<//></span>
      <span class="entry-who">${each.kind === "map" ? "Map" : "ACL"}${each.where ? html`, ${each.where}` : ""}</span><span class="entry-when">${each.stored ? "" : "not stored"}</span></a></li>`)}</ol>
    ${all.length > MOST && html`<p class="note pad">${number(all.length - MOST)} more: find them by their names.</p>`}`;
}

/** Load all lists that the caller may read, loaded or stored, and whether the server stores ACLs. */
async function load(signal) {
  const paths = ["v3/services/haproxy/runtime/maps", "v3/services/haproxy/storage/maps", ...(unread("**") ? [] : ["v3/services/haproxy/runtime/acls"]), "v3/sidecar/acls"];
  let hasAclFiles = true;
  const none = (path) => (error) => {
    if (error.status === 0 || error.name === "AbortError") throw error;
    if (path === paths.at(-1) && error.status === 404) hasAclFiles = false;
    return [];
  };
  const answers = await Promise.all(paths.map((path) => get(path, { signal, query: path === paths[0] ? { include_unmanaged: "true" } : {} }).catch(none(path))));
  const [maps, mapFiles, acls, aclFiles] = answers.length === 3 ? [answers[0], answers[1], [], answers[2]] : answers;
  const rows = [...joined("map", maps, mapFiles, (each) => each.file), ...joined("acl", acls.filter((each) => !each.description?.includes("'httpclient'")), aclFiles, (each) => each.storage_name)];
  return { rows, hasAclFiles };
}

/** Return the lists of one kind: loaded ones with their files, then files that are not loaded. */
function joined(kind, loaded, files, pathOf) {
  const stored = new Map(files.map((each) => [each.file, each.storage_name]));
  const rows = loaded.map((each) => {
    const path = pathOf(each), name = stored.get(path);
    // The API identifies a map by the name of its file in the directory of maps, and an ACL by its number too.
    const isOutside = kind === "map" && !each.storage_name;
    return { kind, object: spell(kind, kind === "map" ? (each.storage_name ?? path) : path), name: name ?? each.storage_name ?? path, id: name ?? (kind === "map" ? (each.storage_name ?? path) : each.id), loaded: true, stored: Boolean(name), isOutside, where: name ? "" : /line \d+/.exec(each.description ?? "")?.[0] };
  });
  const seen = new Set(rows.filter((each) => each.stored).map((each) => each.name));
  const unused = files.filter((each) => !seen.has(each.storage_name)).map((each) => ({ kind, object: spell(kind, each.storage_name), name: each.storage_name, id: each.storage_name, loaded: false, stored: true }));
  return [...rows.filter((each) => each.stored), ...unused, ...rows.filter((each) => !each.stored)];
}

function List({ of: list, kind, id }) {
  const may = !state.caller?.read_only, file = list && spell(list.kind === "map" ? "map" : "acl_file", list.name);
  const edit = () => editFile(list).then(propose, (error) => announce(error.message));
  if (list?.isOutside) return html`<${Nothing} title=${list.name}>This map is outside the directory of maps, so its entries can neither be read nor changed here.<//>`;
  const why = !list && missing("read", spell(kind === "map" ? "map" : "acl_file", id));
  if (why) return html`<${Forbidden} what=${id} text=${why} />`;
  if (!list) return html`<${Nothing} title="It is not there any more">It may have been deleted, or HAProxy has loaded another configuration.<//>`;
  return html`<header class="detail-head"><h2>${list.name}</h2><span class="quiet">${list.kind === "map" ? "map" : "ACL"}${list.where ? `, ${list.where}` : ""}</span></header>
    ${may && html`<${Actions} of=${[
      list.loaded && { text: list.kind === "map" ? "Add an entry …" : "Add a pattern …", isMain: true, why: missing("create", `${list.object}/entry/*`), onClick: () => propose(addEntry(list)) },
      list.stored && { text: "Edit the file …", why: untouchable(file), onClick: edit },
      list.stored && !list.loaded && { text: "Delete the file …", why: missing("delete", file), onClick: () => propose(deleteFile(list)) },
    ]} />`}
    ${list.loaded ? html`<${Entries} list=${list} may=${may} />` : html`<${Nothing} title="HAProxy has not loaded it">No line of the running configuration names this file, so it has no entries in the process.<//>`}`;
}

function Entries({ list, may }) {
  const [turn, setTurn] = useState(0), [search, setSearch] = useState("");
  const entries = useLoaded((signal) => get(entriesOf(list), { signal }).catch((error) => {
    // An ACL without patterns.
    if (error.status === 404) return [];
    throw error;
  }), [state.changes, turn]);
  if (entries.error?.status === 403 && entries.data === undefined) return html`<${Forbidden} what="its entries" text=${entries.error.message} />`;
  const act = (action) => propose(action).then((answer) => answer && setTurn((count) => count + 1));
  return html`<${Loaded} of=${entries} what="its entries">${(found) => (found.length
    ? html`<${Table} list=${list} found=${found} search=${search} onSearch=${setSearch} may=${may} act=${act} />`
    : html`<${Nothing} title="No entries">Every lookup finds nothing.<//>`)}<//>`;
}

const entryOf = (list, { key, id }) => `${list.object}/${spell("entry", list.kind === "map" ? key : id)}`;

function Table({ list, found, search, onSearch, may, act }) {
  const isMap = list.kind === "map", wanted = search.trim().toLowerCase();
  const rows = useMemo(() => (wanted ? found.filter((each) => `${each.key ?? ""} ${each.value}`.toLowerCase().includes(wanted)) : found), [found, wanted]);
  const view = useVirtual(rows.length, ROW);
  const spacer = (height) => height > 0 && html`<tbody aria-hidden="true"><tr class="spacer"><td style=${{ height: `${height}px` }}></td></tr></tbody>`;
  return html`<header class="view-head"><input type="search" placeholder="Find an entry" aria-label="Find entries" value=${search} onInput=${(event) => onSearch(event.target.value)} />
      <p class="quiet" role="status">${wanted ? `${number(rows.length)} of ` : ""}${number(found.length)} ${found.length === 1 ? "entry" : "entries"}</p></header>
    <div class="table-box" ref=${view.ref} tabindex="0" role="region" aria-label=${`Entries of ${list.name}`}>
      <table class="list-entries" aria-rowcount=${rows.length + 1}><thead><tr aria-rowindex="1">${isMap && html`<th scope="col">Key</th>`}<th scope="col">${isMap ? "Value" : "Pattern"}</th>${may && html`<th scope="col"><span class="sr">Actions</span></th>`}</tr></thead>
        ${spacer(view.top)}
        <tbody>${rows.slice(view.first, view.last).map((each, offset) => html`<tr key=${each.id} aria-rowindex=${view.first + offset + 2}>${isMap && html`<td title=${each.key}><code>${each.key}</code></td>`}<td title=${each.value}><code>${each.value}</code></td>
          ${may && html`<td class="numeric">${isMap && html`<${RowButton} word="Change …" sign="✎" label=${`Change ${each.key}`} why=${missing("change", entryOf(list, each))} onClick=${() => act(changeEntry(list, each))} /> `}
            <${RowButton} word="Delete …" sign="×" label=${`Delete ${each.key ?? each.value}`} why=${missing("delete", entryOf(list, each))} onClick=${() => act(deleteEntry(list, each))} /></td>`}</tr>`)}</tbody>
        ${spacer(view.bottom)}</table></div>`;
}
