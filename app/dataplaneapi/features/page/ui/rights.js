// Permissions of the caller by the rules of `whoami`. The page does not make a call that they refuse; its button names the missing rule. If they
// may allow a call, the server decides in the plan.

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

/** Whether a part of a pattern matches a part of a name. With `whole`, it must match all names if the part of the name is `*`. */
function fits(part, name, whole) {
  if (name === "*") return whole ? part === "*" : true;
  return new RegExp(`^${part.split("*").map((each) => literal(decoded(each))).join(".*")}$`, "s").test(decoded(name));
}

/** Whether the pattern of a rule covers an object or its section. In the object, `*` is an unknown name; with `whole`, all names. */
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

/** Say which permission the caller lacks, in the words of the server; '' if it may have it. */
export function missing(verb, object, ...members) {
  const { caller } = state;
  if (!caller?.limited) return "";
  const rules = caller.rules.filter((rule) => rule.may.includes(verb) && covers(rule.objects, object));
  const left = rules.some((rule) => !rule.fields) ? [] : members.filter((member) => !rules.some((rule) => rule.fields.includes(member)));
  if (rules.length && (verb === "read" || !left.length)) return "";
  const of = left.length ? `${left.join(", ")} of ` : "", fields = left.length ? `, fields: [${left.join(", ")}]` : "";
  return `${who(caller)} may not ${verb} ${of}${object}; a rule that allows it: {objects: ${spelled(object)}, may: [${verb}]${fields}}`;
}

/** Say that the caller may change nothing in a section, or nothing at all without an object; '' if it may change a part. */
export function untouchable(object = "") {
  const { caller } = state;
  const writes = (rule) => rule.may.some((verb) => verb === "create" || verb === "change" || verb === "delete");
  if (!caller?.limited || caller.rules.some((rule) => writes(rule) && (!object || covers(rule.objects, `${object}/*/*`)))) return "";
  return missing("change", object || "**");
}

/** Say that the caller may not read all objects of a kind, such as `map/*`, or everything (`**`); '' if it may. */
export function unread(objects) {
  const { caller } = state;
  if (!caller?.limited || caller.rules.some((rule) => rule.may.includes("read") && covers(rule.objects, objects, true))) return "";
  return `${who(caller)} may not read ${objects === "**" ? "everything" : `all of ${objects}`}; a rule that allows it: {objects: '${objects}', may: [read]}`;
}

/** Throw the refusal that the server would answer. */
export function demandRead(objects) {
  const why = unread(objects);
  if (why) throw new ApiError(403, why);
}
