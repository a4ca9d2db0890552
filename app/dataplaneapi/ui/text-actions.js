// What can be done with the text of the configuration: another one is committed, and lines are added to it.

import { UNLESS_CONFIRMED, outcome } from "./actions.js";
import { call, get } from "./api.js";
import { sectionsOf } from "./sections.js";

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

/** The server knows which lines are missing, and where they go; its plan is carried out as it is shown. */
export function addLines() {
  return {
    title: "Let HAProxy tell of states itself",
    verb: "Add the lines",
    options: { confirm: UNLESS_CONFIRMED },
    initial: { confirm: "2m" },
    plan: async ({ confirm }) => {
      const plan = await call("POST", "v3/sidecar/plan", { query: { add: "ring" } });
      if (plan.valid && !plan.diff) return { incomplete: "The lines are there already." };
      if (!plan.plan_token) throw new Error(plan.messages.map((each) => each.text).join("\n") || "The server cannot keep this plan.");
      return { ...shownOf(plan), call: { method: "PUT", path: "v3/sidecar/apply", query: { plan: plan.plan_token, confirm }, headers: reasonOf("states of servers reach a ring") } };
    },
    done: outcome("The lines are added"),
  };
}

async function planned(text, version, { why, confirm }) {
  const plan = await call("POST", "v3/sidecar/plan", { text });
  return { ...shownOf(plan), call: { method: "POST", path: RAW, text, query: { version, confirm }, headers: reasonOf(why) } };
}

const shownOf = ({ diff, effects, commands, reasons, reload, messages }) => ({ diff, changes: effects, commands, reasons, reload, messages });

/** A header is bytes: these are UTF-8. */
const reasonOf = (why) => (why.trim() ? { "X-Change-Message": String.fromCharCode(...new TextEncoder().encode(why.trim())) } : {});
