// Routing tests, and their results.

import { html, useState } from "../vendor/preact.js";
import { get, post } from "../api.js";
import { Badge, Forbidden, Loaded, Loading, None, Partly, Problem, Reasons, number, useLoaded } from "../kit.js";
import { unread } from "../rights.js";
import { hrefOf } from "../route.js";
import { state, useStore } from "../store.js";
import { Rules, explain } from "./request.js";

export function TestsView() {
  useStore("changes");
  const kept = useLoaded((signal) => get("v3/sidecar/tests", { signal }), [state.changes]);
  const [run, setRun] = useState(null), why = unread("**"), isOff = Boolean(why) || run?.loading;
  async function start(tests) {
    setRun({ loading: true });
    setRun(await post("v3/sidecar/test_runs", tests && { tests }).then((found) => ({ found, version: state.version }), (error) => ({ error })));
  }
  return html`<header class="view-head"><h1>Routing tests</h1>
      ${kept.data?.length > 0 && html`<button type="button" class="primary" disabled=${isOff} title=${why || undefined} onClick=${() => start()}>Run all</button><${Reasons} of=${[why]} />`}</header>
    <${Loaded} of=${kept} what="the tests">${(tests) => (tests.length
      ? html`<${Partly} objects=${["test/*"]} /><ul class="cards">${tests.map((each) => html`<li class="card" key=${each.name}><header class="detail-head"><h2>${each.name}</h2><span class="quiet">${number(each.cases.length)} ${each.cases.length === 1 ? "case" : "cases"}</span></header>
          ${each.description && html`<p>${each.description}</p>`}
          <button type="button" disabled=${isOff} title=${why || undefined} onClick=${() => start([each.name])} aria-label=${`Run ${each.name}`}>Run</button></li>`)}</ul>`
      : html`<${None} what="tests" objects=${["test/*"]}>A test says which backend or response a request must get. Store one with <code>PUT /v3/sidecar/tests/NAME</code> to run it here.<//>`)}<//>
    <div aria-live="polite">${run && html`<${Run} of=${run} />`}</div>`;
}

function Run({ of: { loading, error, found, version } }) {
  if (loading) return html`<${Loading} what="the results" />`;
  if (error?.status === 403) return html`<${Forbidden} what="the results of tests" text=${error.message} />`;
  if (error) return html`<${Problem} title="The tests cannot be run" text=${error.message} />`;
  const { coverage, cases } = found, failed = cases.filter((each) => !each.passed), passed = cases.filter((each) => each.passed);
  return html`<section aria-label="Results">
    <h2 class="section">${found.failed ? `${number(found.failed)} of ${number(cases.length)} cases failed` : `All ${number(cases.length)} cases passed`}</h2>
    <p class="quiet">Version ${version}, ${found.seconds.toFixed(2)} s. The cases reach ${number(coverage.reached)} of ${number(coverage.rules)} rules.</p>
    ${failed.map((each) => html`<article class="case"><h3><${Badge} tone="bad">Failed<//> ${each.test && html`<span class="quiet">${each.test}:</span>`} ${each.name}</h3>
      <p>${each.reason}</p>${each.rules && html`<${Rules} rules=${each.rules} />`}
      <a href=${hrefOf("request")} onClick=${() => explain(each.request)}>Show its path on the map</a></article>`)}
    ${passed.length > 0 && html`<details><summary>${number(passed.length)} passed</summary><ul class="plain">${passed.slice(0, 500).map((each) => html`<li><${Badge} tone="good">Passed<//> ${each.test && html`<span class="quiet">${each.test}:</span>`} ${each.name}</li>`)}</ul></details>`}
    ${coverage.unreached.length > 0 && html`<details><summary>${number(coverage.unreached.length)} rules that no case reaches</summary><${Rules} rules=${coverage.unreached} /></details>`}
  </section>`;
}
