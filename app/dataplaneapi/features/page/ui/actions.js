// Actions on servers, unconfirmed changes, the history and workers: each has its call and its plan (plan-dialog.js).

import { call, get, post, remove } from "./api.js";
import { counted } from "./kit.js";
import { condition, health, serversOf, addressOf, CONDITIONS } from "./model.js";
import { parse, segment, short } from "./names.js";
import { state } from "./store.js";

const runtime = (server) => `v3/services/haproxy/runtime/backends/${segment(server.backend)}/servers/${segment(server.name)}`;
const CONFIG = "v3/services/haproxy/configuration/";
const KEPT = "It survives reloads and restarts as an override. The configuration does not change.";
export const UNLESS_CONFIRMED = { label: "Roll back automatically unless confirmed", choices: [["", "no"], ["2m", "within 2 minutes"], ["10m", "within 10 minutes"]] };

/** Set the state of a server at runtime. */
export function setState(server, to) {
  const verbs = { ready: "Put into service", maint: "Put into maintenance", drain: "Drain" };
  return {
    title: `${verbs[to]}: ${short(server.object)}`,
    verb: verbs[to],
    danger: to === "maint",
    call: () => ({ method: "PUT", path: runtime(server), body: { admin_state: to } }),
    plan: () => ({
      changes: [{ object: server.object, member: "admin_state", old: server.admin_state, new: to }],
      reload: false,
      notes: [...(to === "maint" ? [loss(server), "Open sessions continue until they end."] : []), KEPT],
    }),
    done: () => `${short(server.object)} is ${to === "ready" ? "in service" : CONDITIONS[to].toLowerCase()}.`,
  };
}

export function setWeight(server) {
  return {
    title: `Weight of ${short(server.object)}`,
    verb: "Set the weight",
    options: { weight: { label: "Weight", type: "range", min: 0, max: 256, step: 1 } },
    initial: { weight: server.weight },
    call: ({ weight }) => ({ method: "PUT", path: runtime(server), body: { weight } }),
    plan: ({ weight }) => ({
      changes: [{ object: server.object, member: "weight", old: server.weight, new: weight }],
      reload: false,
      notes: [share(server, weight), KEPT],
    }),
    done: () => `${short(server.object)} has its new weight.`,
  };
}

/** Take a server out of service without a failed request: start an operation that ends when the server has no sessions. */
export function drain(server) {
  return {
    title: `Drain ${short(server.object)}`,
    verb: "Drain",
    options: {
      then: { label: "When it is idle", choices: [["nothing", "leave it drained"], ["maint", "put it into maintenance"]] },
      timeout: { label: "Wait for at most", choices: [["1m", "1 minute"], ["5m", "5 minutes"], ["30m", "30 minutes"], ["4h", "4 hours"]] },
      at_timeout: { label: "At the timeout", choices: [["stay", "leave it drained"], ["restore", "put it back into service"], ["cut", "end its sessions"]] },
    },
    initial: { then: "maint", timeout: "5m", at_timeout: "stay" },
    call: (options) => ({ method: "POST", path: "v3/sidecar/drains", body: { targets: [server.object], ...options } }),
    plan: ({ then }) => ({
      changes: [{ object: server.object, member: "admin_state", old: server.admin_state, new: then === "maint" ? "drain, then maint" : "drain" }],
      reload: false,
      notes: [loss(server), sessions(server)],
    }),
    done: () => `${short(server.object)} is being drained. Its progress is shown at the top.`,
  };
}

export function cancelOperation(operation) {
  return {
    title: `Cancel operation ${operation.id}`,
    verb: "Cancel operation",
    call: () => ({ method: "DELETE", path: `v3/sidecar/operations/${segment(operation.id)}` }),
    plan: () => ({ reload: false, notes: [operation.kind === "drain" ? "The servers stay as they are now. Put them into service one by one." : "It stops where it is."] }),
    done: () => `Operation ${operation.id} is cancelled.`,
  };
}

export function confirm(confirmation) {
  return {
    title: "Keep the unconfirmed change",
    verb: "Confirm",
    call: () => ({ method: "POST", path: `v3/sidecar/confirmations/${segment(confirmation.id)}/confirm` }),
    plan: async () => ({ ...(await ofEntries(confirmation, false)), reload: false, notes: ["The change stays and is no longer rolled back automatically."] }),
    done: () => "The change is confirmed.",
  };
}

export function takeBack(confirmation) {
  return {
    title: "Roll back the unconfirmed change",
    verb: "Roll back",
    danger: true,
    call: () => ({ method: "DELETE", path: `v3/sidecar/confirmations/${segment(confirmation.id)}` }),
    plan: async () => ({ ...(await ofEntries(confirmation, true)), notes: ["Changes that others made meanwhile stay."] }),
    done: () => "The change was rolled back.",
  };
}

export function revert(entry) {
  return {
    title: `Revert change ${entry.id}`,
    verb: "Revert",
    danger: true,
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "" },
    call: ({ confirm: time }) => ({ method: "POST", path: `v3/sidecar/history/${segment(entry.id)}/revert`, query: { confirm: time } }),
    plan: async () => {
      const whole = await get(`v3/sidecar/history/${segment(entry.id)}`);
      return { changes: swapped(whole.effects), diff: reversed(whole.diff), notes: ["Only this change is reverted. Later changes stay."] };
    },
    done: ({ status, headers }) => (status === 202 ? `Change ${entry.id} is reverted in the file; reload ${headers.get("Reload-Id")} makes it take effect.` : `Change ${entry.id} is reverted.`),
  };
}

/** Return the configuration and the stored files to their state after a change. */
export function restore(entry) {
  return {
    title: `Restore the state after change ${entry.id}`,
    verb: "Restore",
    danger: true,
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "" },
    call: ({ confirm: time }) => ({ method: "POST", path: `v3/sidecar/history/${segment(entry.id)}/restore`, query: { confirm: time } }),
    plan: async () => {
      const [newest] = await get("v3/sidecar/history", { query: { limit: "1" } });
      const diff = newest && newest.id !== entry.id ? await get(`v3/sidecar/history/${segment(newest.id)}/diff`, { query: { from: entry.id } }) : "";
      return { diff: reversed(diff), notes: [diff ? "Every later change is rolled back with it." : "The configuration is the same. Stored files are compared when you restore them."] };
    },
    done: ({ body }) => (body.changes ? `The state after change ${entry.id} is restored.` : "Nothing was different."),
  };
}

export function reload() {
  return {
    title: "Reload HAProxy",
    verb: "Reload",
    call: () => ({ method: "POST", path: "v3/sidecar/reloads" }),
    plan: () => ({ reload: true, notes: ["A new worker loads the configuration. The current one continues until its last connection ends."] }),
    done: () => "The reload has begun. The top bar shows its progress.",
  };
}

export function endWorker(worker) {
  const open = Object.values(worker.sessions ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    title: `End worker ${worker.pid}`,
    verb: "End",
    danger: true,
    options: { below: { label: "When", choices: [["", "at once"], ["10", "fewer than 10 sessions are open"], ["2", "fewer than 2 sessions are open"]] } },
    initial: { below: "" },
    call: ({ below }) => ({ method: "DELETE", path: `v3/sidecar/workers/${worker.pid}`, query: { when_sessions_below: below } }),
    plan: ({ below }) => ({ reload: false, notes: [below ? `Open now: ${counted(open, "session")}. The remaining ones are ended.` : `This ends ${counted(open, "open session")}.`, "The worker gets no signal: without sessions, it exits by itself."] }),
    done: () => `Worker ${worker.pid} is being ended.`,
  };
}

/** Remove all overrides of one server. */
export function removeOverrides(override, all) {
  const [, backend, , name] = parse(override.object);
  return {
    title: `Remove the overrides of ${short(override.object)}`,
    verb: "Remove",
    call: () => ({ method: "DELETE", path: `v3/sidecar/overrides/backend/${segment(backend)}/server/${segment(name)}` }),
    plan: () => ({ changes: all.filter((each) => each.object === override.object).map((each) => ({ ...each, old: each.value, new: each.former })), reload: false }),
    done: () => `${short(override.object)} has the values of the configuration.`,
  };
}

export function deleteServer(server) {
  return {
    title: `Delete ${short(server.object)}`,
    verb: "Delete",
    danger: true,
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "" },
    plan: async ({ confirm: time }) => {
      const plan = await inTransaction([{ method: "DELETE", path: `${CONFIG}backends/${segment(server.backend)}/servers/${segment(server.name)}` }], time);
      const open = state.counters.get(server.object)?.scur ?? 0;
      return { ...plan, notes: [loss(server), open ? `Open: ${counted(open, "session")}. Drain it first to let them end.` : "No session is open."] };
    },
    done: outcome(`${short(server.object)} is deleted`),
  };
}

export const outcome = (text) => ({ status, headers }) => (status === 202 ? `${text} in the file; reload ${headers.get("Reload-Id")} makes it take effect.` : `${text}.`);

/** Plan edits of the configuration in a transaction, which the call of the plan commits. The `edit` of an error is the refused edit. */
export async function inTransaction(edits, confirm) {
  const { id } = await post("v3/services/haproxy/transactions", undefined, { query: { version: String(await get(`${CONFIG}version`)) } });
  const path = `v3/services/haproxy/transactions/${segment(id)}`, discard = () => remove(path).catch(() => {});
  try {
    for (const edit of edits) {
      await call(edit.method, edit.path, { body: edit.body, query: { transaction_id: id } }).catch((error) => {
        throw Object.assign(error, { edit });
      });
    }
    const { effects, diff, commands, reasons, reload, messages, valid } = await post("v3/sidecar/plan", undefined, { query: { transaction_id: id } });
    return { changes: effects, diff, commands, reasons, reload, messages, isRefused: !valid, discard, call: { method: "PUT", path, query: { confirm } } };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Load the effects of an unconfirmed change. */
async function ofEntries({ id: confirmation }, back) {
  const { entries: ids = [] } = await get(`v3/sidecar/confirmations/${segment(confirmation)}`);
  const entries = await Promise.all(ids.map((id) => get(`v3/sidecar/history/${segment(id)}`)));
  const effects = entries.flatMap((entry) => entry.effects ?? []);
  return {
    changes: back ? swapped(effects) : effects,
    diff: entries.map((entry) => (back ? reversed(entry.diff) : entry.diff)).join(""),
  };
}

const swapped = (effects) => (effects ?? []).map((each) => ({ ...each, old: each.new, new: each.old }));

/** Swap the two sides of a unified diff. */
function reversed(diff) {
  const turned = { "+": "-", "-": "+" };
  const lines = (diff ?? "").split("\n").map((line) => {
    if (line.startsWith("+++ ") || line.startsWith("--- ")) return line;
    if (line.startsWith("@@")) return line.replace(/-(\S+) \+(\S+)/, "-$2 +$1");
    return turned[line[0]] ? turned[line[0]] + line.slice(1) : line;
  });
  // Removed lines come before added ones.
  return lines.join("\n").replace(/((?:^\+(?!\+\+ ).*\n)+)((?:^-(?!-- ).*\n)+)/gm, "$2$1");
}

/** Say how many servers of the backend stay up without this one. */
function loss(server) {
  const { counts, total } = health(state, server.backend);
  const left = counts.up - (condition(server) === "up" ? 1 : 0);
  return left ? `${left} of ${total} servers of ${server.backend} stay up.` : `No other server of ${server.backend} is up: its requests would be answered 503.`;
}

function sessions(server) {
  const open = state.counters.get(server.object)?.scur;
  return open === undefined ? "The sessions of all HAProxy processes count." : `Open: ${counted(open, "session")} in the current process. Sessions of former processes count, too.`;
}

function share(server, weight) {
  const others = serversOf(state, server.backend).filter((each) => each !== server && condition(each) === "up").reduce((sum, each) => sum + each.weight, 0);
  if (!weight) return "It gets no new requests.";
  return `It gets about ${Math.round((100 * weight) / (others + weight))} % of the requests of ${server.backend} (${addressOf(server)}).`;
}
