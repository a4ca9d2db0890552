// Some counters of one object over time: the last minutes that this tab has seen, in rings of a fixed size, and before them the samples of the
// server.

const LONG = 180, SHORT = 60;
const PLOTTED = ["rate", "scur", "errors", "rtime", "queue"];

/** Return the errors of a row: responses with 5xx, and failed connections and responses. */
export const errorsOf = (row) => (row.hrsp_5xx ?? 0) + (row.econ ?? 0) + (row.eresp ?? 0);

/** Return the requests per second, or the sessions per second if requests are not counted. */
export const rateOf = (row) => row.req_rate ?? row.rate ?? 0;

export class Series {
  #length;
  #errors = null;

  constructor(isServer) {
    this.#length = isServer ? SHORT : LONG;
    this.times = [];
    this.values = Object.fromEntries(PLOTTED.map((name) => [name, []]));
  }

  /** Add a row of counters at a time in seconds. A row arrives when it changes, at most once a second. */
  add(time, row) {
    const last = this.times.at(-1) ?? 0;
    if (time <= last) return;
    const errors = errorsOf(row), more = this.#errors === null ? 0 : Math.max(0, errors - this.#errors);
    this.#errors = errors;
    if (this.times.length && time - last > 2) this.#push(time - 1, this.#unchanged());
    const seconds = Math.max(1, Math.min(time - last, 2));
    this.#push(time, { rate: rateOf(row), scur: row.scur ?? 0, errors: more / seconds, rtime: row.rtime ?? 0, queue: row.qcur ?? 0 });
  }

  /** Return [times, values] up to now. */
  data(name, now = Date.now() / 1000) {
    const last = this.times.at(-1);
    if (last === undefined) return [[now - 1, now], [0, 0]];
    if (now - last < 1) return [this.times, this.values[name]];
    return [[...this.times, now], [...this.values[name], this.#unchanged()[name]]];
  }

  /** Return the current errors per second. */
  errorRate(now = Date.now() / 1000) {
    return now - (this.times.at(-1) ?? 0) > 2.5 ? 0 : (this.values.errors.at(-1) ?? 0);
  }

  #unchanged() {
    return { ...Object.fromEntries(PLOTTED.map((name) => [name, this.values[name].at(-1)])), errors: 0 };
  }

  #push(time, values) {
    this.times.push(time);
    for (const name of PLOTTED) this.values[name].push(values[name]);
    if (this.times.length <= this.#length) return;
    this.times.shift();
    for (const name of PLOTTED) this.values[name].shift();
  }
}

/** Classes of errors, by their names in `stats_history_row`. */
const CLASSES = { errors_4xx: "4xx", errors_5xx: "5xx", connection_errors: "connections", response_errors: "responses" };

/** Return the samples of `GET stats_history` by object: {times, values, classes}. A gap has a point without a value. */
export function pastOf(rings) {
  const found = new Map();
  for (const { interval, times, rows } of rings) {
    const breaks = times.map((time, index) => index > 0 && time - times[index - 1] > 2.2 * interval);
    const spread = (values) => values?.flatMap((value, index) => (breaks[index] ? [null, value] : [value]));
    const spreadTimes = times.flatMap((time, index) => (breaks[index] ? [times[index - 1] + interval, time] : [time]));
    for (const row of rows) {
      const values = { rate: spread(row.requests), scur: spread(row.sessions), errors: spread(errorsIn(row)), rtime: spread(row.response_time), queue: spread(row.queue) };
      const classes = Object.keys(CLASSES).filter((name) => row[name]).map((name) => [CLASSES[name], spread(row[name])]);
      found.set(row.object, { interval, times: spreadTimes, values, classes });
    }
  }
  return found;
}

/** Return the same errors as `errorsOf`, per second. */
function errorsIn(row) {
  const classes = [row.errors_5xx, row.connection_errors, row.response_errors].filter(Boolean);
  return classes[0]?.map((_, index) => {
    const known = classes.map((each) => each[index]).filter((each) => each !== null);
    return known.length ? known.reduce((sum, each) => sum + each, 0) : null;
  });
}

/** Return [times, values]: the samples of the server before the first point of this tab, then the points of this tab. */
export function joined(past, live, name) {
  const [times, values] = live?.data(name) ?? [[], []], recorded = past?.values[name];
  if (!recorded) return [times, values];
  const count = past.times.findIndex((time) => time >= (times[0] ?? Infinity));
  const before = past.times.slice(0, count < 0 ? undefined : count);
  return [[...before, ...times], [...recorded.slice(0, before.length), ...values]];
}

/** Return the errors per second of each class, as [class, number], at the sample next to a time, or at the last one. */
export function classesAt(past, time = Infinity) {
  if (!past?.times.length) return [];
  const after = past.times.findIndex((each) => each >= time), index = after < 0 ? past.times.length - 1 : after;
  return past.classes.map(([name, values]) => [name, values[index]]).filter(([, value]) => value !== null);
}
