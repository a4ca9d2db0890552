// What the rules of the caller's role allow, as `whoami` names them: a call that they refuse is not made, and its button says which rule is
// missing. Where they may allow it the server has the last word, in the plan.

import { ApiError } from "./api.js";
import { state } from "./store.js";

const literal = (text) => text.replace(/[.+?^${}()|[\]\\*]/g, "\\$&");
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Whether a part of a pattern is for this part of a name; for all of them where that is `*`. */
function fits(part, name, whole) {
  if (name === "*") return whole ? part === "*" : true;
  return new RegExp(`^${part.split("*").map((each) => literal(decoded(each))).join(".*")}$`, "s").test(decoded(name));
}

/** Whether the pattern of a rule is for an object or what it stands in. `*` in the object is a name that is not known; with `whole` it is all of them. */
function covers(pattern, object, whole = false) {
  const names = object.split("/");
  for (const [index, part] of pattern.split("/").entries()) {
    if (part === "**") return !whole || pattern === "**" || index > 0;
    if (index >= names.length || names[index] === "**" || !fits(part, names[index], whole)) return false;
  }
  return true;
}

const who = ({ roles, name }) => (roles.length ? `role ${roles.join(", ")}` : name);
const spelled = (object) => (object.includes("*") ? `'${object}'` : object);

/** Which right the caller lacks for this, in the words of the server; empty where it may have it. */
export function missing(verb, object, ...members) {
  const { caller } = state;
  if (!caller?.limited) return "";
  const rules = caller.rules.filter((rule) => rule.may.includes(verb) && covers(rule.objects, object));
  const left = rules.some((rule) => !rule.fields) ? [] : members.filter((member) => !rules.some((rule) => rule.fields.includes(member)));
  if (rules.length && (verb === "read" || !left.length)) return "";
  const of = left.length ? `${left.join(", ")} of ` : "", fields = left.length ? `, fields: [${left.join(", ")}]` : "";
  return `${who(caller)} may not ${verb} ${of}${object}; a rule that allows it: {objects: ${spelled(object)}, may: [${verb}]${fields}}`;
}

/** The same for what a rule may allow a part of: a section with what stands in it, or anything at all where none is named. */
export function untouchable(object = "") {
  const { caller } = state;
  const writes = (rule) => rule.may.some((verb) => verb === "create" || verb === "change" || verb === "delete");
  if (!caller?.limited || caller.rules.some((rule) => writes(rule) && (!object || covers(rule.objects, `${object}/*/*`)))) return "";
  return missing("change", object || "**");
}

/** The same for reading all of a kind, such as `map/*`, or everything, `**`. */
export function unread(objects) {
  const { caller } = state;
  if (!caller?.limited || caller.rules.some((rule) => rule.may.includes("read") && covers(rule.objects, objects, true))) return "";
  return `${who(caller)} may not read ${objects === "**" ? "everything" : `all of ${objects}`}; a rule that allows it: {objects: '${objects}', may: [read]}`;
}

/** Throws the refusal that the server would answer. */
export function demandRead(objects) {
  const why = unread(objects);
  if (why) throw new ApiError(403, why);
}
