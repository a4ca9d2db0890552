// The declarations of the objects that forms create: pure functions of the OpenAPI document, which is loaded when the first form opens.

import { get } from "./api.js";

const CONFIG = "/services/haproxy/configuration/";
/** The collections of sections in which objects can be created. */
export const COLLECTIONS = { frontend: "frontends", backend: "backends" };
/** The kind of the first object that is created together with a section. */
const FIRST = { frontend: "bind", backend: "server" };
const SKIPPED = new Set(["metadata"]);
let document_ = null;

/** Load the OpenAPI document. If that fails, the next call tries again. */
export function declaration() {
  document_ ??= get("v3/specification_openapiv3").catch((error) => {
    document_ = null;
    throw error;
  });
  return document_;
}

/** Return the kinds that can be created in sections of a collection such as `backends`, or the kinds of sections: {path, kind, word, noun, key, isIndexed}. */
export function kindsOf(document, collection) {
  const pattern = collection ? new RegExp(`^${CONFIG}(${collection}/\\{parent_name\\}/\\w+)(/\\{index\\})?$`) : new RegExp(`^${CONFIG}(\\w+)()$`);
  const found = [];
  for (const [path, { post }] of Object.entries(document.paths)) {
    const [, place, index] = pattern.exec(path) ?? [], about = post?.["x-operation"];
    if (!place || !about?.resource || (!collection && about.parent)) continue;
    const { noun, key, kind, schema, section } = document["x-resources"][about.resource];
    if (kind !== "singleton") found.push({ path: place, kind: schema, word: section ?? wordOf(document, schema), noun, key, isIndexed: Boolean(index) });
  }
  return found.sort((a, b) => a.word.localeCompare(b.word));
}

/** Return the first word of the lines of a kind. */
function wordOf(document, schema) {
  const { keyword, line, lines = {} } = resolved(document, schemaOf(schema))["x-haproxy"];
  return (keyword ?? line ?? Object.values(lines).flat()[0]).split(" ")[0];
}

const nameOf = ({ $ref }) => $ref?.split("/").at(-1);

const schemaOf = (name) => ({ $ref: `#/components/schemas/${name}` });

/** Return the target of a reference. Members next to the reference take precedence. */
function resolved(document, { $ref, ...beside }) {
  return $ref ? { ...resolved(document, document.components.schemas[nameOf({ $ref })]), ...beside } : beside;
}

/** Return the members of a schema, including those of its `allOf` parts. */
function membersOf(document, schema) {
  const { allOf = [], properties = {} } = resolved(document, schema);
  return Object.assign({}, ...allOf.map((part) => membersOf(document, part)), properties);
}

/**
 * Return the fields of a schema, including those of inner objects: {path, type, of, help, isRequired, choices, unit, example, line}. `type` is
 * text, boolean, choice, texts (one in each line), choices, or rows, which have the `fields` of one row. `of` is integer or number for numeric
 * members. `values` has the values of the form by path: if a member selects a form of the line, only the members of that form are returned.
 */
function fieldsOf(document, schema, values, prefix = "", isInner = false) {
  const { required = [], "x-haproxy": note = {}, allOf = [] } = resolved(document, schema);
  const members = membersOf(document, schema), needed = new Set([...required, ...allOf.flatMap((part) => resolved(document, part).required ?? [])]);
  const form = chosenForm(note, members, values, prefix), line = typeof note.line === "string" ? note.line : "";
  const fields = [];
  for (const [member, declared] of Object.entries(members)) {
    const whole = resolved(document, declared), path = prefix + member, own = whole["x-haproxy"] ?? {};
    if (SKIPPED.has(member) || whole.deprecated || whole.readOnly || own.alias_of || own.ignored || whole.additionalProperties || (form && !form.members.has(member))) continue;
    // A list with its own schema has other objects, such as the rules of a frontend.
    if (whole.type === "array" && declared.$ref) continue;
    if (whole.allOf || whole.properties) fields.push(...fieldsOf(document, declared, values, `${path}.`, true));
    else fields.push({ ...fieldOf(document, whole), path, isRequired: !isInner && (needed.has(member) || Boolean(form?.required.has(member))), ...(form?.choices[member] && { choices: form.choices[member] }),
      line: line.includes(`<${member}>`) ? line.split(`<${member}>`)[0].trim() : (own.keyword ?? member) });
  }
  // In the order of the line. Members that are not in the line come last.
  const order = [...(form?.members ?? placeholders(line))].map((member) => prefix + member), placeOf = ({ path }) => order.indexOf(path) + 1 || 999;
  return fields.sort((a, b) => placeOf(a) - placeOf(b));
}

function fieldOf(document, { type, description: help = "", enum: choices, example, items, ...rest }) {
  const field = { type: choices ? "choice" : "text", help, example, choices };
  if (type === "array") {
    const item = resolved(document, items);
    if (item.properties) return { ...field, type: "rows", fields: fieldsOf(document, items, {}).sort((a, b) => (b.path === "name") - (a.path === "name")) };
    return { ...field, type: item.enum ? "choices" : "texts", choices: item.enum, of: item.type };
  }
  if (type === "boolean") return { ...field, type };
  if (type === "string") return field;
  return { ...field, of: type, unit: rest["x-duration"] ? (rest["x-default-unit"] ?? "ms") : rest["x-size"] ? "bytes" : "" };
}

/** Return the form of a line that the values select so far: {members, required, choices}; null if the line has only one form. */
function chosenForm({ chosen_by: by, lines, tail = "" }, members, values, prefix) {
  if (!by || !lines || typeof lines !== "object") return null;
  const choosers = [by].flat();
  let left = Object.entries(lines).map(([key, texts]) => ({ words: key.split(" ").map((word) => word.split("|")), texts: [texts].flat() }));
  const shown = new Set(), required = new Set(), choices = {};
  for (const [place, member] of choosers.entries()) {
    const those = left.filter(({ words }) => words[place]);
    if (!those.length || !members[member]) break;
    shown.add(member);
    if (those.length === left.length) required.add(member);
    choices[member] = [...new Set(those.flatMap(({ words }) => words[place]))].sort();
    const value = values[prefix + member];
    left = value ? left.filter(({ words }) => words[place]?.includes(String(value))) : place ? left.filter(({ words }) => !words[place]) : [];
    if (!left.length) break;
  }
  const forms = left.flatMap(({ texts }) => texts).map((text) => ({ all: placeholders(`${text} ${tail}`), needed: placeholders(withoutOptions(text)) }));
  // The content of a response is written after its format, without a keyword.
  const beside = (member) => Object.keys(members).filter((each) => members[each]["x-secret"] === `content ${member}`);
  forms.forEach(({ all }) => all.forEach((member) => [member, ...beside(member)].forEach((each) => shown.add(each))));
  [...shown].filter((member) => forms.length && forms.every(({ needed }) => needed.includes(member))).forEach((member) => required.add(member));
  return { members: shown, required, choices };
}

const placeholders = (text) => [...text.matchAll(/<([\w-]+)/g)].map(([, member]) => member);

function withoutOptions(text) {
  const less = text.replace(/\[[^[\]]*\]\*?/g, "");
  return less === text ? text : withoutOptions(less);
}

/** Return the kind that was chosen in a form, with its fields and those of the first object `along`; null if no kind is chosen yet. */
export function formOf(document, keyword, { kind, body }) {
  const about = kindsOf(document, COLLECTIONS[keyword]).find((each) => each.kind === kind);
  if (!about) return null;
  const own = fieldsOf(document, schemaOf(kind), body).map((field) => (field.path === about.key ? { ...field, isRequired: true } : field));
  const first = keyword ? undefined : FIRST[kind];
  return { about, own, first, along: first ? fieldsOf(document, schemaOf(first), body, `${first}.`) : [] };
}

/** Return the kinds to which a field may refer: `backend` for `default_backend`. */
export function referredTo(document, { line }) {
  return Object.entries(document["x-references"].kinds).filter(([, { lines = [], here = [] }]) => [...lines, ...here].includes(`${line} <>`)).map(([kind]) => kind);
}

/** Return the body of a call from the values of a form, the problems by path, and the missing members. The server checks bounds and patterns. */
export function bodyOf(fields, values) {
  const body = {}, problems = {}, missing = [];
  for (const field of fields) {
    const given = values[field.path], { value, problem } = valueOf(field, given);
    if (problem) problems[field.path] = problem;
    if (value !== undefined) put(body, field.path, value);
    else if (field.isRequired) missing.push(field.path);
  }
  return { body, problems, missing };
}

function put(body, path, value) {
  const steps = path.split("."), last = steps.pop();
  let at = body;
  for (const step of steps) at = at[step] ??= {};
  at[last] = value;
}

function valueOf(field, given) {
  if (field.type === "rows") {
    const rows = (given ?? []).map((row) => bodyOf(field.fields, row).body).filter((row) => Object.keys(row).length);
    return rows.length ? { value: rows } : {};
  }
  if (field.type === "choices") return given?.length ? { value: given } : {};
  if (field.type === "texts") {
    const lines = (given ?? "").split("\n").map((each) => each.trim()).filter(Boolean);
    return lines.length ? { value: field.of === "integer" ? lines.map(Number) : lines } : {};
  }
  if (field.type === "boolean") return given ? { value: true } : {};
  const text = (given ?? "").trim();
  if (!text) return {};
  if (!field.of) return { value: text };
  return Number.isInteger(Number(text)) || field.of === "number" ? { value: Number(text) } : { problem: "should be an integer" };
}

/** Return the messages of a refusal by the path of their field, as in "weight in body should be at most 256". */
export function refusedMembers(fields, { status, message = "", body }, key) {
  const said = {}, paths = fields.map(({ path }) => path);
  const note = (member, text) => {
    const path = [member, ...paths.filter((each) => each.endsWith(`.${member}`) || member.startsWith(`${each}.`))].find((each) => paths.includes(each));
    if (path) said[path] = text;
  };
  for (const [, member, text] of message.matchAll(/(?:^|[\s:])([\w.-]+) in body (.+)$/gm)) note(member, text);
  if (body?.place?.member && !Object.keys(said).length) note(body.place.member, message.replace(/^validation error: /, ""));
  if (status === 409 && /already exists$/.test(message)) note(key, message.replace(/^object already exists: /, ""));
  return said;
}
