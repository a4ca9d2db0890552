// The meaning of the state: pure functions of the state in store.js.

import { spell } from "./names.js";

/** Return the condition of a server: up, down, drain, maint, stopping or unknown. */
export function condition(server) {
  if (server.admin_state === "maint" || server.admin_state === "drain") return server.admin_state;
  return server.operational_state;
}

export const CONDITIONS = {
  up: "Up",
  down: "Down",
  drain: "Draining",
  maint: "Maintenance",
  stopping: "Stopping",
  unknown: "Unknown",
  degraded: "Degraded",
  none: "No servers",
  loading: "Loading",
};

/** Return the servers of a backend in HAProxy's order. */
export const serversOf = (state, backend) => [...(state.serversOf.get(backend) ?? [])].map((object) => state.servers.get(object));

/** Return the number of servers by condition, and the condition of the backend. */
export function health(state, backend) {
  const counts = { up: 0, drain: 0, maint: 0, stopping: 0, down: 0, unknown: 0 };
  let total = 0;
  for (const object of state.serversOf.get(backend) ?? []) {
    counts[condition(state.servers.get(object))] += 1;
    total += 1;
  }
  const is = !state.ready ? "loading" : !total ? "none" : counts.up === total ? "up" : counts.up === 0 && counts.down > 0 ? "down" : counts.down > 0 ? "degraded" : counts.up ? "up" : "maint";
  return { counts, total, is };
}

/** Return the names of all backends: those of the configuration, in its order, then others of the process. */
export function backendNames(state) {
  const names = (state.backends ?? []).map((each) => each.name);
  const known = new Set(names);
  for (const name of state.serversOf.keys()) if (!known.has(name)) names.push(name);
  return names;
}

/** Return where a frontend sends requests: {backend, when}, or {computed, when} if an expression names the backend. */
export function routes(frontend) {
  const rules = (frontend.backend_switching_rule_list ?? []).map(({ name, cond, cond_test }) => ({
    ...(name.includes("%[") ? { computed: name } : { backend: name }),
    when: cond ? `${cond} ${cond_test}` : "always",
  }));
  const rest = frontend.default_backend;
  return rest ? [...rules, { ...(rest.includes("%[") ? { computed: rest } : { backend: rest }), when: "otherwise" }] : rules;
}

export const addressesOf = (frontend) =>
  Object.values(frontend.binds ?? {}).map(({ address, port, port_range_end }) =>
    `${address ?? "*"}${port ? `:${port}` : ""}${port_range_end ? `-${port_range_end}` : ""}`);

export const counters = (state, ...object) => state.counters.get(spell(...object)) ?? {};
export const series = (state, ...object) => state.series.get(spell(...object));

export const addressOf = (server) => (server.port ? `${server.address}:${server.port}` : server.address);

// Descriptions of check results (HAProxy Management Guide, 9.1).
const CHECKS = {
  HANA: "too many errors in traffic",
  SOCKERR: "socket error",
  L4OK: "connection accepted",
  L4TOUT: "connection timed out",
  L4CON: "connection refused or no route",
  L6OK: "TLS handshake succeeded",
  L6TOUT: "TLS handshake timed out",
  L6RSP: "invalid TLS response",
  L7OK: "valid response",
  L7OKC: "valid response, no new sessions",
  L7TOUT: "response timed out",
  L7RSP: "invalid response",
  L7STS: "response reports an error",
  PROCERR: "external check failed",
  PROCTOUT: "external check timed out",
  PROCOK: "external check succeeded",
};

/** Describe a check result: "L4CON: connection refused or no route". */
export const checkText = (status) => (CHECKS[status] ? `${status}: ${CHECKS[status]}` : status);

/** Describe the last check of a server, with HAProxy's output; '' without checks. HAProxy marks a check in progress with an asterisk. */
export function checkOf({ check_status: status, check_code: code, last_chk: output }) {
  if (!status) return "";
  return [checkText(status.replace(/^\* /, "")), code && `status ${code}`, output].filter(Boolean).join(", ");
}
