// The address: #/view/part/part?name=value. It never has secrets.

import { useEffect, useState } from "./vendor/preact.js";
import { segment } from "./names.js";

function readRoute(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...parts] = path.split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { view, parts: parts.filter(Boolean), query: Object.fromEntries(new URLSearchParams(query)) };
}

export function hrefOf(view, parts = [], query = {}) {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  return `#/${[view, ...parts].map(segment).join("/")}${given.size ? `?${given}` : ""}`;
}

/** Go to an address. With `replace`, the browser's history gets no new entry, as for a cursor that moves. */
export function go(href, { replace = false } = {}) {
  if (!replace) location.hash = href;
  else if (location.hash !== href) {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const listener = () => setRoute(readRoute());
    addEventListener("hashchange", listener);
    return () => removeEventListener("hashchange", listener);
  }, []);
  return route;
}
