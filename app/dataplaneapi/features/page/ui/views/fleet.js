// The fleet of this node: the current release and its progress, the nodes, former releases with the defaults of new ones, and differences.

import { html, useEffect, useRef } from "../vendor/preact.js";
import { get } from "../api.js";
import { FLEET, adopt, adoptOwn, changePolicy, followAgain, forget, hold, init, pause, release, resume, rollBack } from "../fleet-actions.js";
import { Actions, Ago, Badge, Diff, Facts, Forbidden, Loaded, Nothing, Problem, Reasons, RowButton, Table, counted, shown, span, useLoaded, useTick } from "../kit.js";
import { segment } from "../names.js";
import { propose } from "../plan-dialog.js";
import { missing, unread } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, useStore } from "../store.js";

const LOOK = 2_000;
const RELEASE = "fleet/release", NODE = "fleet/node";
const STATES = { rolling: ["reload", "In progress"], paused: ["warn", "Paused"], done: ["good", "Done"] };
const PHASES = {
  waiting: ["", "Waiting"],
  checked: ["", "Checked"],
  baking: ["reload", "Watched"],
  good: ["good", "Good"],
  refused: ["bad", "Refused"],
  bad: ["bad", "Rolled back"],
  drifted: ["warn", "Drifted"],
  held: ["warn", "Held"],
};
const CHANGES = { added: ["good", "Added"], removed: ["bad", "Removed"], changed: ["warn", "Changed"] };
// How the reason of a node begins that a person holds.
const BY_A_PERSON = /^held by /;
// What releases have as long as the group has no defaults of its own.
const BUILT_IN = { stages: ["1", "25%", "100%"], bake: "60s", deadline: "600s" };

const canChange = () => !state.caller?.read_only;

export function FleetView({ route }) {
  useStore("caller");
  const turn = useTick(LOOK), why = missing("read", RELEASE), [kind, name] = route.parts;
  const loaded = useLoaded(async (signal) => (why ? null : get(FLEET, { signal })), [turn, why]);
  const current = loaded.data?.release;
  const more = useLoaded(async (signal) => {
    if (!current) return undefined;
    const [[, ...former], policy] = await Promise.all(["releases", "policy"].map((path) => get(`${FLEET}/${path}`, { signal })));
    return { former, policy };
  }, [current?.id, current?.state, loaded.data?.store.up]);
  const act = async (action) => {
    if (!(await propose(action))) return;
    loaded.again();
    more.again();
  };
  if (why) return html`<h1>Fleet</h1><${Forbidden} what="the fleet" text=${why} />`;
  return html`<${Loaded} of=${loaded} what="the fleet">${(fleet) => {
    const { former, policy } = more.data ?? { former: [], policy: BUILT_IN };
    return html`
    <header class="view-head"><h1>Fleet</h1><span class="quiet">group ${fleet.group}, this node is ${fleet.node}</span></header>
    <${Store} of=${fleet.store} />
    ${current ? html`<${Own} fleet=${fleet} act=${act} /><${Current} fleet=${fleet} policy=${policy} hasFormer=${former.length > 0} act=${act} />`
      : html`<${Nothing} title="The group has no release yet" action=${canChange() && html`<${Actions} of=${[{ text: "Start the group …", isMain: true, why: missing("create", RELEASE), onClick: () => act(init(fleet)) }]} />`}>The configuration of this node becomes the first one.<//>`}
    <h2 class="section">Nodes</h2>
    <${Nodes} fleet=${fleet} act=${act} />
    ${kind === "nodes" && current && html`<${NodeDifference} key=${name} name=${name} fleet=${fleet} />`}
    ${former.length > 0 && html`<h2 class="section">Former releases</h2><${Former} fleet=${fleet} rows=${former} policy=${policy} act=${act} />`}
    ${kind === "releases" && html`<${ReleaseDifference} key=${name} number=${name} />`}
    ${current && more.data && html`<h2 class="section">Defaults for releases</h2><${Policy} of=${policy} act=${act} />`}`;
  }}<//>`;
}

function Store({ of: { up: isUp, error, since } }) {
  if (isUp && !error) return null;
  return html`<${Problem} title=${isUp ? "This node takes no part in the group" : "etcd does not answer"} text=${error}>
    <p>${since && html`Since <${Ago} time=${since} />. `}${!isUp && "All nodes keep their configuration. Only what this node knows is shown."}</p><//>`;
}

/** Why this node is in no release, and what a person can do about it. */
function Own({ fleet, act }) {
  const { reason, number, phase } = fleet.nodes.find(({ name }) => name === fleet.node) ?? {};
  const why = missing("create", NODE), button = (text, action, isMain) => ({ text, why, isMain, onClick: () => act(action) });
  const [title, text, ...actions] =
    phase === "drifted" ? ["This node differs from its group", "Release its configuration to all nodes, or discard what was changed here.", button("Discard the changes …", adopt(fleet, `Discard the changes of ${fleet.node}`, "Discard"))]
    : phase !== "held" ? []
    : BY_A_PERSON.test(reason) ? ["This node is held", "It keeps its configuration, and is in no release until it follows releases again.", button("Follow releases …", followAgain(fleet), true)]
    : !number ? ["This node is not in the group", "When it joins, it gets the configuration of the current release.", button("Join …", adopt(fleet, `Join the group ${fleet.group}`, "Join"), true)]
    : ["This node holds", "It changes nothing until you decide which configuration is right: that of the group, or its own.",
      button("Apply the group's release …", adopt(fleet, `Apply the group's release on ${fleet.node}`, "Apply")), button("Release this node's configuration …", adoptOwn(fleet))];
  return title && html`<div class="problem warns" role="alert"><p class="problem-title">${title}</p>
    ${reason && html`<p class="lacks">${reason}.</p>`}<p>${text}</p>${canChange() && html`<${Actions} of=${actions} />`}</div>`;
}

/** Say that this node can release nothing because it is held. */
const heldNode = ({ node, nodes }) => (nodes.some((each) => each.name === node && each.phase === "held") ? `${node} is held, so it can release nothing.` : "");

function Current({ fleet, policy, hasFormer, act }) {
  const { release: of } = fleet, isOpen = of.state !== "done", why = missing("create", RELEASE), [tone, word] = STATES[of.state] ?? ["", of.state];
  const have = fleet.nodes.filter((each) => each.bundle === of.bundle).length;
  const actions = !canChange() ? [] : isOpen ? [
    of.state === "rolling" ? { text: "Pause …", why, onClick: () => act(pause(of)) } : { text: "Resume …", why, isMain: true, onClick: () => act(resume(of)) },
    { text: "Roll back …", why, onClick: () => act(rollBack(of)) },
  ] : [{ text: `Release from ${fleet.node} …`, why: why || heldNode(fleet), onClick: () => act(release(fleet.node, policy)) }];
  return html`<section class="card release" aria-label="Current release">
    <header class="detail-head"><h2>Release ${of.number}</h2><${Badge} tone=${tone}>${word}<//><span class="quiet">by ${of.author || "unknown"}, <${Ago} time=${of.made} /></span></header>
    ${of.message && of.message !== of.reason && html`<p>${of.message}</p>`}
    ${of.reason && html`<p class="note">${of.reverts ? `Release ${of.reverts} was rolled back: ` : ""}${of.reason}</p>`}
    ${of.stages?.length > 0 && html`<ol class="gates" aria-label="Stages">${gatesOf(of).map((gate) => html`<${Gate} key=${gate.title} of=${gate} fleet=${fleet} />`)}</ol>`}
    <${Facts} rows=${[
      ["Nodes with this release", `${have} of ${fleet.nodes.length}`], isOpen && ["Each node is watched for", span(of.bake * 1000)], isOpen && ["Deadline of a stage", span((of.bake + of.deadline) * 1000)],
      of.guard && ["Guard", guardText(of.guard)], of.force && ["Edits by hand", "are overwritten"], of.files && ["Stored files", of.files.join(", ")],
    ]} />
    <${Actions} of=${[...actions, hasFormer && { text: "Show the difference", why: unread("**"), href: hrefOf("fleet", ["releases", of.number]) }]} />
  </section>`;
}

/** A guard in words. */
function guardText({ errors, ready, min_requests: requests, ...rest }) {
  return [errors !== undefined && `at most ${errors} % errors${requests === undefined ? "" : ` from ${counted(requests, "request")} on`}`, ready && "as many ready servers as before", Object.keys(rest).length && shown(rest)].filter(Boolean).join(", ");
}

/** Gate 0 is the check on all nodes; each of the others is a stage. */
function gatesOf({ state: is, gate, stages, dry_run: isDry }) {
  const wordOf = (number) => (is === "done" || gate > number ? "done" : gate === number ? (is === "paused" ? "paused" : "rolling") : "waiting");
  return [{ title: "Check", names: [], is: wordOf(0) }, ...(isDry ? [] : stages.map((names, index) => ({ title: `Stage ${index + 1}`, names, is: wordOf(index + 1) })))];
}

function Gate({ of, fleet }) {
  const [tone, word] = STATES[of.is] ?? PHASES.waiting, have = of.names.filter((name) => fleet.nodes.some((each) => each.name === name && each.phase === "good" && each.number === fleet.release.number));
  return html`<li class=${`is-${of.is}`} aria-current=${of.is === "rolling" || of.is === "paused" ? "step" : undefined}><b>${of.title}</b> <${Badge} tone=${tone}>${word}<//>${" "}
    <span class="quiet">${of.names.length && (of.is === "rolling" || of.is === "paused") ? `${have.length} of ${counted(of.names.length, "node")} good: ` : ""}${of.names.join(", ") || "all nodes check the configuration"}</span></li>`;
}

function Nodes({ fleet, act }) {
  const { release: of, node: own } = fleet, isStaged = of?.state !== "done" && of?.stages?.flat().includes(own);
  const lacks = { hold: missing("create", NODE), forget: missing("delete", NODE), difference: missing("read", NODE) || unread("**") };
  const whyNot = lacks.hold || (isStaged ? `${own} is in a stage of release ${of.number}. Roll it back first, or wait until it is done.` : "");
  const differs = ({ bundle, phase }) => of && bundle && bundle !== of.bundle && phase !== "waiting" && phase !== "checked";
  return html`<${Table} label="Nodes" rows=${fleet.nodes} keyOf=${(each) => each.name} columns=${[
    { title: "Node", of: ({ name }) => html`<code>${name}</code>${name === own ? html` <span class="quiet">this node</span>` : ""}` },
    { title: "Phase", of: ({ phase }) => html`<${Badge} tone=${PHASES[phase]?.[0]}>${PHASES[phase]?.[1] ?? phase}<//>` },
    { title: "Release", of: ({ number }) => number ?? "–" },
    { title: "Configuration", of: (each) => (!each.bundle || !of ? "–" : each.bundle === of.bundle ? "As released" : !differs(each) ? "Not yet released"
      : html`<span><${Badge} tone="warn">Differs<//> ${!lacks.difference && html`<a href=${hrefOf("fleet", ["nodes", each.name])} aria-label=${`Difference of ${each.name}`}>Difference</a>`}</span>`) },
    { title: "Presence", of: ({ present }) => (present ? "Present" : html`<${Badge} tone="bad">Absent<//>`) },
    { title: "Reason", of: ({ reason }) => reason || "–" },
    { of: (each) => canChange() && (each.name === own
      ? of && each.phase !== "held" && html`<${RowButton} word="Hold …" sign="‖" label=${`Hold ${own}`} why=${whyNot} onClick=${() => act(hold(fleet))} />`
      : !each.present && html`<${RowButton} word="Forget …" sign="✕" label=${`Forget ${each.name}`} why=${lacks.forget} onClick=${() => act(forget(each))} />`) },
  ]} />
    ${fleet.nodes.some((each) => each.name !== own && each.phase === "held") && html`<p class="note">To end the hold of another node, open the page of that node.</p>`}
    <${Reasons} of=${[canChange() && lacks.hold, canChange() && fleet.nodes.some((each) => !each.present) && lacks.forget, fleet.nodes.some(differs) && lacks.difference]} />`;
}

function Former({ fleet, rows, policy, act }) {
  const why = missing("create", RELEASE), lacks = unread("**"), isOpen = fleet.release.state !== "done", first = rows.at(-1);
  return html`<${Table} label="Former releases" rows=${rows} keyOf=${(each) => each.id} columns=${[
    { title: "Release", of: ({ number }) => html`<code>${number}</code>` },
    { title: "Made", of: ({ made }) => html`<${Ago} time=${made} />` },
    { title: "By", of: ({ author }) => author || "–" },
    { title: "Message", of: ({ message, reverts }) => message || (reverts ? `rolls back release ${reverts}` : "–") },
    { title: "Difference", of: (each) => (each === first || lacks ? "–" : html`<a href=${hrefOf("fleet", ["releases", each.number])} aria-label=${`Show the difference of release ${each.number}`}>Show</a>`) },
    { of: (each) => canChange() && each.bundle !== fleet.release.bundle && html`<${RowButton} word="Release again …" sign="↶" label=${`Release ${each.number} again`} why=${why || (isOpen ? "Another release is in progress." : heldNode(fleet))} onClick=${() => act(release(fleet.node, policy, each))} />` },
  ]} />
    <${Reasons} of=${[canChange() && why, lacks]} />`;
}

function Policy({ of, act }) {
  return html`<section class="card release" aria-label="Defaults for releases">
    <${Facts} rows=${[["Nodes after each stage", of.stages.join(", ")], ["Each node is watched for", span(parseFloat(of.bake) * 1000)], ["Deadline after that", span(parseFloat(of.deadline) * 1000)], ["Guard", of.guard ? guardText(of.guard) : "none"]]} />
    ${canChange() && html`<${Actions} of=${[{ text: "Change …", why: missing("change", RELEASE), onClick: () => act(changePolicy(of)) }]} />`}
  </section>`;
}

function NodeDifference({ name, fleet }) {
  const bundle = fleet.nodes.find((each) => each.name === name)?.bundle;
  const loaded = useLoaded(async (signal) => (await get(`${FLEET}/nodes/${segment(name)}`, { query: { diff: "true" }, signal })).difference, [bundle, fleet.release.id]);
  return html`<${Difference} of=${loaded} title=${({ from }) => `${name} compared with release ${from}`} />`;
}

function ReleaseDifference({ number }) {
  const loaded = useLoaded((signal) => get(`${FLEET}/releases/${segment(number)}/diff`, { signal }), []);
  return html`<${Difference} of=${loaded} title=${({ from, to }) => `Release ${to} compared with release ${from}`} />`;
}

/** A difference of haproxy.cfg and the stored files. */
function Difference({ of, title }) {
  const place = useRef(null), why = unread("**");
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [of.loading]);
  if (why) return html`<${Forbidden} what="the difference" text=${why} />`;
  return html`<section class="card release" aria-label="Difference" ref=${place}><${Loaded} of=${of} what="the difference">${(found) => html`
    <header class="detail-head"><h2>${title(found)}</h2><a href="#/fleet">Close</a></header>
    ${found.diff ? html`<${Diff} text=${found.diff} />` : html`<p class="quiet">haproxy.cfg is the same.</p>`}
    ${found.truncated && html`<p class="note">Only the first 512 KiB are shown.</p>`}
    ${found.files.length > 0 && html`<h3>Stored files</h3><ul class="plain">${found.files.map(({ store, name, change }) => html`<li><${Badge} tone=${CHANGES[change][0]}>${CHANGES[change][1]}<//> <code>${store}/${name}</code></li>`)}</ul>`}`}<//></section>`;
}
