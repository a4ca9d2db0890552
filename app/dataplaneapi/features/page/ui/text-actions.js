// Actions on the text of the configuration: commit another text, and add lines.

import { UNLESS_CONFIRMED, outcome } from "./actions.js";
import { call, get } from "./api.js";
import { sectionsOf } from "./sections.js";

const RAW = "v3/services/haproxy/configuration/raw";
const VERSION = "v3/services/haproxy/configuration/version";

/** Load the current text, its version, its sections, and the words that the editor completes. */
export async function present(signal) {
  const [{ body, headers }, { default: words }] = await Promise.all([get(RAW, { signal, full: true }), import("./words.js")]);
  return { text: body, version: headers.get("Configuration-Version"), words, sections: sectionsOf(body, words.sections) };
}

export function commitText(title, text, version) {
  return {
    title: `Commit ${title}`,
    verb: "Commit",
    options: { why: { label: "Message", type: "text", placeholder: "appears in the history" }, confirm: UNLESS_CONFIRMED },
    initial: { why: "", confirm: "" },
    plan: (options) => planned(text, version, options),
    done: outcome(`${title} is committed`),
  };
}

/** Add the lines for reports of states. The server plans which lines are missing, and where they go. */
export function addLines() {
  return {
    title: "Let HAProxy report states",
    verb: "Add the lines",
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "" },
    plan: async ({ confirm }) => {
      const version = String(await get(VERSION));
      const plan = await call("POST", "v3/sidecar/plan", { query: { add: "ring" } });
      if (plan.valid && !plan.diff) return { incomplete: "These lines are already present." };
      if (!plan.text) throw new Error("These lines belong into several files, or you may not read the configuration. Add them by hand.");
      return { ...shownOf(plan), call: pushed(plan.text, version, confirm, "states of servers reach a ring") };
    },
    done: outcome("The lines are added"),
  };
}

async function planned(text, version, { why, confirm }) {
  const plan = await call("POST", "v3/sidecar/plan", { text });
  return { ...shownOf(plan), call: pushed(text, version, confirm, why) };
}

const pushed = (text, version, confirm, why) => ({ method: "POST", path: RAW, text, query: { version, confirm }, headers: messageHeader(why) });

const shownOf = ({ diff, effects, commands, reasons, reload, messages }) => ({ diff, changes: effects, commands, reasons, reload, messages });

/** The header with the message of a change. A header has bytes: these are UTF-8. */
export const messageHeader = (text) => (text.trim() ? { "X-Change-Message": String.fromCharCode(...new TextEncoder().encode(text.trim())) } : {});
