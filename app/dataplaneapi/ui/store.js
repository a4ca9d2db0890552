// What the page knows: the present state from the stream's snapshot, kept current by events, and what is asked for when it may have changed.

import { useEffect, useState } from "./vendor/preact.js";
import { get } from "./api.js";
import { follow } from "./events.js";
import { parse } from "./names.js";
import { Series } from "./series.js";

const TYPES = "server,config,reload,worker,certificate,storage,operation,confirmation,stats";
// A tab that nobody sees gives its connection back: a browser has six for one server, and they are for all tabs.
const HIDDEN = 20_000;
const CONFIG = "v3/services/haproxy/configuration/";

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
    // By name: {object, backend, name, operational_state, admin_state, weight, address, port}.
    servers: new Map(),
    // Names of servers' objects, by backend.
    serversOf: new Map(),
    // Counters by object, and their last minutes.
    counters: new Map(),
    series: new Map(),
    ready: false,
    // Sections of the configuration: null while they are not known.
    frontends: null,
    backends: null,
    confirmation: null,
    operations: new Map(),
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

function listen(topic) {
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
  state.caller = await get("v3/sidecar/whoami");
  touch("caller");
  connect(onRefused);
  document.addEventListener("visibilitychange", onVisibility);
  hiddenTimer = setInterval(() => restWhileHidden(), 5_000);
  refreshOnce("sections");
  refreshOnce("confirmation");
  refreshOnce("operations");
}

export function end() {
  stream?.stop();
  stream = null;
  clearInterval(hiddenTimer);
  document.removeEventListener("visibilitychange", onVisibility);
  Object.assign(state, empty());
}

export const retryNow = () => stream?.retryNow();

let hiddenTimer, refusedAgain = () => {};

function connect(onRefused = refusedAgain) {
  refusedAgain = onRefused;
  stream = follow(
    { types: TYPES },
    {
      onEvent,
      onRefused,
      onState(is, reason, next) {
        if (is === "live" && state.connection.is === "retrying") refreshAll();
        state.connection = { is, reason, next };
        touch("connection");
      },
    },
  );
}

function onVisibility() {
  hiddenSince = document.hidden ? Date.now() : 0;
  if (!document.hidden && !stream && state.caller) connect();
}

function restWhileHidden() {
  if (!stream || !hiddenSince || Date.now() - hiddenSince < HIDDEN) return;
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
    state.counters = new Map();
    const now = Date.now() / 1000;
    for (const { object, counters } of data.stats ?? []) setCounters(object, counters, now);
    state.ready = true;
    refreshAll();
    touch("servers", "stats", "version", "reload", "worker", "ready");
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
    state.lastReload = data;
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
    state.operations.set(data.id, data);
    touch("operations");
  },

  confirmation({ data }) {
    setConfirmation(data);
    noteChange();
  },
};

function onEvent(event) {
  handlers[event.type]?.(event);
}

function noteChange() {
  state.changes += 1;
  touch("changes");
  refreshSoon("sections");
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
  state.counters.delete(object);
  state.series.delete(object);
}

function setCounters(object, counters, time) {
  const known = state.counters.get(object);
  if (known) Object.assign(known, counters);
  else state.counters.set(object, { ...counters });
  let series = state.series.get(object);
  if (!series) state.series.set(object, (series = new Series(state.servers.has(object))));
  series.add(time, state.counters.get(object));
}

function setConfirmation(data) {
  const waits = data.status === "open" || data.status === "pending";
  if (waits || state.confirmation?.id === data.id) {
    state.confirmation = waits ? { ...data, until: Date.now() + (data.seconds_left ?? 0) * 1000 } : null;
  }
  state.endedConfirmation = waits ? null : data;
  touch("confirmation");
}

// What no event says is asked for.
const asked = {
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
    const [newest] = await get("v3/sidecar/confirmations", { query: { limit: "1" } });
    if (newest) setConfirmation(newest);
  },

  async operations() {
    for (const each of await get("v3/sidecar/operations", { query: { status: "running" } })) state.operations.set(each.id, each);
    touch("operations");
  },

  async pending() {
    const waiting = (await get("v3/services/haproxy/reloads")).find((each) => each.status === "in_progress");
    state.pendingReload = waiting?.id ?? null;
    touch("reload");
  },
};
const due = new Map();

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
