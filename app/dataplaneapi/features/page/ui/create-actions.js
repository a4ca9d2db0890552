// What can be created in the configuration: each kind that the API declares, by a form made of its declaration (create-form.js).

import { inTransaction, outcome } from "./actions.js";
import { get } from "./api.js";
import { CreateForm } from "./create-form.js";
import { COLLECTIONS, bodyOf, declaration, formOf, refusedMembers } from "./declaration.js";
import { segment, spell } from "./names.js";
import { propose } from "./plan-dialog.js";
import { missing } from "./rights.js";
import { go, hrefOf } from "./route.js";
import { refresh } from "./store.js";

const CONFIG = "v3/services/haproxy/configuration/";
/** Kinds that the palette offers by name, with their words. */
export const OFTEN = {
  frontend: { bind: "bind", acl: "acl", backend_switching_rule: "use_backend rule", http_request_rule: "http-request rule" },
  backend: { server: "server", acl: "acl", http_request_rule: "http-request rule" },
};
const CORRECT = "Correct the marked members.";
// Values that a form begins with.
const BEGINNING = { server: { check: "enabled" }, backend: { "server.check": "enabled" } };

/** Which right the caller lacks for this; empty where it may have it. */
export const lacksCreate = ({ keyword, name = "*", kind = "*" }) => missing("create", keyword ? `${spell(keyword)}/${name === "*" ? name : spell(name)}/${kind}/*` : `${kind}/*`);

/** Creates an object in a section {keyword, name} of which the form asks for what is missing; or a section, without a keyword. */
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
    return { ...(await inTransaction(edits, values.confirm)), made: { ...about, name } };
  } catch (error) {
    const isChild = edits.length > 1 && error.edit === edits[1];
    const refused = refusedMembers(isChild ? along : own, error, isChild ? `${first}.name` : about.key);
    if (!Object.keys(refused).length) throw error;
    return { incomplete: CORRECT, problems: refused };
  }
}
