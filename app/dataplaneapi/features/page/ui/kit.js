// Components and functions that all views share.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { CONDITIONS } from "./model.js";
import { short } from "./names.js";
import { unread } from "./rights.js";

const MARKS = {
  up: html`<circle cx="7" cy="7" r="5" fill="currentColor" />`,
  down: html`<rect x="2" y="2" width="10" height="10" rx="1" fill="currentColor" /><path d="M4.6 4.6l4.8 4.8m0-4.8l-4.8 4.8" class="mark-cut" />`,
  degraded: html`<path d="M7 1.6l5.8 10.6H1.2z" fill="currentColor" /><path d="M7 5.4v3.2M7 10v.6" class="mark-cut" />`,
  drain: html`<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.3" /><path d="M2.6 7a4.4 4.4 0 0 0 8.8 0z" fill="currentColor" />`,
  maint: html`<rect x="3" y="2.5" width="3" height="9" fill="currentColor" /><rect x="8" y="2.5" width="3" height="9" fill="currentColor" />`,
  stopping: html`<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.4 2" />`,
  unknown: html`<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.3" /><path d="M7 6.2v.1M5.6 5.6a1.4 1.4 0 1 1 1.4 1.6v.8m0 1.2v.4" fill="none" stroke="currentColor" stroke-width="1.1" />`,
  none: html`<circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.3" />`,
};

/** A condition as a shape and a colour, with its word. If it is `quiet`, only screen readers get the word. */
export function Mark({ is, quiet = false, label = CONDITIONS[is] ?? is }) {
  return html`<span class="mark is-${is}">
    <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">${MARKS[is] ?? MARKS.unknown}</svg>
    <span class=${quiet ? "sr" : ""}>${label}</span>
  </span>`;
}

/** Buttons and links: {text, why, onClick or href, isMain} each. If there is a `why`, the button is disabled, and the reason is below. */
export function Actions({ of }) {
  const rows = of.filter(Boolean), reasons = [...new Set(rows.map((each) => each.why).filter(Boolean))];
  return html`<div class="actions">${rows.map((each) => html`<${Act} key=${each.text} ...${each} />`)}</div><${Reasons} of=${reasons} />`;
}

export const Act = ({ text, why, isMain, onClick, href }) => href && !why ? html`<a class="button" href=${href}>${text}</a>` : html`<button type="button" class=${isMain ? "primary" : ""} disabled=${Boolean(why)} title=${why || undefined} onClick=${onClick}>${text}</button>`;

/** Missing permissions, each of them once. */
export const Reasons = ({ of }) => [...new Set(of)].filter(Boolean).map((why) => html`<p class="note lacks">${why}</p>`);

/** The button of a row: a word, or a sign if there is little room. `label` says what it does. If there is a `why`, it is disabled. */
export const RowButton = ({ word, sign, label, why, onClick }) => html`<button type="button" aria-label=${label} title=${why || label} disabled=${Boolean(why)} onClick=${onClick}><span class="word">${word}</span><span class="sign" aria-hidden="true">${sign}</span></button>`;

export const Badge = ({ tone = "", children, title }) => html`<span class="badge ${tone}" title=${title}>${children}</span>`;

/** A placeholder if there is nothing to show. `action` is a button or a link. */
export const Nothing = ({ title, children, action }) => html`<div class="nothing"><p class="nothing-title">${title}</p>${children && html`<div class="nothing-text">${children}</div>`}${action}</div>`;

/** A placeholder for an empty list. It says whether there is none of `what`, or none that the caller may read. */
export function None({ what, objects, children, action }) {
  const missing = objects.map(unread).filter(Boolean);
  return missing.length ? html`<${Nothing} title=${`No ${what} that your role may read`}><${Reasons} of=${missing} /><//>` : html`<${Nothing} title=${`No ${what}`} action=${action}>${children}<//>`;
}

/** A note that a list may lack objects that the caller may not read. */
export function Partly({ objects }) {
  const missing = objects.map(unread).filter(Boolean);
  return missing.length > 0 && html`<div class="partly"><p class="note">What your role may not read is not shown here.</p><${Reasons} of=${missing} /></div>`;
}

export const Loading = ({ what }) => html`<div class="nothing" role="status"><span class="spinner" aria-hidden="true"></span><p>Loading ${what} …</p></div>`;

export const Problem = ({ title, text, children }) => html`<div class="problem" role="alert"><p class="problem-title">${title}</p>${text && html`<pre>${text}</pre>`}${children}</div>`;

/** Show an error instead of its children if they cannot be rendered. The rest of the page is not affected. */
export function Boundary({ what, heading, children }) {
  const [error, setError] = useState(null);
  // Like `useErrorBoundary` of preact/hooks.
  this.componentDidCatch = setError;
  useEffect(() => error && console.error(error), [error]);
  if (error === null) return children;
  return html`${heading && html`<h1>${heading}</h1>`}<${Problem} title=${`Cannot show ${what}`} text=${String(error)}><button type="button" onClick=${() => setError(null)}>Try again</button><//>`;
}

/** A refusal in the server's words, which name the rule that would allow the call. */
export const Forbidden = ({ what, text }) => html`<div class="nothing forbidden"><p class="nothing-title">You may not see ${what}</p><p>${text}</p></div>`;

/** Load data at first, and when one of `depends` changes. Return {data, error, loading, again}. */
export function useLoaded(load, depends) {
  const [loaded, setLoaded] = useState({ loading: true });
  const [count, setCount] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setLoaded((before) => ({ ...before, loading: true }));
    load(controller.signal).then(
      (data) => !controller.signal.aborted && setLoaded({ data, loading: false }),
      (error) => !controller.signal.aborted && setLoaded((before) => ({ data: before.data, error, loading: false })),
    );
    return () => controller.abort();
  }, [...depends, count]);
  return { ...loaded, again: () => setCount((before) => before + 1) };
}

/** Show the result of `useLoaded`: the last data, or why there is none. */
export function Loaded({ of, what, children }) {
  if (of.data !== undefined) return html`${of.error && html`<${Problem} title="This may be outdated" text=${of.error.message} />`}${children(of.data)}`;
  if (of.error?.status === 403) return html`<${Forbidden} what=${what} text=${of.error.message} />`;
  if (of.error) return html`<${Problem} title=${`Cannot show ${what}`} text=${of.error.message}><button type="button" onClick=${of.again}>Try again</button><//>`;
  return html`<${Loading} what=${what} />`;
}

/** Render again every so many milliseconds. Return a number that differs each time. */
export function useTick(milliseconds) {
  const [, render] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && render((count) => count + 1), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
  return Math.floor(Date.now() / milliseconds);
}

/** Call `work` with a signal now and every so many milliseconds, unless the page is hidden. The signal is aborted with the component. */
export function useRepeated(work, milliseconds, depends) {
  useEffect(() => {
    const controller = new AbortController(), run = () => !document.hidden && work(controller.signal).catch(() => {});
    run();
    const timer = setInterval(run, milliseconds);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, depends);
}

export function useLatest(value) {
  const ref = useRef(value);
  ref.current = value;
  return ref;
}

const INTEGER = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SMALL = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const number = (value) => (value === undefined || value === null ? "–" : INTEGER.format(value));
export const rate = (value) => (value >= 10 ? INTEGER.format(value) : SMALL.format(value ?? 0));
export const milliseconds = (value) => (value === undefined ? "–" : value >= 10_000 ? `${SMALL.format(value / 1000)} s` : `${INTEGER.format(value)} ms`);

/** Join names in a sentence: lb1, lb2 and lb3. */
export const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/** 1 session, 2 sessions. */
export const counted = (value, word) => `${number(value)} ${word}${value === 1 ? "" : "s"}`;

/** Format the value of a member. An object is shown by its members. */
export function shown(value) {
  if (value === undefined || value === null) return "–";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value).map(([name, each]) => `${name} ${typeof each === "object" ? JSON.stringify(each) : each}`).join(", ");
}

export function bytes(value) {
  if (value === null || value === undefined) return "unknown";
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${SMALL.format(value / 2 ** (10 * power))} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

/** Format a time span in milliseconds: 5 s, 12 min, 3 h, 8 days. */
export function span(value) {
  const seconds = Math.max(0, Math.round(value / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** How long ago a time was. The tooltip has the exact time. */
export function Ago({ time }) {
  const date = new Date(time);
  return html`<time dateTime=${time} title=${date.toLocaleString()}>${Date.now() - date < 5_000 ? "just now" : `${span(Date.now() - date)} ago`}</time>`;
}

/** A list below its title and `head`, and next to it the details of the selected entry. On a phone, only one of them is visible. */
export const Two = ({ view, title, head, list, isChosen, detail, placeholder, kind = "" }) => html`<div class=${`two ${isChosen ? "has-choice" : ""}`}>
  <section class="two-list" aria-label=${title}><header class="view-head"><h1>${title}</h1>${head}</header>${list}</section>
  <section class=${`two-detail ${kind}`} aria-label="Details">${isChosen ? html`<a class="back" href=${`#/${view}`}>Back to the list</a>${detail}` : placeholder}</section>
</div>`;

/** Names with their values: [name, value] each. Rows that are false are left out. */
export const Facts = ({ rows }) => html`<dl class="facts-list">${rows.filter(Boolean).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/**
 * A table that shows each row as a card on a phone. A column is {title, of, isNumeric}: `of` answers the cell of a row. The first column
 * names the row. A column without a title has the row's buttons.
 */
export function Table({ label, rows, columns, keyOf, name = "" }) {
  const toneOf = ({ title, isNumeric }) => (isNumeric || !title ? "numeric" : "");
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class=${`stacked ${name}`}>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${toneOf(column)}>${column.title ?? html`<span class="sr">Action</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf?.(row)}>${columns.map((column, index) => html`<td class=${toneOf(column)} data-label=${index ? column.title : undefined}>${column.of(row)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** Members with their values before and after a change. */
export const Changes = ({ rows, titles }) => html`<table class="changes"><thead><tr>${["Object", "Member", ...titles].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr><td><code>${short(row.object)}</code></td><td>${row.member ?? "all"}</td><td class="old">${shown(row.old)}</td><td class="new">${shown(row.new)}</td></tr>`)}</tbody></table>`;

export function Diff({ text }) {
  if (!text) return null;
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  const lines = text.replace(/\n$/, "").split("\n").filter((line) => !line.startsWith("--- ") && !line.startsWith("+++ "));
  if (!lines.some(Boolean)) return html`<p class="quiet">No visible line differs.</p>`;
  return html`<pre class="diff" tabindex="0" role="group" aria-label="Difference">${lines.map((line) => html`<span class=${kinds[line[0]] ?? ""}>${line || " "}${"\n"}</span>`)}</pre>`;
}
