// What can be done with the text of the configuration: another one is committed, and lines are added to it.

import { UNLESS_CONFIRMED, outcome } from "./actions.js";
import { call, get } from "./api.js";
import { sectionsOf, withLines } from "./sections.js";

const RAW = "v3/services/haproxy/configuration/raw";

/** The text as it is now, the version that it has, its sections, and the words that the editor completes. */
export async function present(signal) {
  const [{ body, headers }, { default: words }] = await Promise.all([get(RAW, { signal, full: true }), import("./words.js")]);
  return { text: body, version: headers.get("Configuration-Version"), words, sections: sectionsOf(body, words.sections) };
}

export function commitText(title, text, version) {
  return {
    title: `Commit ${title}`,
    verb: "Commit",
    options: { why: { label: "Why", type: "text", placeholder: "stands in the history" }, confirm: UNLESS_CONFIRMED },
    initial: { why: "", confirm: "2m" },
    plan: (options) => planned(text, version, options),
    done: outcome(`${title} is committed`),
  };
}

/** By these lines, by the section that they belong in, HAProxy tells of the states of all servers itself. */
export function addLines(lines) {
  return {
    title: "Let HAProxy tell of states itself",
    verb: "Add the lines",
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "2m" },
    plan: async ({ confirm }) => {
      const { text, version, words } = await present();
      return planned(withLines(text, lines, words.sections), version, { why: "states of servers reach a ring", confirm });
    },
    done: outcome("The lines are added"),
  };
}

async function planned(text, version, { why, confirm }) {
  const { diff, effects, commands, reasons, reload, messages } = await call("POST", "v3/sidecar/plan", { text });
  // A header is bytes: these are UTF-8.
  const headers = why.trim() ? { "X-Change-Message": String.fromCharCode(...new TextEncoder().encode(why.trim())) } : {};
  return { diff, changes: effects, commands, reasons, reload, messages, call: { method: "POST", path: RAW, text, query: { version, confirm }, headers } };
}
