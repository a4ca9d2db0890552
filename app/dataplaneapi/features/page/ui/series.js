// The last minutes of a few counters of one object, in rings that do not grow.

const LONG = 180, SHORT = 60;
export const PLOTTED = ["rate", "scur", "errors", "rtime"];

/** Errors of a row: answers of 5xx, failed connections and responses. */
export const errorsOf = (row) => (row.hrsp_5xx ?? 0) + (row.econ ?? 0) + (row.eresp ?? 0);

/** Requests in a second where HTTP is counted, sessions elsewhere. */
export const rateOf = (row) => row.req_rate ?? row.rate ?? 0;

export class Series {
  #length;
  #errors = null;

  constructor(isServer) {
    this.#length = isServer ? SHORT : LONG;
    this.times = [];
    this.values = { rate: [], scur: [], errors: [], rtime: [] };
  }

  /** A row of counters as it is at that time, in seconds. Rows come when they change, once a second at most. */
  add(time, row) {
    const last = this.times.at(-1) ?? 0;
    if (time <= last) return;
    const errors = errorsOf(row), more = this.#errors === null ? 0 : Math.max(0, errors - this.#errors);
    this.#errors = errors;
    if (this.times.length && time - last > 2) this.#push(time - 1, this.#unchanged());
    const seconds = Math.max(1, Math.min(time - last, 2));
    this.#push(time, { rate: rateOf(row), scur: row.scur ?? 0, errors: more / seconds, rtime: row.rtime ?? 0 });
  }

  /** [times, values] up to now. */
  data(name, now = Date.now() / 1000) {
    const last = this.times.at(-1);
    if (last === undefined) return [[now - 1, now], [0, 0]];
    if (now - last < 1) return [this.times, this.values[name]];
    return [[...this.times, now], [...this.values[name], this.#unchanged()[name]]];
  }

  /** Errors in a second, lately. */
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
