// What HAProxy does with a request: the form, the answer, and the path that the map highlights.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { post } from "../api.js";
import { Badge, Forbidden, Loading, Mark, Problem } from "../kit.js";
import { CONDITIONS } from "../model.js";
import { unread } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, touch, useStore } from "../store.js";

const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];

/** Return the path on the map: {frontend, backend, server}. */
export const wayOf = (explained) => ({ frontend: explained?.answer?.listener.frontend, backend: explained?.answer?.backend, server: explained?.answer?.server });

/** Explain a request, and show its path on the map. `state.explained` is {question, answer, error, loading}. */
export async function explain(question) {
  const asked = (state.explained = { question, loading: true });
  touch("explained");
  try {
    asked.answer = await post("v3/sidecar/explain", question);
  } catch (error) {
    asked.error = error;
  }
  asked.loading = false;
  touch("explained");
}

/** Return the members of the form that are not empty. */
function questionOf({ url, method, src, frontend, headers }) {
  const lines = headers.split("\n").map((line) => /^([^:]+):\s*(.*)$/.exec(line.trim())).filter(Boolean);
  const values = {};
  for (const [, name, value] of lines) values[name.trim()] = [...(values[name.trim()] ?? []), value];
  return { url: url.trim(), method, ...(src.trim() && { src: src.trim() }), ...(frontend && { frontend }), ...(lines.length && { headers: values }) };
}

const spelled = (headers = {}) => Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`)).join("\n");

export function RequestDetail() {
  useStore("explained");
  const form = useRef(null), explained = state.explained, why = unread("**");
  const asked = explained?.question ?? {};
  const [isOpen, setOpen] = useState(Boolean(asked.frontend || asked.headers));
  useEffect(() => form.current.elements.url.focus(), []);
  // Often the frontend has to be named.
  useEffect(() => { if (explained?.error) setOpen(true); }, [explained?.error]);
  const ask = (event) => {
    event.preventDefault();
    explain(questionOf(Object.fromEntries(new FormData(form.current))));
  };
  return html`<h2>What happens to a request</h2>
    <form class="ask" ref=${form} onSubmit=${ask} aria-label="Request">
      <div class="options">
        <label class="narrow"><span>Method</span><select name="method">${METHODS.map((each) => html`<option selected=${each === asked.method}>${each}</option>`)}</select></label>
        <label class="wide"><span>URL</span><input name="url" type="text" required spellcheck=${false} autocomplete="off" placeholder="https://shop.example/cart" defaultValue=${asked.url ?? ""} /></label>
        <label><span>Address of the client</span><input name="src" type="text" spellcheck=${false} autocomplete="off" placeholder="192.0.2.1" defaultValue=${asked.src ?? ""} /></label>
      </div>
      <details open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}><summary>Headers and listener</summary><div class="options">
        <label class="wide"><span>Headers, one on a line</span><textarea name="headers" rows="3" spellcheck=${false} autocomplete="off" placeholder="Cookie: session=1" defaultValue=${spelled(asked.headers)}></textarea></label>
        <label><span>Frontend</span><select name="frontend"><option value="">the one that listens on the port</option>${(state.frontends ?? []).map((each) => html`<option selected=${each.name === asked.frontend}>${each.name}</option>`)}</select></label>
      </div></details>
      <div><button type="submit" class="primary" disabled=${Boolean(why) || explained?.loading} title=${why || undefined}>${explained?.loading ? "Asking …" : "Ask HAProxy"}</button></div>
    </form>
    <div aria-live="polite">${why ? html`<${Forbidden} what="what happens to requests" text=${why} />` : explained ? html`<${Outcome} of=${explained} />` : html`<p class="quiet">A second HAProxy process with the same configuration answers. It contacts no server, and changes nothing.</p>`}</div>`;
}

function Outcome({ of: { loading, error, answer } }) {
  if (loading) return html`<${Loading} what="the answer" />`;
  if (error?.status === 403) return html`<${Forbidden} what="what happens to requests" text=${error.message} />`;
  if (error) return html`<${Problem} title=${error.status === 501 ? "No second HAProxy can be asked" : "It cannot be answered"} text=${error.message} />`;
  return html`<${Way} of=${answer} />
    ${answer.location && html`<p>The response redirects to <code>${answer.location}</code>.</p>`}
    <h3>Rules that apply</h3><${Rules} rules=${answer.rules} />
    ${answer.unknown.length > 0 && html`<h3>Other rules that may apply</h3><ul class="reasons">${answer.unknown.map((each) => html`<li><${Line} of=${each} /><br /><span class="quiet">${each.why}</span></li>`)}</ul>`}
    ${answer.request && html`<${Message} title="What the server gets" of=${answer.request} />`}
    ${answer.response && html`<${Message} title="What the client gets" of=${answer.response} />`}
    ${answer.variables && html`<details><summary>Variables at the end</summary><pre class="said" tabindex="0">${Object.entries(answer.variables).map(([name, value]) => `${name} = ${value}`).join("\n")}</pre></details>`}`;
}

/** Frontend, backend, server and status, each as a link to its place. */
function Way({ of }) {
  const { frontend, bind } = of.listener, others = (of.servers?.length ?? 0) - 1;
  const shown = of.servers?.find((each) => each.name === of.server);
  return html`<ol class="way" aria-label="Path of the request">
    <li><a href=${hrefOf("map", ["frontend", frontend])}>${frontend}</a><span class="quiet">${bind}</span></li>
    ${of.backend && html`<li><a href=${hrefOf("map", ["backend", of.backend])}>${of.backend}</a><span class="quiet">backend</span></li>`}
    ${of.server && html`<li><a href=${hrefOf("map", ["backend", of.backend, "server", of.server])}>${of.server}</a>
      <span class="quiet">${shown?.state && html`<${Mark} is=${shown.state} quiet label=${CONDITIONS[shown.state]} /> `}${others > 1 ? `or one of ${others} more` : others ? "or the other one" : "server"}</span></li>`}
    ${of.answered_by && html`<li><b>Line ${of.answered_by.line} answers</b><code>${of.answered_by.text}</code></li>`}
    <li>${of.status ? html`<${Badge} tone=${of.status < 400 ? "good" : "bad"}>${of.status}<//>` : html`<${Badge} tone="bad">Closed<//>`}<span class="quiet">${of.status ? "status" : "without a response"}</span></li>
  </ol>`;
}

const Line = ({ of }) => html`<span class="quiet number">${of.file ? `${of.file}:` : ""}${of.line}</span> <code>${of.text}</code>`;

/** Rules with the conditions that are true, also of a test. */
export function Rules({ rules }) {
  if (!rules.length) return html`<p class="quiet">None applies.</p>`;
  return html`<ol class="rules">${rules.map((rule) => html`<li><${Line} of=${rule} /> <span class="quiet">${rule.section}</span>
    ${rule.because?.length > 0 && html`<ul>${rule.because.map(({ term, acl = [] }) => html`<li>because <code>${term}</code>${acl.map((each) => html`<br /><${Line} of=${each} />`)}</li>`)}</ul>`}</li>`)}</ol>`;
}

const Message = ({ title, of }) => html`<details><summary>${title}</summary><pre class="said" tabindex="0">${[of.line, ...of.headers.map(({ name, value }) => `${name}: ${value}`)].join("\n")}</pre></details>`;
