// The editor for configurations: a text area, which browsers and screen readers support well, with line numbers, messages at the lines, and
// completions.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { completions } from "./completion.js";

const LINE = 20, BEYOND = 10, SHOWN = 9, TAB = 4;

/** `problems` are {line, severity, text}, with lines of this text from 1. `jump` is {line} of a line to select. */
export function Editor({ value, onInput, label, problems, words, whole, keyword, first = 1, readOnly, jump }) {
  const area = useRef(null);
  const [view, setView] = useState({ top: 0, left: 0, height: 400 });
  const [list, setList] = useState(null);
  const caretLine = useCaretLine(area);
  const lines = value.split("\n");

  useLayoutEffect(() => {
    const element = area.current;
    const measure = () => setView({ top: element.scrollTop, left: element.scrollLeft, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  useEffect(() => {
    if (!jump) return;
    const begin = lines.slice(0, jump.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.current.focus();
    area.current.setSelectionRange(begin, begin + (lines[jump.line - 1]?.length ?? 0));
    area.current.scrollTop = Math.max(0, (jump.line - 4) * LINE);
  }, [jump]);

  function suggest(asked) {
    const element = area.current, caret = element.selectionStart;
    if (!words || caret !== element.selectionEnd) return setList(null);
    const { from, found, isWhole } = completions(words, { text: element.value, caret, whole, keyword });
    // There is no list for a complete word, so that Enter starts a new line.
    const isWanted = asked || (caret > from && !isWhole && !/\S/.test(element.value[caret] ?? ""));
    return setList(isWanted && found.length ? { from, caret, found, at: 0 } : null);
  }

  function take(word) {
    area.current.setSelectionRange(list.from, list.caret);
    insert(area.current, `${word} `);
    setList(null);
    area.current.focus();
  }

  const onKeyDown = (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      suggest(true);
    } else if (event.key === "Enter" && !list && !event.ctrlKey && !event.metaKey) {
      // A new line has the indentation of the line above.
      const indent = /^[ \t]*/.exec(value.slice(value.lastIndexOf("\n", event.target.selectionStart - 1) + 1))[0];
      event.preventDefault();
      insert(event.target, `\n${indent}`);
    }
    if (!list) return;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: SHOWN, PageUp: -SHOWN };
    if (event.key in steps) setList({ ...list, at: Math.max(0, Math.min(list.found.length - 1, list.at + steps[event.key])) });
    else if (event.key === "Enter" || event.key === "Tab") take(list.found[list.at]);
    else if (event.key === "Escape") setList(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const begin = Math.max(0, Math.floor(view.top / LINE) - BEYOND), end = Math.min(lines.length, Math.ceil((view.top + view.height) / LINE) + BEYOND);
  return html`<div class="editor">
    <div class="gutter" aria-hidden="true"><div style=${{ transform: `translateY(${begin * LINE - view.top}px)` }}>${lines.slice(begin, end).map((_, offset) => html`<span>${first + begin + offset}</span>`)}</div></div>
    <div class="editor-body">
      <div class="editor-marks" aria-hidden="true"><div style=${{ transform: `translate(${-view.left}px, ${-view.top}px)` }}>
        ${problems.filter(({ line }) => line > begin && line <= end).map((each) => html`<${Mark} of=${each} isSaidBelow=${each.line === caretLine} content=${lines[each.line - 1]} />`)}</div></div>
      <textarea ref=${area} value=${value} readonly=${readOnly} wrap="off" spellcheck=${false} autocomplete="off" autocapitalize="off" aria-label=${label} aria-describedby="editor-problems" aria-autocomplete="list"
        aria-controls=${list ? "editor-words" : undefined} aria-activedescendant=${list ? `editor-word-${list.at}` : undefined}
        onInput=${(event) => { onInput(event.target.value); suggest(false); }} onKeyDown=${onKeyDown} onClick=${() => setList(null)} onBlur=${() => setList(null)}></textarea>
      ${!list && html`<${Below} problems=${problems.filter(({ line }) => line === caretLine)} content=${lines[caretLine - 1]} view=${view} />`}
      ${list && html`<${Words} list=${list} value=${value} view=${view} take=${take} />`}
    </div>
  </div>`;
}

/** Return the width of a line in columns. */
const columns = (line) => [...line].reduce((sum, sign) => (sign === "\t" ? sum + TAB - (sum % TAB) : sum + 1), 0);

/** Return the line of the caret, from 1; 0 if the editor does not have the focus. */
function useCaretLine(area) {
  const [line, setLine] = useState(0);
  useEffect(() => {
    const look = () => setLine(document.activeElement === area.current ? area.current.value.slice(0, area.current.selectionStart).split("\n").length : 0);
    const events = ["selectionchange", "focusin", "focusout", "input"];
    events.forEach((name) => document.addEventListener(name, look));
    return () => events.forEach((name) => document.removeEventListener(name, look));
  }, []);
  return line;
}

/** The problems of the line with the caret. They cover the next line, because a text area cannot have space between lines. */
function Below({ problems, content = "", view }) {
  if (!problems.length) return null;
  const row = problems[0].line * LINE - view.top, place = { left: `calc(${columns(/^\s*/.exec(content)[0])}ch + 8px - ${view.left}px)` };
  const isBelow = row + 3 * LINE < view.height || row < 3 * LINE;
  return html`<div class="editor-below" aria-hidden="true" style=${{ ...place, ...(isBelow ? { top: `${row + 8}px` } : { bottom: `${view.height - row + LINE - 4}px` }) }}>
    ${problems.map(({ severity, text }) => html`<p class=${severity}>${text}</p>`)}</div>`;
}

/** A problem: its line is underlined, and its text is at the end of the line, unless `Below` shows it. */
function Mark({ of: { line, severity, text }, isSaidBelow, content = "" }) {
  const indent = columns(/^\s*/.exec(content)[0]), width = Math.max(1, columns(content.trimEnd()) - indent);
  return html`<div class=${`editor-mark ${severity} ${isSaidBelow ? "is-said-below" : ""}`} style=${{ top: `${(line - 1) * LINE}px` }}><u style=${{ marginLeft: `${indent}ch`, width: `${width}ch` }}></u><span>${text}</span></div>`;
}

/** The completions around the selected one. The list does not scroll, because the keyboard could not scroll it. */
function Words({ list, value, view, take }) {
  const above = value.slice(0, list.from).split("\n"), row = above.length * LINE - view.top, isBelow = row + 200 < view.height || row < 220;
  const place = { left: `calc(${columns(above.at(-1))}ch + ${-view.left}px)`, ...(isBelow ? { top: `${row + 4}px` } : { bottom: `${view.height - row + LINE + 4}px` }) };
  const begin = Math.max(0, Math.min(list.at - Math.floor(SHOWN / 2), list.found.length - SHOWN));
  return html`<ul class="words" id="editor-words" role="listbox" aria-label="Words that may follow" style=${place}>${list.found.slice(begin, begin + SHOWN).map((word, offset) => {
    const index = begin + offset;
    return html`<li key=${word} id=${`editor-word-${index}`} role="option" aria-selected=${index === list.at} aria-setsize=${list.found.length} aria-posinset=${index + 1}
      onMouseDown=${(event) => { event.preventDefault(); take(word); }}>${word}</li>`;
  })}</ul>`;
}

/** Insert a text as if it were typed, so that it can be undone. */
function insert(element, text) {
  if (document.execCommand("insertText", false, text)) return;
  element.setRangeText(text, element.selectionStart, element.selectionEnd, "end");
  element.dispatchEvent(new Event("input", { bubbles: true }));
}
