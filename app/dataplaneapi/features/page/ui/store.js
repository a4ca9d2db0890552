// The state of the page: the snapshot of the event stream, updated by events, and what is loaded again after changes.

import { useEffect, useState } from "./vendor/preact.js";
import { get } from "./api.js";
import { follow, past } from "./events.js";
import { parse, short, spell } from "./names.js";
import { Series, pastOf } from "./series.js";

const TYPES = "server,config,reload,worker,certificate,storage,operation,confirmation,stats";
// A hidden tab closes its connection after this time: a browser has six connections to a server, for all tabs.
const HIDDEN = 20_000;
const CONFIG = "v3/services/haproxy/configuration/";

export const KINDS = { drain: "Drain", reload: "Reload", end_worker: "End of a worker" };
const MOST_NOTICES = 5, NOTICED = 10_000;

const listeners = new Map();
const changed = new Set();
let scheduled = false, stream = null, hiddenSince = 0;

export const state = empty();

function empty() {
  return {
    caller: null,
    connection: { is: "connecting" },
    version: null,
    worker: null,
    pendingReload: null,
    linesToAdd: {},
    isInFleet: false,
    // By object: {object, backend, name, operational_state, admin_state, weight, address, port}.
    servers: new Map(),
    // The objects of servers by backend.
    serversOf: new Map(),
    // Counters by object, where a missing one is 0; their last minutes; and the samples of the server for the last hour.
    counters: new Map(),
    series: new Map(),
    past: new Map(),
    // The time range of the plots of one object, in seconds.
    range: 120,
    ready: false,
    // Sections of the configuration; null until they are loaded.
    frontends: null,
    backends: null,
    confirmation: null,
    // The last question about a request, with its answer: {question, answer, error, loading}.
    explained: null,
    // Uncommitted texts: {base, mine} by the id of the section.
    drafts: new Map(),
    operations: new Map(),
    // The last events other than counters, the newest first.
    feed: [],
    // Notices of what has ended while the page was open: {id, bad, text, href}. Bad ones stay until they are dismissed.
    notices: [],
    // Incremented by each change of the configuration, so that views load again.
    changes: 0,
    refused: {},
  };
}

/** Render the component again when one of these topics changes. */
export function useStore(...topics) {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((count) => count + 1);
    for (const topic of topics) listen(topic).add(listener);
    return () => topics.forEach((topic) => listen(topic).delete(listener));
  }, topics);
  return state;
}

/** Return the functions that are called when a topic changes. */
export function listen(topic) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  return listeners.get(topic);
}

/** Call the listeners of these topics soon, once for all changes until then. */
export function touch(...topics) {
  topics.forEach((topic) => changed.add(topic));
  if (scheduled) return;
  scheduled = true;
  // Not requestAnimationFrame, which is not called in a hidden tab.
  setTimeout(() => {
    scheduled = false;
    const called = new Set([...changed].flatMap((topic) => [...listen(topic)]));
    changed.clear();
    called.forEach((listener) => listener());
  }, 16);
}

/** Start to follow the server. `onRefused` is called if the caller may not do that. */
export async function begin(onRefused) {
  connect(onRefused);
  document.addEventListener("visibilitychange", onVisibility);
  hiddenTimer = setInterval(() => restWhileHidden(), 5_000);
  Object.keys(asked).filter((what) => what !== "caller").forEach(refreshOnce);
  await asked.caller();
}

// The uncommitted texts of a session that has ended: {name, drafts}. The same user gets them back after the next sign-in.
let kept = null;

const userOf = ({ creator, name }) => creator ?? name;

/** Keep the uncommitted texts if the session has ended by itself. More than one call may report that. */
export function keepDrafts(isKept) {
  if (!isKept) kept = null;
  else if (state.caller) kept = { name: userOf(state.caller), drafts: state.drafts };
}

export function end() {
  stream?.stop();
  stream = null;
  clearInterval(hiddenTimer);
  restedAt = "";
  document.removeEventListener("visibilitychange", onVisibility);
  Object.assign(state, empty());
}

/** Turn the counters of all servers on or off. They are most of the work, for HAProxy too. */
export function countServers(wanted) {
  counted = wanted ? "" : PROXIES;
  if (!stream || !state.ready || counted === following) return;
  const last = stream.last();
  stream.stop();
  connect(refusedAgain, wanted ? "" : last);
}

/** Load the samples of the last hour of one object. */
export async function loadHour(object, signal) {
  const kind = object.includes("/server/") ? "server" : object.split("/")[0];
  const found = pastOf(await get("v3/sidecar/stats_history", { query: { object, counters: kind }, signal }));
  if (found.has(object)) state.past.set(object, found.get(object));
  touch("stats");
}

/** Load the recent requests of all frontends and backends for the plots in their rows. */
async function loadRequests() {
  const query = { counters: PROXIES, measures: "requests", since: "2m" };
  const found = pastOf(await get("v3/sidecar/stats_history", { query }).catch(() => []));
  for (const [object, past] of found) if (!state.past.has(object)) state.past.set(object, past);
  touch("stats");
}

export function setRange(seconds) {
  state.range = seconds;
  touch("range");
}

/** Load the counters of the servers of one backend. */
export async function loadCounters(backend, signal) {
  const { stats = [] } = await get("v3/services/haproxy/stats/native", { query: { type: "server", parent: backend }, signal });
  const now = Date.now() / 1000;
  for (const { name, stats: row } of stats) setCounters(spell("backend", backend, "server", name), row, now);
  touch("stats");
}

export const retryNow = () => stream?.retryNow();

const PROXIES = "frontend,backend";
// The counters that are wanted, and those of the stream.
let counted = PROXIES, following = PROXIES;
let restedAt = "", hiddenTimer, refusedAgain = () => {};

function connect(onRefused = refusedAgain, after = "") {
  refusedAgain = onRefused;
  // The first snapshot has no counters of servers: with thousands of servers it would take several times as long.
  following = state.ready ? counted : PROXIES;
  stream = follow(
    { types: TYPES, counters: following, zeros: "false" },
    {
      onEvent,
      onRefused,
      onState(is, reason, next) {
        if (is === "live" && state.connection.is === "retrying") refreshAll();
        state.connection = { is, reason, next };
        touch("connection");
      },
    },
    after,
  );
}

function onVisibility() {
  hiddenSince = document.hidden ? Date.now() : 0;
  if (!document.hidden && !stream && restedAt) connect(refusedAgain, restedAt);
}

function restWhileHidden() {
  if (!stream || !hiddenSince || Date.now() - hiddenSince < HIDDEN) return;
  restedAt = stream.last();
  stream.stop();
  stream = null;
  state.connection = { is: "resting" };
  touch("connection");
}

const handlers = {
  snapshot({ data }) {
    state.version = data.version ?? state.version;
    state.worker = data.worker ?? state.worker;
    state.pendingReload = data.reload_pending ?? null;
    state.linesToAdd = data.lines_to_add ?? {};
    if (data.servers) {
      state.servers = new Map();
      state.serversOf = new Map();
      data.servers.forEach(({ object, ...members }) => setServer(object, members));
    }
    // Only the server knows the time in which events were lost.
    if (data.lost) {
      state.series.clear();
      state.past.clear();
    }
    if (data.lost || !state.ready) loadRequests();
    const now = Date.now() / 1000;
    const counted = new Set(data.stats?.map((each) => each.object));
    for (const object of state.counters.keys()) if (!counted.has(object) && !state.servers.has(object)) forget(object);
    for (const { object, counters } of data.stats ?? []) {
      // Missing counters are 0.
      state.counters.delete(object);
      setCounters(object, counters, now);
    }
    if (state.ready) refreshAll();
    state.ready = true;
    touch("servers", "stats", "version", "reload", "worker", "ready");
    countServers(counted !== PROXIES);
  },

  server({ object, data }) {
    if (data.change === "deleted") removeServer(object);
    else setServer(object, data);
    touch("servers");
  },

  stats({ object, time, data }) {
    setCounters(object, data.counters, Date.parse(time) / 1000);
    touch("stats");
  },

  config({ data }) {
    state.version = data.version ?? state.version;
    if (data.reload_id) state.pendingReload = data.reload_id;
    noteChange();
    touch("version", "reload");
  },

  certificate: noteChange,
  storage: noteChange,

  reload({ data }) {
    if (state.pendingReload === data.id) state.pendingReload = null;
    if (data.status === "failed") notice({ id: `reload/${data.id}`, bad: true, text: `Reload ${data.id} has failed. HAProxy continues with the previous configuration.`, href: `#/reloads/${data.id}` });
    refreshOnce("pending");
    noteChange();
    touch("reload");
  },

  worker({ data }) {
    state.worker = data.pid;
    noteChange();
    touch("worker");
  },

  operation({ data }) {
    setOperation(data);
  },

  confirmation({ data }) {
    confirmationEvents += 1;
    setConfirmation(data);
    noteChange();
  },
};

function onEvent(event) {
  if (event.type in FED) feed([event]);
  handlers[event.type]?.(event);
}

// The types of events in the feed. An operation is added when it has ended.
const FED = { server: always, config: always, certificate: always, storage: always, reload: always, worker: always, confirmation: always, operation: ({ data }) => data.status !== "running" };
const MOST_FED = 500;

function always() {
  return true;
}

function feed(events) {
  const known = new Map([...state.feed, ...events.filter((each) => FED[each.type](each))].map((each) => [each.id, each]));
  state.feed = [...known.values()].sort((a, b) => b.id - a.id).slice(0, MOST_FED);
  touch("feed");
}

/** Load the events of the last day that the server still has. */
export async function loadFeed(signal) {
  feed(await past({ types: Object.keys(FED).join() }, "24h", signal));
}

/** Load again soon after a change, at most once a second. */
function noteChange() {
  noted ??= setTimeout(() => {
    noted = undefined;
    lastNoted = Date.now();
    state.changes += 1;
    touch("changes");
    refreshOnce("sections");
  }, Math.max(200, lastNoted + 1_000 - Date.now()));
}

function setServer(object, { change, former, ...members }) {
  const known = state.servers.get(object);
  if (known) Object.assign(known, members);
  else {
    const [, backend, , name] = parse(object);
    state.servers.set(object, { object, backend, name, ...members });
    if (!state.serversOf.has(backend)) state.serversOf.set(backend, new Set());
    state.serversOf.get(backend).add(object);
  }
}

function removeServer(object) {
  state.serversOf.get(state.servers.get(object)?.backend)?.delete(object);
  state.servers.delete(object);
  forget(object);
}

function forget(object) {
  state.counters.delete(object);
  state.series.delete(object);
  state.past.delete(object);
}

function setCounters(object, counters, time) {
  const known = state.counters.get(object);
  if (known) Object.assign(known, counters);
  else state.counters.set(object, { ...counters });
  let series = state.series.get(object);
  if (!series) state.series.set(object, (series = new Series(state.servers.has(object))));
  series.add(time, state.counters.get(object));
}

/** Store a running operation. If one ends, show a notice. */
function setOperation(data) {
  const was = state.operations.get(data.id);
  if (data.status === "running") state.operations.set(data.id, data);
  else state.operations.delete(data.id);
  if (was && data.status !== "running") {
    const targets = Object.keys(data.progress?.sessions ?? {}).map(short).join(", ");
    const ending = { succeeded: "is done", failed: `has failed: ${data.error ?? "no reason is known"}`, cancelled: "was cancelled" }[data.status];
    notice({ id: `operation/${data.id}`, bad: data.status === "failed", text: `${KINDS[data.kind] ?? data.kind}${targets ? ` of ${targets}` : ""} ${ending}.` });
  }
  touch("operations");
}

function notice(made) {
  state.notices = [made, ...state.notices.filter((each) => each.id !== made.id)].slice(0, MOST_NOTICES);
  if (!made.bad) setTimeout(() => dismiss(made.id), NOTICED);
  touch("notices");
}

export function dismiss(id) {
  state.notices = state.notices.filter((each) => each.id !== id);
  touch("notices");
}

function setConfirmation(data) {
  const waits = data.status === "open" || data.status === "pending";
  if (!waits && state.confirmation?.id === data.id) {
    const text = { confirmed: "The change was confirmed.", returned: "The unconfirmed change was rolled back.", failed: `The unconfirmed change could not be rolled back: ${data.error ?? "no reason is known"}` }[data.status];
    if (text) notice({ id: `confirmation/${data.id}`, bad: data.status === "failed", text });
  }
  if (waits || state.confirmation?.id === data.id) {
    state.confirmation = waits ? { ...data, until: Date.now() + (data.seconds_left ?? 0) * 1000 } : null;
  }
  touch("confirmation");
}

// What events do not contain is loaded by these functions.
const asked = {
  async caller() {
    state.caller = await get("v3/sidecar/whoami");
    if (kept?.name === userOf(state.caller)) state.drafts = kept.drafts;
    kept = null;
    touch("caller");
  },

  /** Without a fleet, the page makes no call to its API. */
  async fleet() {
    state.isInFleet = (await get("ui/views.json")).fleet;
    touch("fleet");
  },

  async sections() {
    const [frontends, backends] = await Promise.all([
      get(`${CONFIG}frontends`, { query: { full_section: "true" } }),
      get(`${CONFIG}backends`),
    ]);
    state.frontends = frontends;
    state.backends = backends;
    touch("sections");
  },

  async confirmation() {
    let before, newest;
    // An event that arrives before the answer is newer.
    do {
      before = confirmationEvents;
      [newest] = await get("v3/sidecar/confirmations", { query: { limit: "1" } });
    } while (before !== confirmationEvents);
    if (newest) setConfirmation(newest);
    touch("confirmation");
  },

  async operations() {
    const running = await get("v3/sidecar/operations", { query: { status: "running" } });
    const known = new Set(running.map((each) => each.id));
    for (const id of state.operations.keys()) if (!known.has(id)) setOperation(await get(`v3/sidecar/operations/${id}`));
    running.forEach(setOperation);
  },

  async pending() {
    const waiting = (await get("v3/services/haproxy/reloads")).find((each) => each.status === "in_progress");
    state.pendingReload = waiting?.id ?? null;
    touch("reload");
  },
};
const due = new Map();
let noted, lastNoted = 0, confirmationEvents = 0;

/** Load something again that events do not contain, such as the sections. */
export const refresh = (what) => refreshOnce(what);

function refreshSoon(what) {
  if (!due.has(what)) due.set(what, setTimeout(() => refreshOnce(what), 250));
}

async function refreshOnce(what) {
  clearTimeout(due.get(what));
  due.delete(what);
  try {
    await asked[what]();
    delete state.refused[what];
  } catch (error) {
    if (error.status) state.refused[what] = error.message;
    touch(what);
  }
}

function refreshAll() {
  Object.keys(asked).forEach(refreshSoon);
  state.changes += 1;
  touch("changes");
}
