// The top bar with version and connection, and below it what is pending or in progress.

import { html, useEffect, useRef } from "./vendor/preact.js";
import { currentSession, get, signOut } from "./api.js";
import { cancelOperation, confirm, takeBack } from "./actions.js";
import { Act, Ago, Badge, Reasons, span, useLoaded, useTick } from "./kit.js";
import { short, spell } from "./names.js";
import { propose } from "./plan-dialog.js";
import { missing } from "./rights.js";
import { showHelp } from "./shortcuts.js";
import { KINDS, dismiss, retryNow, state, touch, useStore } from "./store.js";

const CONNECTIONS = { live: "Live", connecting: "Connecting", retrying: "Disconnected", resting: "Paused" };

export function TopBar({ views, view }) {
  useStore("version", "connection", "caller", "worker", "theme");
  const { connection, caller } = state, nav = useRef(null);
  // The current view stays visible if the bar has no room for all.
  useEffect(() => nav.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [view]);
  return html`<header class="top">
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to content</a>
    <span class="brand">Dataplane</span>
    <nav aria-label="Views" ref=${nav}><ul>${views.map(([name, title]) => html`<li><a href=${`#/${name}`} aria-current=${view === name ? "page" : undefined}>${title}</a></li>`)}</ul></nav>
    <div class="facts">
      ${caller?.read_only && html`<${Badge} title="Nothing can be changed here">Read-only<//>`}
      ${state.version !== null && html`<span class="fact">Version <b class="number" id="version">${state.version}</b></span>`}
      <span class="connection is-${connection.is}" role="status"><span class="dot" aria-hidden="true"></span>${CONNECTIONS[connection.is]}</span>
      <${Menu} />
    </div>
  </header>`;
}

function Menu() {
  const session = currentSession();
  const close = (event) => {
    if (event.type === "focusout" ? !event.relatedTarget || event.currentTarget.contains(event.relatedTarget) : event.key !== "Escape") return;
    event.currentTarget.open = false;
  };
  return html`<details class="menu" onFocusOut=${close} onKeyDown=${close}>
    <summary>${session?.name || "Menu"}</summary>
    <div class="menu-body">
      ${state.caller?.limited && html`<p class="quiet">Role: ${state.caller.roles.join(", ") || "none"}</p>`}
      ${session?.expires && html`<p class="quiet">Signed in until ${new Date(session.expires).toLocaleTimeString()}</p>`}
      ${session?.note && html`<p class="quiet">${session.note}</p>`}
      <fieldset><legend>Colours</legend>${["system", "light", "dark"].map((theme) => html`<label class="check"><input type="radio" name="theme" checked=${state.theme === theme} onChange=${() => setTheme(theme)} /><span>${theme[0].toUpperCase() + theme.slice(1)}</span></label>`)}</fieldset>
      <button type="button" onClick=${showHelp}>Keyboard shortcuts</button>
      <button type="button" onClick=${signOut}>Sign out</button>
    </div>
  </details>`;
}

const THEME = "dataplane-theme";

export function setTheme(theme = localStorage.getItem(THEME) ?? "system") {
  state.theme = theme;
  localStorage.setItem(THEME, theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  touch("theme");
}

// Plots have their colours from the time when they were made.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => touch("theme"));

/** Strips below the bar: a lost connection, an unconfirmed change, a pending reload, operations, and notices. */
export function Strips() {
  useStore("connection", "confirmation", "reload", "operations", "notices");
  const running = [...state.operations.values()].filter((each) => each.status === "running");
  return html`<div class="strips">
    ${state.connection.is === "retrying" && html`<${Disconnected} />`}
    ${state.confirmation && html`<${Waiting} of=${state.confirmation} />`}
    ${state.pendingReload && html`<${Pending} id=${state.pendingReload} />`}
    ${state.notices.map((each) => html`<section key=${each.id} class=${`strip ${each.bad ? "bad" : "good"}`} role=${each.bad ? "alert" : "status"}>
      <p>${each.text}${each.href && html` <a href=${each.href} onClick=${() => dismiss(each.id)}>Show</a>`}</p><button type="button" onClick=${() => dismiss(each.id)}>Dismiss</button></section>`)}
    ${running.map((each) => html`<${Running} key=${each.id} of=${each} />`)}
  </div>`;
}

function Disconnected() {
  useTick(500);
  const { reason, next } = state.connection;
  return html`<section class="strip bad" role="alert">
    <p><b>Disconnected.</b> ${reason} What is shown is from before. Next attempt ${next > Date.now() ? `in ${span(next - Date.now())}` : "now"}.</p>
    <button type="button" onClick=${retryNow}>Try now</button>
  </section>`;
}

function Waiting({ of }) {
  useTick(250);
  const left = Math.max(0, of.until - Date.now());
  // Authors may always confirm their own changes.
  const why = of.author === state.caller?.name ? "" : missing("change", spell("confirmation", of.id));
  const entries = of.entries?.length ? ` (change ${of.entries.join(", ")})` : "";
  return html`<section class="strip waits" aria-label="Unconfirmed change">
    <p>${of.status === "open" ? html`<b>A change that needs confirmation is being applied</b>${of.author ? ` by ${of.author}` : ""}.` : html`<b>A change is not confirmed</b>${entries}${of.author ? ` by ${of.author}` : ""}. It is rolled back automatically in <b class="number countdown" role="timer">${clock(left)}</b>.`}
      ${of.verdict && html` Guard: <${Badge}>${of.verdict.result}<//> ${of.verdict.reasons?.[0] ?? ""}`}</p>
    ${of.status !== "open" && html`<div class="strip-buttons">
      <${Act} text="Confirm" isMain why=${why} onClick=${() => propose(confirm(of))} />
      <${Act} text="Roll back" why=${why} onClick=${() => propose(takeBack(of))} />
    </div><${Reasons} of=${[why]} />`}
  </section>`;
}

const clock = (left) => `${Math.floor(left / 60_000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")}`;

function Pending({ id }) {
  const record = useLoaded((signal) => get(`v3/sidecar/reloads/${id}`, { signal }), [id]);
  const reasons = record.data?.reasons ?? [];
  return html`<section class="strip due" aria-label="Pending reload">
    <p><b>Reload ${id} is due.</b> ${reasons.length ? `Because of ${reasons[0].section ? `${reasons[0].section}: ` : ""}${reasons[0].reason}` : ""}${reasons.length > 1 ? `, and ${reasons.length - 1} more` : ""}</p>
    ${reasons.length > 1 && html`<details><summary>All reasons</summary><ul>${reasons.map((each) => html`<li>${each.section && html`<code>${each.section}</code> `}${each.reason}</li>`)}</ul></details>`}
  </section>`;
}

function Running({ of }) {
  const { sessions, ...rest } = of.progress ?? {};
  const open = Object.entries(sessions ?? {});
  return html`<section class="strip goes-on" aria-label=${`${KINDS[of.kind] ?? of.kind} in progress`}>
    <p><span class="spinner" aria-hidden="true"></span><b>${KINDS[of.kind] ?? of.kind}</b>
      ${open.map(([object, count]) => html` <code>${short(object)}</code> <span class="number">${count}</span> ${count === 1 ? "session" : "sessions"} left`)}
      ${rest.paused && " paused"} <span class="quiet">started <${Ago} time=${of.created} /></span></p>
    <${Act} text="Cancel" why=${missing("delete", spell("operation", of.id))} onClick=${() => propose(cancelOperation(of))} />
  </section>`;
}
