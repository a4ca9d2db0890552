// Keys: Ctrl+K for the palette (palette.js), "g" and a letter for a view, "/" for the search of the view, "?" for this list.

import { html, useEffect, useRef } from "./vendor/preact.js";
import { useLatest } from "./kit.js";
import { go, hrefOf } from "./route.js";

const LISTS = [
  ["Ctrl K", "Go to an object, or act on it"],
  ["/", "Search in this view"],
  ["↑ ↓", "Up and down in a list"],
  ["← →", "To the list on the left or right in the map"],
  ["Enter", "Open the selected entry"],
  ["Esc", "Close a dialog, leave a field"],
  ["?", "This list"],
];

export function useShortcuts(views) {
  const latest = useLatest(views);
  useEffect(() => {
    let pressedG = 0;
    const listener = (event) => {
      const typing = event.target.closest?.("input, select, textarea, dialog, [contenteditable]");
      if (event.key === "Escape" && event.target.matches?.("main input, main textarea")) event.target.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const view = Date.now() - pressedG < 1500 && latest.current.find((each) => each.key === event.key);
      if (view) go(hrefOf(view.name));
      else if (event.key === "/") document.querySelector("main input[type=search]")?.focus();
      else if (event.key === "?") openHelp();
      else {
        pressedG = event.key === "g" ? Date.now() : 0;
        return;
      }
      pressedG = 0;
      event.preventDefault();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);
}

let openHelp = () => {};

export function Help({ views }) {
  const element = useRef(null);
  openHelp = () => element.current?.showModal();
  return html`<dialog ref=${element} class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keyboard shortcuts</h2>
    <dl>${[...views.map((each) => [`g ${each.key}`, each.title]), ...LISTS].map(([keys, text]) => html`<div><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${text}</dd></div>`)}</dl>
    <div class="buttons"><button type="button" class="primary" onClick=${() => element.current.close()}>Close</button></div>
  </dialog>`;
}

export const showHelp = () => openHelp();
