// Forms that create sections and lines of each kind that the API declares. Required and common members come first, then all others, with a search.

import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { UNLESS_CONFIRMED, inTransaction, outcome } from "./actions.js";
import { get } from "./api.js";
import { COLLECTIONS, bodyOf, declaration, formOf, kindsOf, referredTo, refusedMembers } from "./declaration.js";
import { Loaded, number, useLoaded } from "./kit.js";
import { backendNames, serversOf } from "./model.js";
import { segment, spell } from "./names.js";
import { Options, propose } from "./plan-dialog.js";
import { missing } from "./rights.js";
import { go, hrefOf } from "./route.js";
import { refresh, state } from "./store.js";

const CONFIG = "v3/services/haproxy/configuration/";
/** The kinds that the palette offers by name, with their keywords. */
export const OFTEN = {
  frontend: { bind: "bind", acl: "acl", backend_switching_rule: "use_backend rule", http_request_rule: "http-request rule" },
  backend: { server: "server", acl: "acl", http_request_rule: "http-request rule" },
};
const CORRECT = "Correct the marked members.";
// The initial values of a form.
const BEGINNING = { server: { check: "enabled" }, backend: { "server.check": "enabled" } };

/** Say which permission the caller lacks to create this; '' if none. */
export const lacksCreate = ({ keyword, name = "*", kind = "*" }) => missing("create", keyword ? `${spell(keyword)}/${name === "*" ? name : spell(name)}/${kind}/*` : `${kind}/*`);

/** Create an object in a section {keyword, name}, or a section if there is no keyword. The form has fields for what is not given. */
export async function create({ keyword = "", name = "", kind = "" } = {}) {
  let made = null;
  const place = { keyword, name, kind }, what = OFTEN[keyword]?.[kind] ?? kind;
  const answer = await propose({
    title: !keyword ? `Create ${what || "section"}` : `Create${what ? ` ${what}` : ""} in ${name ? `${keyword} ${name}` : `a ${keyword}`}`,
    verb: "Create",
    form: (given) => CreateForm({ ...given, place }),
    initial: { kind, name, index: "", body: { ...BEGINNING[kind] }, confirm: "" },
    plan: async (values) => {
      const planned = await planOf(keyword, values);
      made = planned.made;
      return planned;
    },
    done: (given) => outcome(`The ${made.noun}${made.name ? ` ${made.name}` : ""} is created`)(given),
  });
  if (!answer || keyword || !COLLECTIONS[made?.kind]) return;
  await refresh("sections");
  go(hrefOf("map", [made.kind, made.name]));
}

async function planOf(keyword, values) {
  const form = formOf(await declaration(), keyword, values);
  if (!form) return { incomplete: "Choose what to create." };
  if (keyword && !values.name) return { incomplete: `Choose a ${keyword}.` };
  const { about, own, first, along } = form;
  const isBegun = along.some(({ path }) => values.body[path] && values.body[path] !== BEGINNING[about.kind]?.[path]);
  const { body, problems, missing: left } = bodyOf(isBegun ? [...own, ...along] : own, values.body);
  if (values.index && !/^\d+$/.test(values.index)) problems.index = "should be a number from 0";
  if (Object.keys(problems).length) return { incomplete: CORRECT, problems };
  if (left.length) return { incomplete: `Enter ${left.join(", ")}.` };
  const { [first]: child, ...object } = body, name = object[about.key], collection = `${CONFIG}${about.path.replace("{parent_name}", segment(values.name))}`;
  const index = about.isIndexed ? `/${values.index || (await get(collection)).length}` : "";
  const edits = [{ method: "POST", path: `${collection}${index}`, body: object }];
  if (isBegun) edits.push({ method: "POST", path: `${collection}/${segment(name)}/${first}s`, body: child });
  try {
    const plan = await inTransaction(edits, values.confirm);
    // The lines of a new object say more than its members.
    return { ...plan, changes: plan.diff ? [] : plan.changes, made: { ...about, name } };
  } catch (error) {
    const isChild = edits.length > 1 && error.edit === edits[1];
    const refused = refusedMembers(isChild ? along : own, error, isChild ? `${first}.name` : about.key);
    if (!Object.keys(refused).length) throw error;
    return { incomplete: CORRECT, problems: refused };
  }
}

// The members that come first, by kind. A kind with few members shows all of them.
const COMMON = {
  frontend: "name mode default_backend from maxconn",
  backend: "name mode balance.algorithm from",
  server: "name address port check weight maxconn backup",
  bind: "name address port ssl ssl_certificate",
  listen: "name mode balance.algorithm from",
  defaults: "name mode connect_timeout client_timeout server_timeout",
};
const ALONG = { bind: "name address port", server: "name address port check" };
const FEW = 12;

/** The form. `place` has what was chosen before it opened: {keyword, name, kind}. */
function CreateForm({ values, set, plan, place }) {
  const loaded = useLoaded(declaration, []), element = useRef(null), problems = useProblems(plan);
  // Focus the first field when the form appears, and when another kind is chosen.
  useEffect(() => element.current?.querySelector("input, select")?.focus(), [loaded.loading]);
  const change = (member) => (value) => set((before) => ({ ...before, [member]: value }));
  const changeMember = (path, value) => set((before) => ({ ...before, body: { ...before.body, [path]: value } }));
  return html`<div class="create" ref=${element}><${Loaded} of=${loaded} what="the members">${(document) => {
    const kinds = kindsOf(document, COLLECTIONS[place.keyword]), form = formOf(document, place.keyword, values);
    return html`
      ${(!place.kind || (place.keyword && !place.name)) && html`<div class="fields">
        ${!place.kind && html`<${Choice} label="What" value=${values.kind} choices=${kinds.map((each) => [each.kind, titleOf(each)])} set=${(kind) => set((before) => ({ ...before, kind, body: {} }))} />`}
        ${place.keyword && !place.name && html`<${Choice} label=${place.keyword === "backend" ? "Backend" : "Frontend"} value=${values.name} choices=${sectionNames(place.keyword).map((each) => [each, each])} set=${change("name")} />`}
      </div>`}
      ${form && html`<${Members} key=${values.kind} form=${form} values=${values} problems=${problems} set=${changeMember} document=${document}>
        ${form.about.isIndexed && html`<${Field} field=${{ path: "index", title: "Position", help: "Place among the lines of its kind, 0 for the first. The last one if empty.", of: "integer" }} value=${values.index} problem=${problems.index} set=${(_, value) => change("index")(value)} />`}
      <//>`}
      <${Options} of=${{ confirm: UNLESS_CONFIRMED }} values=${values} set=${set} />`;
  }}<//></div>`;
}

const titleOf = ({ word, noun }) => (word === noun.toLowerCase() ? word : `${word} (${noun})`);
const sectionNames = (keyword) => (keyword === "backend" ? backendNames(state) : (state.frontends ?? []).map((each) => each.name));

/** Return the problems by member. While a plan is made, they are those of the previous plan. */
function useProblems(plan) {
  const last = useRef({});
  if (!plan.loading) last.current = plan.problems ?? {};
  return last.current;
}

function Members({ form: { about, own, first, along }, values, problems, set, document, children }) {
  const [search, setSearch] = useState(""), [isOpen, setOpen] = useState(false);
  const parts = useMemo(() => divided(own, COMMON[about.kind]), [own.map(({ path }) => path).join()]);
  const field = (each) => html`<${Field} key=${each.path} field=${each} value=${values.body[each.path]} problem=${problems[each.path]} set=${set} names=${() => namesFor(document, each, values.name)} />`;
  const wanted = search.trim().toLowerCase(), byPath = Object.fromEntries(own.map((each) => [each.path, each]));
  const found = parts.rest.map((path) => byPath[path]).filter((each) => isGiven(values.body[each.path]) || `${each.path} ${each.help}`.toLowerCase().includes(wanted));
  // A refused member is always visible.
  const isShown = isOpen || parts.rest.some((path) => problems[path]);
  return html`<div class="fields">${parts.first.map((path) => byPath[path] && field(byPath[path]))}${children}</div>
    ${first && html`<fieldset class="along"><legend>First ${first}, if any</legend><div class="fields">${divided(along, ALONG[first].split(" ").map((member) => `${first}.${member}`).join(" ")).first.map((path) => field({ ...along.find((each) => each.path === path), title: path.split(".")[1], isRequired: false }))}</div></fieldset>`}
    ${parts.rest.length > 0 && html`<details class="more-members" open=${isShown} onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>More members <span class="count">${number(parts.rest.length)}</span></summary>
      ${isShown && html`<input type="search" placeholder="Name or description" aria-label="Find a member" value=${search} onInput=${(event) => setSearch(event.target.value)} />
        <div class="fields">${found.map(field)}</div>${!found.length && html`<p class="quiet" role="status">No member matches</p>`}`}</details>`}`;
}

/** Return the paths of the fields that come first, and of the others. */
function divided(fields, common = "") {
  const paths = fields.map(({ path }) => path), needed = fields.filter(({ isRequired }) => isRequired).map(({ path }) => path);
  const wanted = [...common.split(" "), ...needed, ...(paths.length <= FEW ? paths : [])];
  const first = [...new Set(wanted)].filter((path) => paths.includes(path));
  return { first, rest: paths.filter((path) => !first.includes(path)) };
}

const isGiven = (value) => value !== undefined && value !== "" && value !== false && value.length !== 0;

/** Return the names of the objects to which a field may refer. */
function namesFor(document, field, section) {
  const kinds = referredTo(document, field);
  if (kinds.includes("backend")) return backendNames(state);
  return kinds.includes("backend/server") ? serversOf(state, section).map((each) => each.name) : [];
}

/** The field of one member, with its description or its problem. */
function Field({ field, value, problem, set, names }) {
  const id = `field-${field.id ?? field.path}`, about = `${id}-about`, give = (given) => set(field.path, given);
  const known = { id, "aria-describedby": about, "aria-invalid": problem ? "true" : undefined };
  const title = field.title ?? field.path;
  if (field.type === "rows") return html`<fieldset class="field rows-field"><legend>${title}</legend><${Rows} field=${field} value=${value} give=${give} /><${About} id=${about} field=${field} problem=${problem} /></fieldset>`;
  return html`<div class=${`field ${field.type === "boolean" ? "is-check" : ""}`}>
    <label for=${id} class=${field.isRequired ? "is-needed" : ""}>${title}${field.unit ? html` <span class="unit">${field.unit}</span>` : ""}</label>
    <${Input} field=${field} known=${known} value=${value} give=${give} names=${names} />
    <${About} id=${about} field=${field} problem=${problem} />
  </div>`;
}

const About = ({ id, field, problem }) => html`<p id=${id} class=${problem ? "wrong" : "help"}>${problem ?? field.help}</p>`;

function Input({ field, known, value, give, names }) {
  const needed = field.isRequired ? "true" : undefined;
  if (field.type === "boolean") return html`<input type="checkbox" ...${known} checked=${Boolean(value)} onChange=${(event) => give(event.target.checked)} />`;
  if (field.type === "choices") return html`<select multiple size="4" ...${known} onChange=${(event) => give([...event.target.selectedOptions].map((each) => each.value))}>${field.choices.map((each) => html`<option value=${each} selected=${value?.includes(each)}>${each}</option>`)}</select>`;
  if (field.type === "choice") return html`<select ...${known} aria-required=${needed} value=${value ?? ""} onChange=${(event) => give(event.target.value)}><option value="">–</option>${field.choices.map((each) => html`<option value=${String(each)} selected=${String(each) === value}>${each}</option>`)}</select>`;
  if (field.type === "texts") return html`<textarea rows="2" ...${known} placeholder="One a line" spellcheck=${false} value=${value ?? ""} onInput=${(event) => give(event.target.value)}></textarea>`;
  const listed = names?.() ?? [];
  return html`<input type="text" ...${known} aria-required=${needed} inputmode=${field.of ? "numeric" : undefined} list=${listed.length ? `${known.id}-names` : undefined} placeholder=${field.example ?? undefined} autocomplete="off" spellcheck=${false} value=${value ?? ""} onInput=${(event) => give(event.target.value)} />
    ${listed.length > 0 && html`<datalist id=${`${known.id}-names`}>${listed.slice(0, 500).map((each) => html`<option value=${each}></option>`)}</datalist>`}`;
}

/** The fields of a list of objects, such as the header fields of a response. */
function Rows({ field, value = [], give }) {
  const change = (index) => (path, given) => give(value.map((row, at) => (at === index ? { ...row, [path]: given } : row)));
  return html`${value.map((row, index) => html`<div class="fields" key=${index}>${field.fields.map((each) => html`<${Field} field=${{ ...each, title: `${each.path} ${index + 1}`, id: `${field.path}.${index}.${each.path}` }} value=${row[each.path]} set=${change(index)} />`)}
      <button type="button" aria-label=${`Remove ${index + 1}`} onClick=${() => give(value.filter((_, at) => at !== index))}>Remove</button></div>`)}
    <button type="button" aria-label=${`Add to ${field.path}`} onClick=${() => give([...value, {}])}>Add</button>`;
}

function Choice({ label, value, choices, set }) {
  return html`<div class="field is-wide"><label for=${`choice-${label}`}>${label}</label><select id=${`choice-${label}`} value=${value} onChange=${(event) => set(event.target.value)}><option value="">–</option>${choices.map(([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`)}</select></div>`;
}
