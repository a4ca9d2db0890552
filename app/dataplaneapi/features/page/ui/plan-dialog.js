// The dialog of all actions. It shows what would happen, and then sends exactly that.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { ApiError, call, post } from "./api.js";
import { Badge, Changes, Diff, Loading, Problem, counted } from "./kit.js";
import { touch, useStore } from "./store.js";

/**
 * An action is {
 *   title, verb           the texts of the heading and the button; with `danger`, the button is red
 *   options               {name: {label, choices: [[value, text]] | type, ...}}, with their `initial` values; or a component `form` that gets the
 *                         `values`, the function `set` and the `plan`
 *   call(options)         the call: {method, path, query, body | text, type, headers}
 *   plan(options)         the effects: {changes: [{object, member, old, new}], diff, commands, reasons, reload, messages, notes: [text], call, how,
 *                         incomplete, isRefused, discard}. Its `call` takes precedence. `how` is a sentence instead of the one about a reload.
 *                         `incomplete` says which input is missing, and `isRefused` that HAProxy refuses the change. `discard` is called if
 *                         the plan is not carried out
 *   done(answer)          the sentence that is shown afterwards
 * }
 */
let current = null;
// A slider that moves or a text that is typed asks once, when it rests; in milliseconds.
const REST = 250;

/** Shows the plan of an action; resolves to the answer of its call, or to null where it was not carried out. */
export function propose(action) {
  current?.resolve(null);
  return new Promise((resolve) => {
    current = { action, resolve };
    touch("dialog");
  });
}

function close(answer) {
  current?.resolve(answer);
  current = null;
  touch("dialog");
}

export function PlanDialog() {
  useStore("dialog");
  return current && html`<${Dialog} key=${current.action} action=${current.action} />`;
}

function Dialog({ action }) {
  const element = useRef(null);
  const [options, setOptions] = useState(action.initial ?? {});
  const [plan, setPlan] = useState({ loading: true });
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState(null);
  const isFirst = useRef(true), isSent = useRef(false);

  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.focus?.();
  }, []);

  useEffect(() => {
    let isCurrent = true, made = null;
    setPlan({ loading: true });
    setFailure(null);
    const show = (found) => {
      made = found;
      if (isCurrent) setPlan(found);
      else found.discard?.();
    };
    const timer = setTimeout(() => planned(action, options).then(show, (error) => isCurrent && setPlan({ error })), isFirst.current ? 0 : REST);
    isFirst.current = false;
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      if (!isSent.current) made?.discard?.();
    };
  }, [action, JSON.stringify(options)]);

  async function carryOut(event) {
    event.preventDefault();
    setSending(true);
    setFailure(null);
    try {
      const { method, path, ...sent } = plan.call;
      const answer = await call(method, path, { ...sent, full: true });
      isSent.current = true;
      announce(action.done?.(answer) ?? "Done.");
      close(answer);
    } catch (error) {
      setFailure(error);
      setSending(false);
    }
  }

  const isReady = !plan.loading && !plan.error && plan.allowed && !plan.isRefused;
  return html`<dialog ref=${element} class=${action.form ? "plan has-form" : "plan"} aria-labelledby="plan-title" onClose=${() => close(null)} onCancel=${(event) => sending && event.preventDefault()}>
    <form method="dialog" onSubmit=${carryOut}>
      <h2 id="plan-title">${action.title}</h2>
      ${action.options && html`<${Options} of=${action.options} values=${options} set=${setOptions} />`}
      ${action.form && html`<${action.form} values=${options} set=${setOptions} plan=${plan} />`}
      <section class="planned" aria-label="Plan" aria-live="polite">
        ${plan.loading && html`<${Loading} what="the plan" />`}
        ${plan.error && html`<${Problem} title="Cannot show the plan" text=${plan.error.message} />`}
        ${!plan.loading && !plan.error && html`<${Plan} plan=${plan} />`}
      </section>
      ${failure && html`<${Failure} of=${failure} />`}
      <div class="buttons">
        <button type="button" onClick=${() => element.current.close()} disabled=${sending}>Cancel</button>
        <button type="submit" class=${action.danger ? "primary danger" : "primary"} disabled=${!isReady || sending}>${sending ? "Working …" : action.verb}</button>
      </div>
    </form>
  </dialog>`;
}

/** The plan of an action with these options, and whether the server would allow its call. */
async function planned(action, options) {
  const told = (await action.plan?.(options)) ?? {};
  if (told.incomplete) return told;
  const wanted = told.call ?? action.call(options);
  const query = new URLSearchParams(Object.entries(wanted.query ?? {}).filter(([, value]) => value !== undefined && value !== ""));
  const question = { method: wanted.method, path: `/${wanted.path}${query.size ? `?${query}` : ""}` };
  if (wanted.body !== undefined || wanted.text !== undefined) question.body = wanted.body ?? wanted.text;
  if (wanted.type) question.content_type = wanted.type;
  const verdict = await post("v3/sidecar/access/check", question);
  return { ...told, call: wanted, allowed: verdict.allowed, refused: verdict, reload: told.reload ?? verdict.reload };
}

function Plan({ plan }) {
  if (plan.incomplete) return html`<p class="note">${plan.incomplete}</p>`;
  const messages = (plan.messages ?? []).filter(({ severity }) => severity !== "notice");
  return html`
    ${!plan.allowed && html`<${Refusal} of=${plan.refused} />`}
    ${plan.changes?.length > 0 && html`<${Changes} rows=${plan.changes} titles=${["Now", "Then"]} />`}
    ${!plan.isRefused && html`<p class="how"><${How} plan=${plan} /></p>`}
    ${!plan.isRefused && plan.reasons?.length > 0 && html`<ul class="reasons">${plan.reasons.map((each) => html`<li>${each.section && html`<code>${each.section}</code> `}${each.reason}</li>`)}</ul>`}
    ${plan.notes?.map((note) => html`<p class="note">${note}</p>`)}
    ${messages.length > 0 && html`<${Problem} title=${plan.isRefused ? "HAProxy refuses this" : "HAProxy's messages"} text=${messages.map((each) => `${each.line ? `line ${each.line}: ` : ""}${each.text}`).join("\n")} />`}
    <${Diff} text=${plan.diff} />
    ${plan.commands?.length > 0 && html`<details><summary>${counted(plan.commands.length, "runtime command")}</summary><pre tabindex="0">${plan.commands.join("\n")}</pre></details>`}
  `;
}

const How = ({ plan }) =>
  plan.how ? plan.how
  : plan.reload ? html`<${Badge} tone="reload">Reload<//> HAProxy applies this by a reload.`
  : plan.reload === false ? html`<${Badge} tone="live">Live<//> HAProxy applies this at runtime, without a reload.`
  : html`<${Badge}>Unknown<//> The response will show whether HAProxy needs a reload.`;

/** A 403 names the rule that would allow it; anything else is what the call itself would answer. */
const Refusal = ({ of }) => html`<div class="problem" role="alert">
  <p class="problem-title">${of.code === 403 ? "Your role does not allow this" : "The server would refuse this"}</p>
  <p>${of.reason}</p>
</div>`;

function Failure({ of }) {
  const alerts = of.body?.alerts?.map((each) => each.text).join("\n");
  const text = of instanceof ApiError && of.status === 0 ? "The server did not answer. The history shows whether the change was made." : of.message;
  return html`<${Problem} title="The call failed" text=${alerts || text} />`;
}

export function Options({ of, values, set }) {
  return html`<div class="options">${Object.entries(of).map(([name, option]) => html`<label key=${name} class=${option.type === "checkbox" ? "check" : option.type === "textarea" ? "whole" : ""}>
    <span>${option.label}</span>
    <${Field} option=${option} value=${values[name]} set=${(value) => set((before) => ({ ...before, [name]: value }))} />
    ${option.type === "range" && html`<output>${option.shown?.(values[name]) ?? values[name]}</output>`}
  </label>`)}</div>`;
}

function Field({ option, value, set }) {
  if (option.choices) return html`<select value=${value} onChange=${(event) => set(event.target.value)}>${option.choices.map(([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`)}</select>`;
  if (option.type === "checkbox") return html`<input type="checkbox" checked=${value} onChange=${(event) => set(event.target.checked)} />`;
  if (option.type === "textarea") return html`<textarea rows=${12} spellcheck=${false} autocomplete="off" value=${value} onInput=${(event) => set(event.target.value)}></textarea>`;
  if (option.type === "file") return html`<input type="file" multiple onChange=${async (event) => set(await contentOf(event.target.files))} />`;
  const isText = option.type === "text";
  return html`<input type=${option.type} value=${value} placeholder=${option.placeholder} spellcheck=${false} autocomplete="off" min=${option.min} max=${option.max} step=${option.step} onInput=${(event) => set(isText ? event.target.value : Number(event.target.value))} />`;
}

/** Files as one, such as a certificate and its key: {name, text}, with the name of the first. */
async function contentOf(files) {
  const texts = await Promise.all([...files].map((each) => each.text()));
  return texts.length ? { name: files[0].name, text: texts.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("") } : null;
}

// What has been done, for eyes and ears.
let announced = null, clearing;

export function announce(text) {
  announced = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => {
    announced = null;
    touch("announced");
  }, 8_000);
  touch("announced");
}

export function Announcement() {
  useStore("announced");
  return html`<div class="announcement" role="status" aria-live="polite">${announced && html`<p>${announced}</p>`}</div>`;
}
