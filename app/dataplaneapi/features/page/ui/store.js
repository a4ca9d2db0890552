// What the page knows: the present state from the stream's snapshot, kept current by events, and what is asked for when it may have changed.

import { useEffect, useState } from "./vendor/preact.js";
import { get } from "./api.js";
import { follow, past } from "./events.js";
import { parse, short, spell } from "./names.js";
import { Series, pastOf } from "./series.js";

const TYPES = "server,config,reload,worker,certificate,storage,operation,confirmation,stats";
// A tab that nobody sees gives its connection back: a browser has six for one server, and they are for all tabs.
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
    // By name: {object, backend, name, operational_state, admin_state, weight, address, port}.
    servers: new Map(),
    // Names of servers' objects, by backend.
    serversOf: new Map(),
    // Counters by object, 0 where one is missing; their last minutes, and what the server has recorded of the hour before.
    counters: new Map(),
    series: new Map(),
    past: new Map(),
    // How many seconds the plots of one object show.
    range: 120,
    ready: false,
    // Sections of the configuration: null while they are not known.
    frontends: null,
    backends: null,
    confirmation: null,
    // The last question about a request, with its answer: {question, answer, error, loading}.
    explained: null,
    // Texts of sections that are edited and not committed: {base, mine} by the section's id.
    drafts: new Map(),
    operations: new Map(),
    // The last events without counters, the newest first.
    feed: [],
    // What has ended while it was watched, until it is dismissed where it was bad: {id, bad, text, href}.
    notices: [],
    // Rises with each change of the configuration, so that views ask again.
    changes: 0,
    refused: {},
  };
}

/** Calls the component again when one of these topics changes. */
export function useStore(...topics) {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((count) => count + 1);
    for (const topic of topics) listen(topic).add(listener);
    return () => topics.forEach((topic) => listen(topic).delete(listener));
  }, topics);
  return state;
}

/** The functions that are called when a topic changes. */
export function listen(topic) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  return listeners.get(topic);
}

/** Tells those who use the topics, once for all changes of a moment. */
export function touch(...topics) {
  topics.forEach((topic) => changed.add(topic));
  if (scheduled) return;
  scheduled = true;
  // Not requestAnimationFrame, which stands still in a tab that is not seen.
  setTimeout(() => {
    scheduled = false;
    const called = new Set([...changed].flatMap((topic) => [...listen(topic)]));
    changed.clear();
    called.forEach((listener) => listener());
  }, 16);
}

/** Begins to follow the server; `onRefused` is called where the caller may not. */
export async function begin(onRefused) {
  connect(onRefused);
  document.addEventListener("visibilitychange", onVisibility);
  hiddenTimer = setInterval(() => restWhileHidden(), 5_000);
  Object.keys(asked).filter((what) => what !== "caller").forEach(refreshOnce);
  await asked.caller();
}

// Texts that were not committed when a session ended: {name, drafts}. Who signs in again has them back, and nobody else.
let kept = null;

const userOf = ({ creator, name }) => creator ?? name;

/** Each call that is refused says that the session has ended. */
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

/** Asks for the counters of all servers, or no longer: they are most of the work, for HAProxy as well. */
export function countServers(wanted) {
  counted = wanted ? "" : PROXIES;
  if (!stream || !state.ready || counted === following) return;
  const last = stream.last();
  stream.stop();
  connect(refusedAgain, wanted ? "" : last);
}

/** The hour that the server has recorded of one object. */
export async function loadHour(object, signal) {
  const kind = object.includes("/server/") ? "server" : object.split("/")[0];
  const found = pastOf(await get("v3/sidecar/stats_history", { query: { object, counters: kind }, signal }));
  if (found.has(object)) state.past.set(object, found.get(object));
  touch("stats");
}

/** The recorded requests of all frontends and backends, as far back as the lines of their rows go. */
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

/** The counters of the servers of one backend, once. */
export async function loadCounters(backend, signal) {
  const { stats = [] } = await get("v3/services/haproxy/stats/native", { query: { type: "server", parent: backend }, signal });
  const now = Date.now() / 1000;
  for (const { name, stats: row } of stats) setCounters(spell("backend", backend, "server", name), row, now);
  touch("stats");
}

export const retryNow = () => stream?.retryNow();

const PROXIES = "frontend,backend";
// What is wanted, and what the stream has.
let counted = PROXIES, following = PROXIES;
let restedAt = "", hiddenTimer, refusedAgain = () => {};

function connect(onRefused = refusedAgain, after = "") {
  refusedAgain = onRefused;
  // States come first: with the counters of thousands of servers a snapshot takes several times as long.
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
    // What happened while nobody told of it is known to the server alone.
    if (data.lost) {
      state.series.clear();
      state.past.clear();
    }
    if (data.lost || !state.ready) loadRequests();
    const now = Date.now() / 1000;
    const counted = new Set(data.stats?.map((each) => each.object));
    for (const object of state.counters.keys()) if (!counted.has(object) && !state.servers.has(object)) forget(object);
    for (const { object, counters } of data.stats ?? []) {
      // What it does not name is 0.
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

// Types of events in the feed, and which of their events are: an operation when it has ended.
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

/** The events of the last day that the server still has, of before this page was opened. */
export async function loadFeed(signal) {
  feed(await past({ types: Object.keys(FED).join() }, "24h", signal));
}

/** Soon after a change, and once a second where there are many. */
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

/** Work that is running is kept; what ends while it is watched is told of. */
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

// What no event says is asked for.
const asked = {
  async caller() {
    state.caller = await get("v3/sidecar/whoami");
    if (kept?.name === userOf(state.caller)) state.drafts = kept.drafts;
    kept = null;
    touch("caller");
  },

  /** Of no fleet nothing is asked. */
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
    // An event that arrives first is newer than the answer.
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

/** Asks again for what no event says, such as the sections. */
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
