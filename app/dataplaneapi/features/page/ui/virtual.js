// Lists of thousands of rows, of which only the visible ones are rendered.

import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

const BEYOND = 6;

/** Return which of `count` rows of one height are visible: {ref, first, last, top, bottom, scroll}. `show(index)` scrolls to a row. */
export function useVirtual(count, rowHeight) {
  const ref = useRef(null);
  const [view, setView] = useState({ scroll: 0, height: 600 });
  useLayoutEffect(() => {
    const element = ref.current;
    const measure = () => setView((before) => {
      const now = { scroll: element.scrollTop, height: element.clientHeight };
      return before.scroll === now.scroll && before.height === now.height ? before : now;
    });
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
    if (ref.current && ref.current.scrollTop > count * rowHeight) ref.current.scrollTop = 0;
  }, [count]);
  const first = Math.max(0, Math.min(Math.floor(view.scroll / rowHeight) - BEYOND, count));
  const last = Math.min(count, Math.ceil((view.scroll + view.height) / rowHeight) + BEYOND);
  const show = (index) => {
    const element = ref.current;
    if (!element || index < 0) return;
    if (index * rowHeight < element.scrollTop) element.scrollTop = index * rowHeight;
    else if ((index + 1) * rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = (index + 1) * rowHeight - element.clientHeight;
  };
  return { ref, first, last, top: first * rowHeight, bottom: Math.max(0, count - last) * rowHeight, scroll: view.scroll, height: view.height, show };
}
