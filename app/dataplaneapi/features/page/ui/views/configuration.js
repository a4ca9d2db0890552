// The configuration as text: its sections, and an editor for one of them with HAProxy's messages and a commit.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { OFTEN, create, lacksCreate } from "../create.js";
import { Editor } from "../editor.js";
import { Act, Badge, Diff, Loaded, Nothing, Problem, Reasons, Two, number, useLoaded } from "../kit.js";
import { spell } from "../names.js";
import { propose } from "../plan-dialog.js";
import { hrefOf } from "../route.js";
import { demandRead, untouchable } from "../rights.js";
import { replaced, textOf, trimmed } from "../sections.js";
import { state, useStore } from "../store.js";
import { commitText, present } from "../text-actions.js";

// HAProxy validates the text so long after the last key, in milliseconds.
const REST = 300;
const ALL = "all";

export function ConfigurationView({ route }) {
  useStore("changes", "caller");
  const [id] = route.parts, [search, setSearch] = useState("");
  const loaded = useLoaded(async (signal) => {
    demandRead("**");
    return present(signal);
  }, [state.changes]);
  return html`<${Two} view="configuration" title="Configuration" kind="edit" isChosen=${Boolean(id)}
      head=${html`<input type="search" placeholder="Section" aria-label="Find a section" value=${search} onInput=${(event) => setSearch(event.target.value)} />
        ${!state.caller?.read_only && html`<${Act} text="Create section …" why=${lacksCreate({})} onClick=${() => create()} />`}`}
      list=${html`<${Loaded} of=${loaded} what="the configuration">${(found) => html`<${Names} of=${found} search=${search.trim().toLowerCase()} chosen=${id} />`}<//>`}
      detail=${loaded.data && html`<${Section} key=${id} id=${id} now=${loaded.data} />`}
      placeholder=${!loaded.error && html`<${Nothing} title="Choose a section">Its text appears here. HAProxy validates every change before it is made.<//>`} />`;
}

function Names({ of: { sections, text }, search, chosen }) {
  const rows = [{ id: ALL, ...placeOf({ text, sections }, ALL) }, ...sections].filter((each) => each.title.toLowerCase().includes(search));
  if (!rows.length) return html`<${Nothing} title="No section matches" />`;
  return html`<ol class="entries">${rows.slice(0, 1000).map((each) => html`<li key=${each.id}><a class="entry" href=${hrefOf("configuration", [each.id])} aria-current=${each.id === chosen ? "true" : undefined}><span class="entry-what">${each.title}${state.drafts.has(each.id) ? html` <${Badge} tone="warn">Edited<//>` : ""}</span><span class="entry-when">${number(each.last - each.first + 1)} lines</span></a></li>`)}</ol>`;
}

/** Return the lines of a section, or of all of them. The lines above the first section belong to the server. */
function placeOf({ text, sections }, id) {
  if (id !== ALL) return sections.find((each) => each.id === id);
  const count = text.split("\n").length;
  return { first: sections[0]?.first ?? count - 1, last: sections.at(-1)?.last ?? count - 1, title: "All sections" };
}

/**
 * A draft is {base, mine, own}: the configuration when the edit began, the edited text, and the text that was committed but not loaded again yet.
 * It is kept while another view is open.
 */
function useDraft(id, now) {
  const [, render] = useState(0);
  const draft = state.drafts.get(id) ?? { base: now, mine: null };
  const set = (made) => {
    if (made) state.drafts.set(id, made);
    else state.drafts.delete(id);
    render((count) => count + 1);
  };
  return [draft, set];
}

function Section({ id, now }) {
  // Changes of others in other sections are merged. If they change this section, the operator decides.
  const [{ base, mine, own }, setDraft] = useDraft(id, now);
  const place = useMemo(() => placeOf(now, id), [now]), was = useMemo(() => placeOf(base, id), [base]);
  const theirs = useMemo(() => place && textOf(now.text, place), [now]), before = useMemo(() => own ?? (was && textOf(base.text, was)), [base, own]);
  const isMade = mine !== null && trimmed(mine) === theirs, collides = mine !== null && !isMade && theirs !== before;
  useEffect(() => {
    if (isMade) setDraft(null);
    else if (mine !== null && theirs === before && base !== now) setDraft({ base: now, mine });
  }, [now, isMade && base !== now]);
  if (!place && mine === null) return html`<${Nothing} title=${`There is no section ${id}`}>It may have been deleted, or renamed.<//>`;
  if (!place) return html`<${Problem} title="This section is gone" text="Somebody has deleted it while you edited it. Your text:"><pre class="said" tabindex="0">${mine}</pre><//>`;
  const drop = () => setDraft(null);
  return html`${collides && html`<div class="problem" role="alert"><p class="problem-title">Somebody has changed this section meanwhile</p>
      <${Diff} text=${changed(before ?? "", theirs)} /><div class="buttons start"><button type="button" onClick=${drop}>Use their text</button><button type="button" onClick=${() => setDraft({ base: now, mine })}>Keep my text</button></div></div>`}
    <${Editing} place=${place} now=${now} text=${mine ?? theirs} isChanged=${mine !== null && !isMade} collides=${collides} onInput=${(text) => setDraft({ base, mine: text, own })} onDrop=${drop}
      onCommitted=${(text) => state.drafts.has(id) && setDraft({ ...state.drafts.get(id), own: trimmed(text) })} />`;
}

/** Return the removed and added lines, without context. */
function changed(before, after) {
  const old = before.split("\n"), now = after.split("\n");
  return [...old.filter((line) => !now.includes(line)).map((line) => `-${line}`), ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`)].join("\n");
}

function Editing({ place, now, text, isChanged, collides, onInput, onDrop, onCommitted }) {
  const [jump, setJump] = useState(null), why = untouchable(objectOf(place)), readOnly = Boolean(state.caller?.read_only || why);
  const section = { keyword: place.keyword, name: place.id?.split(" ")[1] };
  const whole = useMemo(() => (isChanged ? replaced(now.text, place, text) : now.text), [now, text, isChanged]);
  const { plan, error, asking } = usePlan(whole, isChanged, now);
  const problems = useMemo(() => problemsOf(plan, place, text), [plan]);
  const commit = () => {
    const action = commitText(place.title, whole, now.version);
    propose({ ...action, done: (answer) => { onCommitted(text); return action.done(answer); } });
  };
  return html`<header class="detail-head"><h2>${place.title}</h2><span class="quiet">from line ${place.first + 1}, version ${now.version}</span>
      ${!readOnly && OFTEN[place.keyword] && html`<${Act} text="Create line …" why=${isChanged ? "Commit or discard your text first." : lacksCreate(section)} onClick=${() => create(section)} />`}</header>
    <${Editor} value=${text} onInput=${onInput} label=${`Text of ${place.title}`} problems=${problems.here} words=${now.words} whole=${whole} keyword=${place.keyword} first=${place.first + 1} readOnly=${readOnly} jump=${jump} />
    <${Reasons} of=${[why]} />
    <div class="edit-foot">
      <p class="edit-verdict" role="status"><${Verdict} isChanged=${isChanged} asking=${asking} error=${error} plan=${plan} /></p>
      ${!readOnly && html`<button type="button" disabled=${!isChanged} onClick=${onDrop}>Discard</button>
        <button type="button" class="primary" disabled=${!isChanged || asking || collides || !plan?.valid} onClick=${commit}>Review and commit …</button>`}
    </div>
    <ul id="editor-problems" class="problems">${[...problems.here, ...problems.elsewhere].map((each) => html`<li class=${each.severity}>${each.line > 0
      ? html`<button type="button" class="link" onClick=${() => setJump({ line: each.line })}>Line ${place.first + each.line}</button>` : each.place && html`<b>${each.place}</b>`} ${each.text}</li>`)}</ul>
    ${!readOnly && html`<p class="quiet small">Completions appear while you type, and with Ctrl+Space. Use the arrow keys and Enter to choose one, Esc to hide them.</p>`}`;
}

/** Return the object of a section, such as backend/shop; '' for all sections. */
function objectOf({ id = ALL, keyword }) {
  const name = id.split(" ")[1];
  return id === ALL ? "" : spell(keyword, name && !name.startsWith("#") ? name : "*");
}

function Verdict({ isChanged, asking, error, plan }) {
  if (!isChanged) return html`<span class="quiet">Nothing is changed.</span>`;
  if (asking || (!plan && !error)) return html`<span class="spinner" aria-hidden="true"></span>HAProxy validates the text …`;
  if (error) return html`<${Badge} tone="bad">${error.status === 403 ? "Not allowed" : "Unknown"}<//> ${error.message}`;
  if (!plan.valid) return html`<${Badge} tone="bad">Refused<//> HAProxy refuses this text.`;
  const count = plan.effects.length;
  if (!plan.diff) return html`<span class="quiet">Nothing is changed.</span>`;
  return html`<${Badge} tone=${plan.reload ? "reload" : "live"}>${plan.reload ? "Reload" : "Live"}<//> HAProxy accepts it, ${plan.reload ? "by a reload" : "without a reload"}; ${number(count)} ${count === 1 ? "difference" : "differences"}.`;
}

/** Plan a text some time after its last change, and again after a change of the configuration. */
function usePlan(text, isChanged, now) {
  const [found, setFound] = useState({});
  const last = useRef(null);
  useEffect(() => {
    if (!isChanged) {
      setFound({});
      return undefined;
    }
    const controller = (last.current = new AbortController());
    setFound((before) => ({ ...before, asking: true }));
    const set = (made) => controller === last.current && !controller.signal.aborted && setFound(made);
    const timer = setTimeout(() => post("v3/sidecar/plan", undefined, { text, signal: controller.signal }).then((plan) => set({ plan }), (error) => set({ error })), REST);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, isChanged, now]);
  return found;
}

/** Return HAProxy's messages: those about lines of this section, and the others. */
function problemsOf(plan, { first, title }, text) {
  const count = text.split("\n").length, here = [], elsewhere = [];
  for (const { line, severity, text: said, section } of plan?.messages ?? []) {
    const words = said.replace(/^config : /, "").replace(/^parsing \[[^\]]*\] : /, "");
    if (line && line > first && line <= first + count) here.push({ line: line - first, severity, text: words });
    else if (line) elsewhere.push({ severity, place: `Line ${line}${section ? ` (${section})` : ""}:`, text: words });
  }
  // Messages without a line only repeat those with lines.
  if (!here.length && !elsewhere.length) for (const { severity, text: said } of plan?.messages ?? []) elsewhere.push({ severity, text: said, place: `${title}:` });
  return { here, elsewhere };
}
