// Actions on entries of maps and ACLs, and on stored files: in the process, in the file, or in both.

import { get, form, post } from "./api.js";
import { outcome } from "./actions.js";
import { counted } from "./kit.js";
import { segment } from "./names.js";

const RUNTIME = "v3/services/haproxy/runtime/", STORAGE = "v3/services/haproxy/storage/";
/** The stores: paths of their files, of their plans, and of the lists that HAProxy has loaded. */
const STORES = {
  map: { noun: "map", files: `${STORAGE}maps`, plan: "maps", loaded: `${RUNTIME}maps` },
  acl: { noun: "ACL", files: "v3/sidecar/acls", plan: "acls", loaded: `${RUNTIME}acls` },
  certificate: { noun: "certificate", files: `${STORAGE}ssl_certificates`, plan: "ssl_certificates" },
};
const SYNC = { label: "Change the file as well", type: "checkbox" };

/** A list is {kind, name, id, loaded, stored}: `id` identifies it in the process, `name` is its file. */
export const entriesOf = (list) => `${STORES[list.kind].loaded}/${segment(list.id)}/entries`;
const fileOf = (list) => `${STORES[list.kind].files}/${segment(list.name)}`;

const kept = (list, sync) => [sync ? "Both the file and the process change, or neither." : list.stored ? "The file does not change, so the next reload reverts this." : "It has no file here, so the next reload reverts this."];
const synced = (list) => (list.stored ? { options: { sync: SYNC }, initial: { sync: true } } : { options: {}, initial: {} });
const shown = (list, old, now) => ({ object: list.name, member: old?.key ?? now?.key ?? "pattern", old: old?.value, new: now?.value });

export function addEntry(list) {
  const { options, initial } = synced(list), isMap = list.kind === "map";
  const body = ({ key, value }) => (isMap ? { key: key.trim(), value } : { value: value.trim() });
  return {
    title: isMap ? `Add an entry to ${list.name}` : `Add a pattern to ${list.name}`,
    verb: "Add",
    options: { ...(isMap ? { key: { label: "Key", type: "text" } } : {}), value: { label: isMap ? "Value" : "Pattern", type: "text" }, ...options },
    initial: { key: "", value: "", ...initial },
    call: (chosen) => ({ method: "POST", path: entriesOf(list), body: body(chosen), query: { force_sync: chosen.sync && "true" } }),
    plan: (chosen) => {
      if (!chosen.value.trim() || (isMap && !chosen.key.trim())) return { incomplete: isMap ? "Enter a key and a value." : "Enter a pattern." };
      return { changes: [shown(list, null, body(chosen))], notes: kept(list, chosen.sync) };
    },
    done: outcome(`The ${isMap ? "entry" : "pattern"} is added to ${list.name}`),
  };
}

export function changeEntry(list, entry) {
  const { options, initial } = synced(list);
  return {
    title: `Change ${entry.key} in ${list.name}`,
    verb: "Change",
    options: { value: { label: "Value", type: "text" }, ...options },
    initial: { value: entry.value, ...initial },
    call: ({ value, sync }) => ({ method: "PUT", path: `${entriesOf(list)}/${segment(entry.key)}`, body: { value }, query: { force_sync: sync && "true" } }),
    plan: ({ value, sync }) => (value.trim() ? { changes: [shown(list, entry, { ...entry, value })], notes: kept(list, sync) } : { incomplete: "Enter a value." }),
    done: outcome(`${entry.key} is changed`),
  };
}

export function deleteEntry(list, entry) {
  const { options, initial } = synced(list), isMap = list.kind === "map";
  return {
    title: `Delete ${entry.key ?? entry.value} from ${list.name}`,
    verb: "Delete",
    danger: true,
    options,
    initial,
    // A pattern is identified by its reference, because the same pattern may occur more than once.
    call: ({ sync }) => ({ method: "DELETE", path: `${entriesOf(list)}/${segment(isMap ? entry.key : entry.id)}`, query: { force_sync: sync && "true" } }),
    plan: ({ sync }) => ({ changes: [shown(list, entry, null)], notes: kept(list, sync) }),
    done: outcome(`The ${isMap ? "entry" : "pattern"} is deleted from ${list.name}`),
  };
}

/** Edit a stored file as text. */
export async function editFile(list) {
  const before = await get(fileOf(list));
  return {
    title: `Edit ${list.name}`,
    verb: "Store",
    options: { text: { label: "Lines", type: "textarea" } },
    initial: { text: before },
    call: ({ text }) => ({ method: "PUT", path: fileOf(list), text }),
    plan: async ({ text }) => {
      if (text === before) return { incomplete: "Nothing is changed." };
      return { ...(await planned(list.kind, list.name, text)), notes: [lineChanges(before, text)] };
    },
    done: outcome(`${list.name} is stored`),
  };
}

const planned = (kind, name, text) => post(`v3/sidecar/plan/${STORES[kind].plan}/${segment(name)}`, undefined, { text });

function lineChanges(before, after) {
  const lines = (text) => text.split("\n").filter(Boolean);
  const old = new Set(lines(before)), now = new Set(lines(after));
  const added = [...now].filter((line) => !old.has(line)).length, removed = [...old].filter((line) => !now.has(line)).length;
  return `${counted(added, "line")} added, ${removed} removed.`;
}

/** Store a file from the operator's disk. It replaces the file with its name, if `known` has one. */
export function upload(kind, known) {
  const { noun, files } = STORES[kind];
  const nameOf = ({ name, file }) => name.trim() || file?.name || "";
  const article = kind === "acl" ? "an" : "a";
  return {
    title: `Upload ${article} ${noun}`,
    verb: "Store",
    options: { file: { label: kind === "certificate" ? "PEM files: the certificate, its chain and its key" : "File", type: "file" }, name: { label: "Stored as", type: "text", placeholder: "the name of the file" } },
    initial: { file: null, name: "" },
    plan: async ({ file, name }) => {
      if (!file) return { incomplete: "Choose a file." };
      const as = nameOf({ file, name });
      const path = `${files}/${segment(as)}`;
      if (!known.includes(as)) return { call: { method: "POST", path: files, ...form(as, file.text) }, notes: [`${as} is a new ${noun}. Nothing uses it until the configuration names it.`] };
      return { ...(await planned(kind, as, file.text)), call: { method: "PUT", path, text: file.text }, notes: [`It replaces ${as}.`] };
    },
    done: outcome(`The ${noun} is stored`),
  };
}

export function deleteFile(list) {
  return {
    title: `Delete ${list.name}`,
    verb: "Delete",
    danger: true,
    call: () => ({ method: "DELETE", path: fileOf(list) }),
    plan: () => ({ notes: ["The file is deleted unless the configuration names it. The history keeps its content."] }),
    done: outcome(`${list.name} is deleted`),
  };
}
