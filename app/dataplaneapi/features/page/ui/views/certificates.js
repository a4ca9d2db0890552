// Certificates, sorted by expiry.

import { html, useState } from "../vendor/preact.js";
import { get } from "../api.js";
import { deleteFile, upload } from "../file-actions.js";
import { Actions, Badge, Loaded, None, Nothing, Partly, RowButton, Table, span, useLoaded } from "../kit.js";
import { segment, spell } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing, untouchable } from "../rights.js";
import { state, useStore } from "../store.js";

const SOON = 14;
export const DAY = 86_400_000, NEAR = 30;
const STORED = "v3/services/haproxy/storage/ssl_certificates", RUNNING = "v3/services/haproxy/runtime/ssl_certs";
// The number of concurrent requests: the browser has six connections, and the event stream uses one.
const AT_ONCE = 3;

export function CertificatesView() {
  useStore("changes", "caller");
  const all = useLoaded(loadCertificates, [state.changes]);
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase(), may = !state.caller?.read_only;
  return html`<header class="view-head"><h1>Certificates</h1>
      <input type="search" placeholder="Name, domain or issuer" aria-label="Find certificates" value=${search} onInput=${(event) => setSearch(event.target.value)} />
      ${may && html`<${Actions} of=${[{ text: "Upload …", why: untouchable("certificate/*"), onClick: () => propose(upload("certificate", (all.data ?? []).filter((each) => each.stored).map((each) => each.name))) }]} />`}</header>
    <${Loaded} of=${all} what="the certificates">${(found) => {
      const rows = found.filter((each) => !wanted || [each.name, each.subject, each.domains, each.subject_alternative_names, each.issuers].some((text) => text?.toLowerCase().includes(wanted)));
      if (!found.length) return html`<${None} what="certificates" objects=${["certificate/*"]}>No certificate is stored here or loaded by HAProxy.<//>`;
      if (!rows.length) return html`<${Nothing} title="No certificate matches" />`;
      return html`<${Partly} objects=${["certificate/*"]} /><${Table} label="Certificates" name="certificates" rows=${rows} keyOf=${(each) => each.name} columns=${[
        { title: "Expires", of: (each) => html`<${Expiry} time=${each.not_after} />` },
        { title: "Certificate", of: (each) => html`<code>${each.name}</code><span class="names">${each.domains || each.subject_alternative_names?.replaceAll("DNS:", "") || plain(each.subject)}</span>` },
        { title: "Issuer", of: (each) => plain(each.issuers) },
        { title: "Key", of: (each) => each.algorithm || "–" },
        { title: "In HAProxy", of: (each) => (each.loaded ? html`<${Badge} tone="good">Loaded<//>` : html`<${Badge}>Not loaded<//>`) },
        { of: (each) => may && each.stored && html`<${RowButton} word="Delete …" sign="×" label=${`Delete ${each.name}`} why=${missing("delete", spell("certificate", each.name))} onClick=${() => propose(deleteFile({ kind: "certificate", name: each.name }))} />` },
      ]} />`;
    }}<//>`;
}

/** Shorten /CN=shop.example to shop.example. */
const plain = (name) => name?.replace(/^\/CN=/, "") || "–";

function Expiry({ time }) {
  if (!time) return html`<span class="quiet">unknown</span>`;
  const left = Date.parse(time) - Date.now();
  const tone = left < SOON * DAY ? "bad" : left < NEAR * DAY ? "warn" : "good";
  return html`<${Badge} tone=${tone}>${left < 0 ? "Expired" : span(left)}<//> <span class="quiet">${new Date(time).toLocaleDateString()}</span>`;
}

/** Load the stored and the loaded certificates, sorted by expiry. */
export async function loadCertificates(signal) {
  const none = (error) => {
    if (error.status === 403 || error.status === 0) throw error;
    return [];
  };
  const [stored, running] = await Promise.all([get(STORED, { signal }).catch(none), get(RUNNING, { signal }).catch(none)]);
  const places = new Set(running.map((each) => each.storage_name ?? each.file));
  const files = new Set(stored.map((each) => each.file));
  const wanted = [
    ...stored.map((each) => {
      const loaded = places.has(each.file);
      return { path: loaded ? `${RUNNING}/${segment(each.file)}` : `${STORED}/${segment(each.storage_name)}`, name: each.storage_name, stored: true, loaded };
    }),
    ...[...places].filter((name) => !files.has(name)).map((name) => ({ path: `${RUNNING}/${segment(name)}`, name, loaded: true })),
  ];
  const found = await eachAtOnce(wanted, async ({ path, ...known }) => ({ ...(await get(path, { signal }).catch(() => ({}))), ...known }));
  return found.sort((a, b) => (a.not_after ?? "9999").localeCompare(b.not_after ?? "9999"));
}

async function eachAtOnce(items, work) {
  const results = [], queue = items.entries();
  const run = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return results;
}
