// The fleet, where the server is in one: the current release and how far it is, the nodes, former releases, and what can be done with them.

import { html } from "../vendor/preact.js";
import { get } from "../api.js";
import { Actions, Ago, Badge, Forbidden, Loaded, Nothing, Problem, Reasons, RowButton, counted, shown, span, useLoaded, useTick } from "../kit.js";
import { segment } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing } from "../rights.js";
import { state, useStore } from "../store.js";

const FLEET = "v3/sidecar/fleet";
const LOOK = 2_000;
const RELEASE = "fleet/release", NODE = "fleet/node";
const STATES = { rolling: ["reload", "Rolling"], paused: ["warn", "Paused"], done: ["good", "Done"] };
const PHASES = {
  waiting: ["", "Waiting"],
  checked: ["", "Checked"],
  baking: ["reload", "Watched"],
  good: ["good", "Good"],
  refused: ["bad", "Refused"],
  bad: ["bad", "Rolled back"],
  drifted: ["warn", "Drifted"],
  held: ["bad", "On hold"],
};

export function FleetView() {
  useStore("caller", "fleet");
  useTick(LOOK);
  const why = missing("read", RELEASE), turn = Math.floor(Date.now() / LOOK);
  const loaded = useLoaded(async (signal) => {
    if (why) return null;
    const [fleet, releases] = await Promise.all([get(FLEET, { signal }), get(`${FLEET}/releases`, { signal }).catch(() => [])]);
    return { fleet, former: releases.slice(1) };
  }, [turn, why]);
  const act = async (action) => (await propose(action)) && loaded.again();
  if (why) return html`<h1>Fleet</h1><${Forbidden} what="the fleet" text=${why} />`;
  return html`<${Loaded} of=${loaded} what="the fleet">${({ fleet, former }) => html`
    <header class="view-head"><h1>Fleet</h1><span class="quiet">group ${fleet.group}, this node is ${fleet.node}</span></header>
    ${!fleet.store.up && html`<${Problem} title="The store does not answer" text=${fleet.store.error}><p>${fleet.store.since ? html`Since <${Ago} time=${fleet.store.since} />. ` : ""}All nodes keep their configuration. What is shown is what this node knows.</p><//>`}
    <${Own} fleet=${fleet} act=${act} />
    ${fleet.release ? html`<${Current} fleet=${fleet} act=${act} />` : html`<${Nothing} title="No release yet" action=${can() && html`<${Actions} of=${[{ text: "Begin the group …", isMain: true, why: missing("create", RELEASE), onClick: () => act(init(fleet)) }]} />`}>The text of this node becomes the first one.<//>`}
    <h2 class="section">Nodes</h2>
    <${Nodes} fleet=${fleet} act=${act} />
    ${former.length > 0 && html`<h2 class="section">Former releases</h2><${Former} fleet=${fleet} rows=${former} act=${act} />`}`}<//>`;
}

const can = () => !state.caller?.read_only;

/** What a person decides about this node: it holds, or was edited by hand. */
function Own({ fleet, act }) {
  const own = fleet.nodes.find(({ name }) => name === fleet.node);
  if (own?.phase !== "held" && own?.phase !== "drifted") return null;
  const isHeld = own.phase === "held", why = missing("create", NODE);
  return html`<div class=${isHeld ? "problem" : "problem warns"} role="alert"><p class="problem-title">${isHeld ? "This node is on hold" : "This node differs from its group"}</p>
    ${own.reason && html`<p class="lacks">${own.reason}.</p>`}<p>${isHeld ? "It changes nothing until one side is adopted." : "Release the change to the other nodes, or discard it."}</p>
    ${can() && html`<${Actions} of=${[{ text: "Discard this node's text …", why, onClick: () => act(adopt(fleet, "store")) }, isHeld && { text: "Make this node's text the release …", why, onClick: () => act(adopt(fleet, "node")) }]} />`}</div>`;
}

function Current({ fleet, act }) {
  const { release: of } = fleet, isOpen = of.state !== "done", why = missing("create", RELEASE), [tone, word] = STATES[of.state] ?? ["", of.state];
  const have = fleet.nodes.filter((each) => each.phase === "good" && each.number === of.number).length;
  return html`<section class="card release" aria-label="Current release">
    <header class="detail-head"><h2>Release ${of.number}</h2><${Badge} tone=${tone}>${word}<//><span class="quiet">by ${of.author || "nobody"}, <${Ago} time=${of.made} /></span></header>
    ${of.message && of.message !== of.reason && html`<p>${of.message}</p>`}
    ${of.reason && html`<p class="note">${of.reverts ? `Release ${of.reverts} was rolled back: ` : ""}${of.reason}</p>`}
    ${of.stages?.length > 0 && html`<ol class="gates" aria-label="Stages">${gatesOf(of).map((gate) => html`<${Gate} key=${gate.title} of=${gate} fleet=${fleet} />`)}</ol>`}
    <dl class="facts-list">
      <div><dt>Nodes that have it</dt><dd class="number">${have} of ${fleet.nodes.length}</dd></div>
      ${isOpen && html`<div><dt>Each node is watched for</dt><dd>${span(of.bake * 1000)}</dd></div><div><dt>A stage ends at the latest after</dt><dd>${span((of.bake + of.deadline) * 1000)}</dd></div>`}
      ${of.guard && html`<div><dt>Guard</dt><dd>${shown(of.guard)}</dd></div>`}
      ${of.force && html`<div><dt>Edits by hand</dt><dd>are overwritten</dd></div>`}
    </dl>
    ${can() && html`<${Actions} of=${isOpen ? [
      of.state === "rolling" ? { text: "Pause …", why, onClick: () => act(pause(of)) } : { text: "Resume …", why, isMain: true, onClick: () => act(resume(of)) },
      { text: "Roll back …", why, onClick: () => act(rollBack(of)) },
    ] : [{ text: `Release from ${fleet.node} …`, why, onClick: () => act(release(fleet)) }]} />`}
  </section>`;
}

/** Gate 0 is the check on all nodes; each of the others is a stage. */
function gatesOf({ state: is, gate, stages, dry_run: isDry }) {
  const wordOf = (number) => (is === "done" || gate > number ? "done" : gate === number ? (is === "paused" ? "paused" : "open") : "waiting");
  return [{ title: "Check", names: [], is: wordOf(0) }, ...(isDry ? [] : stages.map((names, index) => ({ title: `Stage ${index + 1}`, names, is: wordOf(index + 1) })))];
}

const GATES = { done: ["good", "Done"], open: ["reload", "In progress"], paused: ["warn", "Paused"], waiting: ["", "Waiting"] };

function Gate({ of, fleet }) {
  const [tone, word] = GATES[of.is], have = of.names.filter((name) => fleet.nodes.some((each) => each.name === name && each.phase === "good" && each.number === fleet.release.number));
  return html`<li class=${`is-${of.is}`} aria-current=${of.is === "open" || of.is === "paused" ? "step" : undefined}><b>${of.title}</b> <${Badge} tone=${tone}>${word}<//>${" "}
    <span class="quiet">${of.names.length ? `${have.length} of ${counted(of.names.length, "node")} good: ${of.names.join(", ")}` : "all nodes check the text"}</span></li>`;
}

function Nodes({ fleet, act }) {
  const why = missing("delete", NODE);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Nodes"><table class="stacked"><thead><tr><th scope="col">Node</th><th scope="col">Phase</th><th scope="col">Release</th><th scope="col">Text</th><th scope="col">Presence</th><th scope="col">Reason</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
    <tbody>${fleet.nodes.map((each) => {
      const [tone, word] = PHASES[each.phase] ?? ["", each.phase];
      return html`<tr key=${each.name}><td><code>${each.name}</code>${each.name === fleet.node ? html` <span class="quiet">this node</span>` : ""}</td>
        <td data-label="Phase"><${Badge} tone=${tone}>${word}<//></td><td data-label="Release" class="number">${each.number ?? "–"}</td>
        <td data-label="Text">${!each.bundle || !fleet.release ? "–" : each.bundle === fleet.release.bundle ? "As released" : ["waiting", "checked"].includes(each.phase) ? "Not yet released" : html`<${Badge} tone="warn">Differs<//>`}</td>
        <td data-label="Presence">${each.present ? "Present" : html`<${Badge} tone="bad">Absent<//>`}</td><td data-label="Reason">${each.reason || "–"}</td>
        <td class="numeric">${can() && !each.present && each.name !== fleet.node && html`<${RowButton} word="Forget …" sign="✕" label=${`Forget ${each.name}`} why=${why} onClick=${() => act(forget(each))} />`}</td></tr>`;
    })}</tbody></table></div>
    <${Reasons} of=${[fleet.nodes.some((each) => !each.present) && why]} />`;
}

function Former({ fleet, rows, act }) {
  const why = missing("create", RELEASE), isOpen = fleet.release?.state !== "done";
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Former releases"><table class="stacked"><thead><tr><th scope="col">Release</th><th scope="col">Made</th><th scope="col">By</th><th scope="col">What</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
    <tbody>${rows.map((each) => html`<tr key=${each.id}><td><code>${each.number}</code></td><td data-label="Made"><${Ago} time=${each.made} /></td><td data-label="By">${each.author || "–"}</td>
      <td data-label="What">${each.message || (each.reverts ? `takes release ${each.reverts} back` : "–")}</td>
      <td class="numeric">${can() && each.bundle !== fleet.release?.bundle && html`<${RowButton} word="Release again …" sign="↶" label=${`Release ${each.number} again`} why=${why || (isOpen ? "A release is in progress." : "")} onClick=${() => act(release(fleet, each))} />`}</td></tr>`)}</tbody></table></div>
    <${Reasons} of=${[why]} />`;
}

const GO_BACK = "If a node refuses the release, or is not well with it, all nodes go back to the release before.";
const BAKES = { label: "Watch each node for", choices: [["", "the default of the group"], ["0s", "no time"], ["60s", "1 minute"], ["5m", "5 minutes"], ["30m", "30 minutes"]] };

/** Names in a sentence: lb1, lb2 and lb3. */
const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/** The text of this node, or that of a former release, for all nodes. */
function release(fleet, former) {
  const number = former?.number, own = fleet.nodes.find(({ name }) => name === fleet.node), absent = fleet.nodes.filter((each) => !each.present || each.phase === "held");
  return {
    title: former ? `Release ${number} again` : `Release the configuration of ${fleet.node}`,
    verb: "Release",
    options: {
      message: { label: "Why", type: "text", placeholder: "stands in the history" },
      stages: { label: "Nodes after each stage", type: "text", placeholder: "1,25%,100%" },
      bake: BAKES,
      errors: { label: "Roll back above errors, in percent", type: "text", placeholder: "2" },
      ready: { label: "Roll back if fewer servers are ready", type: "checkbox" },
      dry_run: { label: "Only have all nodes check it", type: "checkbox" },
      force: { label: "Overwrite nodes that were edited by hand", type: "checkbox" },
    },
    initial: { message: "", stages: "", bake: "", errors: "", ready: false, dry_run: false, force: false },
    plan: ({ message, stages, bake, errors, ready, dry_run: isDry, force }) => {
      if (!former && own?.phase === "good" && own.bundle === fleet.release?.bundle) return { incomplete: `${fleet.node} has the text of release ${fleet.release.number}. Change its configuration first.` };
      if (errors.trim() && !(Number(errors) >= 0 && Number(errors) <= 100)) return { incomplete: "Enter the errors as a percentage, such as 2." };
      const guard = { ...(errors.trim() && { errors: Number(errors) }), ...(ready && { ready }) };
      const body = { ...(bake && { bake }), ...(message.trim() && { message: message.trim() }), ...(stages.trim() && { stages: stages.split(",").map((each) => each.trim()) }), ...(Object.keys(guard).length && { guard }), ...(isDry && { dry_run: true }), ...(force && { force }), ...(former && { release: number }) };
      return {
        call: { method: "POST", path: `${FLEET}/releases`, body },
        how: isDry ? "All nodes check the text with their own HAProxy. No node is changed." : "All nodes check the text with their own HAProxy, then stage after stage applies it.",
        notes: [...(isDry ? [] : [GO_BACK]), ...(absent.length ? [`${listed(absent.map(({ name }) => name))} ${absent.length === 1 ? "is" : "are"} absent or on hold, and in no stage.`] : [])],
      };
    },
    done: ({ body }) => `Release ${body.number} has begun.`,
  };
}

const steer = ({ number }, verb) => ({ method: "POST", path: `${FLEET}/releases/${number}/${verb}` });

const pause = (of) => ({
  title: `Pause release ${of.number}`,
  verb: "Pause",
  call: () => steer(of, "pause"),
  plan: () => ({ how: "No further stage begins until you resume the release.", notes: ["Nodes that have it keep it. A node that is not well with it still goes back."] }),
  done: () => `Release ${of.number} is paused.`,
});

const resume = (of) => ({
  title: `Resume release ${of.number}`,
  verb: "Resume",
  call: () => steer(of, "resume"),
  plan: () => ({ how: `It continues at stage ${of.gate} of ${of.stages.length}.`, notes: [GO_BACK] }),
  done: () => `Release ${of.number} continues.`,
});

/** Takes a release back that is not done. */
const rollBack = (of) => ({
  title: `Roll back release ${of.number}`,
  verb: "Roll back",
  danger: true,
  call: () => steer(of, "stop"),
  plan: () => ({ how: `All nodes go back to the text of release ${of.settled}.`, notes: ["This is a release of its own, with the next number.", "The node that made the change goes back, too. Its history still has the change."] }),
  done: ({ body }) => `Release ${body.number} takes release ${of.number} back.`,
});

/** From the store, this node gets the group's text; from the node, all get this node's. */
function adopt(fleet, from) {
  const isStore = from === "store";
  return {
    title: isStore ? `Discard the text of ${fleet.node}` : `Make the text of ${fleet.node} the next release`,
    verb: isStore ? "Discard it" : "Release it",
    danger: true,
    call: () => ({ method: "POST", path: `${FLEET}/adopt`, body: { from } }),
    plan: () => ({
      how: isStore ? `${fleet.node} gets the text of the current release of the group.` : `The text of ${fleet.node} becomes the current release, without stages.`,
      notes: [isStore ? "What was changed on this node alone is undone. Its history still has it." : "All other nodes follow it. Do this on the node that has the right text."],
    }),
    done: ({ body }) => `${fleet.node} has release ${body.number}.`,
  };
}

const init = (fleet) => ({
  title: `Begin the group ${fleet.group}`,
  verb: "Begin",
  call: () => ({ method: "POST", path: `${FLEET}/init` }),
  plan: () => ({ how: `The text of ${fleet.node} becomes release 1.`, notes: ["Join the other nodes with: dataplaneapi ctl fleet adopt"] }),
  done: () => "The group has its first release.",
});

const forget = ({ name }) => ({
  title: `Forget ${name}`,
  verb: "Forget",
  danger: true,
  call: () => ({ method: "DELETE", path: `${FLEET}/nodes/${segment(name)}` }),
  plan: () => ({ how: "What the node has reported is deleted.", notes: ["Its HAProxy keeps its configuration. It appears again if its server starts."] }),
  done: () => `${name} is forgotten.`,
});
