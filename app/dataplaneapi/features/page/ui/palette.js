// The command palette: Ctrl+K finds views, objects and actions by a few letters of their names.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { drain, reload, setState, setWeight } from "./actions.js";
import { signOut } from "./api.js";
import { OFTEN, create, lacksCreate } from "./create.js";
import { backendNames, condition } from "./model.js";
import { propose } from "./plan-dialog.js";
import { missing } from "./rights.js";
import { go, hrefOf } from "./route.js";
import { state } from "./store.js";

const MOST = 50;

/** Yield {text, kind, run} for everything that this caller may reach; actions without the right to take them are left out. */
function* entries(views) {
  const to = (kind, text, ...place) => ({ kind, text, run: () => go(hrefOf(...place)) });
  const canChange = !state.caller?.read_only;
  for (const { name, title } of views) yield to("View", title, name);
  if (canChange) for (const kind of Object.keys(OFTEN)) if (!lacksCreate({ kind })) yield { kind: "Action", text: `Create ${kind}`, run: () => create({ kind }) };
  for (const { name } of state.frontends ?? []) {
    yield to("Frontend", name, "map", ["frontend", name]);
    if (canChange) yield* creations("frontend", name);
  }
  for (const name of backendNames(state)) {
    yield to("Backend", name, "map", ["backend", name]);
    if (canChange) yield* creations("backend", name);
  }
  for (const server of state.servers.values()) {
    const { object, backend, name } = server, full = `${backend}/${name}`;
    yield to("Server", full, "map", ["backend", backend, "server", name]);
    if (!canChange) continue;
    const isOut = ["drain", "maint"].includes(condition(server)), action = (text, propose_) => ({ kind: "Action", text: `${text} ${full}`, run: () => propose(propose_(server)) });
    if (!missing("change", object, "admin_state")) {
      if (isOut) yield action("Put into service", (each) => setState(each, "ready"));
      else if (!missing("create", "operation")) yield action("Drain", drain);
      if (condition(server) !== "maint") yield action("Put into maintenance", (each) => setState(each, "maint"));
    }
    if (!missing("change", object, "weight")) yield action("Change the weight of", setWeight);
  }
  if (canChange && !missing("create", "reload")) yield { kind: "Action", text: "Reload HAProxy", run: () => propose(reload()) };
  yield { kind: "Action", text: "Sign out", run: signOut };
}

/** Yield the actions that create objects in a section. */
function* creations(keyword, name) {
  for (const [kind, word] of Object.entries(OFTEN[keyword])) if (!lacksCreate({ keyword, name, kind })) yield { kind: "Action", text: `Create ${word} in ${name}`, run: () => create({ keyword, name, kind }) };
}

/** Return the first entries that contain every word of the phrase. Names that begin with it come first. */
function found(views, phrase) {
  const wanted = phrase.trim().toLowerCase(), words = wanted.split(/\s+/), first = [], rest = [];
  for (const entry of entries(views)) {
    const text = `${entry.text} ${entry.kind}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    (entry.text.toLowerCase().startsWith(wanted) ? first : rest).push(entry);
    if (first.length >= MOST) break;
  }
  return [...first, ...rest].slice(0, MOST);
}

export function Palette({ views }) {
  const dialog = useRef(null), list = useRef(null);
  const [phrase, setPhrase] = useState(""), [isOpen, setOpen] = useState(false), [at, setAt] = useState(0);
  const shown = isOpen ? found(views, phrase) : [];
  useEffect(() => {
    const listener = (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      // Another dialog must be closed first.
      if (document.querySelector("dialog[open]")) return;
      setPhrase("");
      setAt(0);
      setOpen(true);
      dialog.current.showModal();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, phrase]);

  function run(entry) {
    if (!entry) return;
    dialog.current.close();
    entry.run();
  }

  function onKeyDown(event) {
    if (event.key === "Enter") run(shown[at]);
    else if (event.key === "ArrowDown") setAt(Math.min(at + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else return;
    event.preventDefault();
  }

  return html`<dialog ref=${dialog} class="palette" aria-label="Go to, or run an action" onClose=${() => setOpen(false)}>
    <input role="combobox" aria-label="Name of a view, an object or an action" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${shown.length ? `palette-${at}` : undefined}
      placeholder="shop, drain web1, create backend" autocomplete="off" spellcheck=${false} autofocus value=${phrase} onInput=${(event) => { setPhrase(event.target.value); setAt(0); }} onKeyDown=${onKeyDown} />
    <ul id="palette-list" role="listbox" aria-label="Matches" ref=${list}>${shown.map((entry, index) => html`<li id=${`palette-${index}`} role="option" aria-selected=${index === at ? "true" : "false"} onClick=${() => run(entry)}><span>${entry.text}</span> <span class="quiet">${entry.kind}</span></li>`)}</ul>
    ${isOpen && !shown.length && html`<p class="quiet" role="status">No match</p>`}
  </dialog>`;
}
