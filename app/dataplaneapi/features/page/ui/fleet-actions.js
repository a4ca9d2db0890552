// What can be done in a fleet: with a release, the defaults of releases, and the nodes.

import { get } from "./api.js";
import { listed, span } from "./kit.js";
import { segment } from "./names.js";
import { messageHeader } from "./text-actions.js";

export const FLEET = "v3/sidecar/fleet";
const MESSAGE = { label: "Message", type: "text", placeholder: "appears in the history" };
const IF_IT_FAILS = "If a node refuses the release, violates the guard or is not ready in time, all nodes are rolled back.";

const post = (path, body) => ({ method: "POST", path: `${FLEET}/${path}`, body });
const seconds = (text) => parseFloat(text) * 1000;
const stagesOf = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);

/** The fields of a guard in a form. */
const guardFields = { errors: { label: "Roll back above errors, in percent", type: "text" }, requests: { label: "Minimum requests", type: "text" }, ready: { label: "Roll back if fewer servers are ready", type: "checkbox" } };
const guardValues = ({ errors, min_requests: requests, ready } = {}) => ({ errors: String(errors ?? ""), requests: String(requests ?? ""), ready: Boolean(ready) });

/** The guard of a form as the API has it, or what is wrong in `incomplete`. */
function guardOf({ errors, requests, ready }) {
  if (errors.trim() && !(Number(errors) >= 0 && Number(errors) <= 100)) return { incomplete: "Enter the errors as a percentage, such as 2." };
  if (requests.trim() && !/^\d+$/.test(requests.trim())) return { incomplete: "Enter the requests as a number." };
  if (!errors.trim() && !ready) return {};
  return { guard: { ...(errors.trim() && { errors: Number(errors) }), ...(ready && { ready }), ...(requests.trim() && { min_requests: Number(requests) }) } };
}

/** Releases the configuration of this node, or a former release, to all nodes. */
export function release(node, policy, former) {
  const number = former?.number;
  return {
    title: former ? `Release ${number} again` : `Release the configuration of ${node}`,
    verb: "Release",
    options: {
      message: MESSAGE,
      stages: { label: "Nodes after each stage", type: "text", placeholder: policy.stages.join(",") },
      bake: { label: "Watch each node for", choices: [["", `the default, ${span(seconds(policy.bake))}`], ["0s", "no time"], ["60s", "1 minute"], ["5m", "5 minutes"], ["30m", "30 minutes"]] },
      ...guardFields,
      dry_run: { label: "Check it only, change no node", type: "checkbox" },
      force: { label: "Overwrite nodes that were edited by hand", type: "checkbox" },
    },
    initial: { message: "", stages: "", bake: "", ...guardValues(policy.guard), dry_run: false, force: false },
    plan: async ({ message, stages, bake, dry_run: isDry, force, ...values }) => {
      const { nodes, release: current } = await get(FLEET), own = nodes.find(({ name }) => name === node);
      if (!former && own?.phase === "good" && own.bundle === current?.bundle) return { incomplete: `${node} has the configuration of release ${current.number}. Change it first.` };
      const { guard, incomplete } = guardOf(values);
      if (incomplete) return { incomplete };
      if (policy.guard && !guard) return { incomplete: "Each release has the guard of the group unless it has one of its own. Change the default to release without a guard." };
      const out = nodes.filter((each) => !each.present || each.phase === "held").map(({ name }) => name);
      const body = { ...(bake && { bake }), ...(message.trim() && { message: message.trim() }), ...(stages.trim() && { stages: stagesOf(stages) }), ...(guard && { guard }), ...(isDry && { dry_run: true }), ...(force && { force }), ...(former && { release: number }) };
      return {
        call: post("releases", body),
        how: isDry ? "All nodes check the configuration with their own HAProxy. No node is changed." : "All nodes check the configuration with their own HAProxy. Then they apply it, stage after stage.",
        notes: [...(isDry ? [] : [IF_IT_FAILS]), ...(out.length ? [`${listed(out)} ${out.length === 1 ? "is" : "are"} absent or held, and in no stage.`] : [])],
      };
    },
    done: ({ body }) => `Release ${body.number} is started.`,
  };
}

export const pause = ({ number }) => ({
  title: `Pause release ${number}`,
  verb: "Pause",
  call: () => post(`releases/${number}/pause`),
  plan: () => ({ how: "No further stage starts until you resume the release.", notes: ["Nodes that have applied it keep it. If a node violates the guard, all nodes are still rolled back."] }),
  done: () => `Release ${number} is paused.`,
});

export const resume = ({ number, gate, stages }) => ({
  title: `Resume release ${number}`,
  verb: "Resume",
  call: () => post(`releases/${number}/resume`),
  plan: () => ({ how: `It continues at ${gate ? `stage ${gate} of ${stages.length}` : "the check"}.`, notes: [IF_IT_FAILS] }),
  done: () => `Release ${number} continues.`,
});

/** Rolls back a release that is under way. */
export const rollBack = ({ number, settled }) => ({
  title: `Roll back release ${number}`,
  verb: "Roll back",
  danger: true,
  call: () => post(`releases/${number}/stop`),
  plan: () => ({ how: `All nodes are rolled back to the configuration of release ${settled}.`, notes: ["The rollback is a release itself, with the next number.", "The node that made the change is rolled back, too. Its history still has the change."] }),
  done: ({ body }) => `Release ${body.number} rolls back release ${number}.`,
});

/** Changes the defaults of releases. The call replaces all of them. */
export function changePolicy({ stages, bake, deadline, guard }) {
  const initial = { stages: stages.join(","), bake, deadline, ...guardValues(guard) };
  return {
    title: "Change the defaults for releases",
    verb: "Change",
    options: { stages: { label: "Nodes after each stage", type: "text" }, bake: { label: "Watch each node for", type: "text" }, deadline: { label: "Deadline after that", type: "text" }, ...guardFields },
    initial,
    plan: (values) => {
      const { guard: made, incomplete } = guardOf(values), changed = Object.keys(initial).filter((name) => values[name] !== initial[name]);
      if (incomplete || !changed.length) return { incomplete: incomplete ?? "Nothing is changed." };
      return {
        call: { method: "PUT", path: `${FLEET}/policy`, body: { stages: stagesOf(values.stages), bake: values.bake.trim(), deadline: values.deadline.trim(), ...(made && { guard: made }) } },
        changes: changed.map((name) => ({ object: "fleet/release", member: name, old: initial[name], new: values[name] })),
        how: "Later releases of all nodes have these defaults. A release that is under way keeps its own values.",
      };
    },
    done: () => "The defaults are changed.",
  };
}

/** Starts a group with the configuration of this node. */
export const init = ({ group, node }) => ({
  title: `Start the group ${group}`,
  verb: "Start",
  call: () => post("init"),
  plan: () => ({ how: `The configuration of ${node} becomes release 1.`, notes: ["Then join the other nodes: choose Join on their pages, or run dataplaneapi ctl fleet adopt there."] }),
  done: () => "The group has its first release.",
});

/** This node applies the group's release, whatever it has. */
export const adopt = ({ node }, title, verb) => ({
  title,
  verb,
  danger: true,
  call: () => post("adopt", { from: "store" }),
  plan: () => ({ how: `${node} gets the configuration of the group's current release.`, notes: ["What was changed only on this node is undone. Its history still has it."] }),
  done: ({ body }) => `${node} has release ${body.number}.`,
});

/** The configuration of this node becomes the next release of all nodes. */
export const adoptOwn = ({ node }) => ({
  title: `Make the configuration of ${node} the current release`,
  verb: "Release",
  danger: true,
  call: () => post("adopt", { from: "node" }),
  plan: () => ({ how: `The configuration of ${node} becomes the current release at once, without stages.`, notes: ["All other nodes apply it. Do this on the node with the right configuration."] }),
  done: ({ body }) => `Release ${body.number} is the current one.`,
});

export const hold = ({ node }) => ({
  title: `Hold ${node}`,
  verb: "Hold",
  options: { message: { ...MESSAGE, placeholder: "appears as the reason" } },
  initial: { message: "" },
  plan: ({ message }) => ({
    call: { ...post(`nodes/${segment(node)}/hold`), headers: messageHeader(message) },
    how: `${node} keeps its configuration, and is in no release until it follows releases again.`,
    notes: ["Until then, the health of the node is 503, and it refuses changes of its configuration unless the setting local_changes is drift."],
  }),
  done: () => `${node} is held.`,
});

export const followAgain = ({ node }) => ({
  title: `Have ${node} follow releases`,
  verb: "Follow",
  call: () => post(`nodes/${segment(node)}/follow`),
  plan: () => ({ how: `${node} is no longer held, and applies the newest release.`, notes: ["If its configuration was edited by hand meanwhile, it keeps the edit, and its phase becomes drifted."] }),
  done: () => `${node} follows releases again.`,
});

export const forget = ({ name }) => ({
  title: `Forget ${name}`,
  verb: "Forget",
  danger: true,
  call: () => ({ method: "DELETE", path: `${FLEET}/nodes/${segment(name)}` }),
  plan: () => ({ how: "What the node has reported is deleted.", notes: ["Its HAProxy keeps its configuration. The node appears again when its server starts."] }),
  done: () => `${name} is forgotten.`,
});
