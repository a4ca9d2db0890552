// Splits: shares of the requests, chosen with a slider.

import { UNLESS_CONFIRMED, outcome } from "./actions.js";
import { health } from "./model.js";
import { segment, spell } from "./names.js";
import { state } from "./store.js";

const PERCENT = { type: "range", min: 0, max: 100, step: 1 };
const shared = (first, second) => (share) => `${first} ${share} %, ${second} ${100 - share} %`;
const put = (name, body, query) => ({ method: "PUT", path: `v3/sidecar/splits/${segment(name)}`, body, query });

/** Return a warning for each backend that would get requests and has no server up. */
const warnings = (weights) =>
  Object.keys(weights).filter((name) => weights[name] > 0 && !health(state, name).counts.up).map((name) => `No server of ${name} is up: its requests would be answered 503.`);

/** Change the shares: with one slider for two backends, otherwise with one slider for the weight of each. */
export function setShares(split) {
  const names = Object.keys(split.weights), [first, second] = names, isPair = names.length === 2;
  const weightsOf = (options) => (isPair ? { [first]: options.share, [second]: 100 - options.share } : Object.fromEntries(names.map((name) => [name, options[name]])));
  const pair = { share: { ...PERCENT, label: `Share of ${first}`, shown: shared(first, second) } };
  return {
    title: `Shares of ${split.name}`,
    verb: "Set the shares",
    options: { ...(isPair ? pair : Object.fromEntries(names.map((name) => [name, { ...PERCENT, label: `Weight of ${name}` }]))), confirm: UNLESS_CONFIRMED },
    initial: { ...(isPair ? { share: split.shares[first] } : split.shares), confirm: "" },
    call: ({ confirm, ...options }) => put(split.name, { by: split.by, weights: weightsOf(options) }, { confirm }),
    plan: (options) => {
      const weights = weightsOf(options), sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
      if (!sum) return { incomplete: "At least one backend must get requests." };
      const share = (name) => `${Math.round((100 * weights[name]) / sum)} %`;
      return {
        changes: names.map((name) => ({ object: spell("backend", name), member: "share of requests", old: `${split.shares[name]} %`, new: share(name) })),
        notes: [...warnings(weights), ...(split.by === "random" ? [] : [`Requests with the same ${split.by.replace(":", " ")} stay together.`])],
      };
    },
    done: outcome(`${split.name} has its new shares`),
  };
}

export function newSplit() {
  const choices = (sections) => (sections ?? []).map(({ name }) => [name, name]);
  const [frontend] = state.frontends ?? [], [first, second] = state.backends ?? [];
  return {
    title: "Create split",
    verb: "Create",
    options: {
      name: { label: "Name", type: "text", placeholder: "canary" },
      frontend: { label: "Frontend", choices: choices(state.frontends) },
      first: { label: "First backend", choices: choices(state.backends) },
      second: { label: "Second backend", choices: choices(state.backends) },
      by: { label: "Keep requests together by", type: "text", placeholder: "random, source, cookie:NAME, header:NAME" },
      share: { ...PERCENT, label: "Share of the first backend", shown: (share) => `${share} % and ${100 - share} %` },
      confirm: UNLESS_CONFIRMED,
    },
    initial: { name: "", frontend: frontend?.name, first: first?.name, second: second?.name, by: "random", share: 95, confirm: "" },
    call: (options) => put(options.name.trim(), { by: options.by.trim(), weights: { [options.first]: options.share, [options.second]: 100 - options.share } }, { frontend: options.frontend, confirm: options.confirm }),
    plan: (options) => {
      if (!options.name.trim()) return { incomplete: "Enter a name." };
      if (!options.first || options.first === options.second) return { incomplete: "Choose two backends." };
      return { notes: [`The rules of the split follow the other rules of ${options.frontend}. Later changes of its shares need no reload.`, ...warnings({ [options.first]: options.share, [options.second]: 100 - options.share })] };
    },
    done: outcome("The split is created"),
  };
}

export function deleteSplit(split) {
  return {
    title: `Delete split ${split.name}`,
    verb: "Delete",
    danger: true,
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "" },
    call: ({ confirm }) => ({ method: "DELETE", path: `v3/sidecar/splits/${segment(split.name)}`, query: { confirm } }),
    plan: () => ({ notes: [`The other rules of ${split.used_by.join(", ") || "its frontend"} then apply to its requests.`] }),
    done: outcome(`${split.name} is deleted`),
  };
}
