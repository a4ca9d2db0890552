// Plots by uPlot: a line in a row, and the four of one object.

import uPlot from "./vendor/uplot.js";
import { html, useEffect, useRef } from "./vendor/preact.js";
import { milliseconds, rate, number } from "./kit.js";
import { state, useStore } from "./store.js";

const WINDOW = 120, SHORTEST = 30;
const QUIET = { show: false };
export const PLOTS = [
  { name: "rate", title: "Requests", unit: "a second", format: rate },
  { name: "scur", title: "Sessions", unit: "open", format: number },
  { name: "errors", title: "Errors", unit: "a second", format: rate },
  { name: "rtime", title: "Response time", unit: "average", format: milliseconds },
];

/** The last two minutes, or as much of them as is known, half a minute at least. */
function windowOf(times) {
  const now = Date.now() / 1000;
  return [Math.max(now - WINDOW, Math.min(times[0] ?? now, now - SHORTEST)), now];
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function options(width, height, name, cursor) {
  const tone = name === "errors" ? "--down" : "--accent";
  return {
    width,
    height,
    padding: [2, 0, 1, 0],
    cursor: cursor ? { y: false, points: { size: 5 }, drag: { x: false, y: false } } : QUIET,
    legend: QUIET,
    scales: { x: { time: true, range: (plot) => windowOf(plot.data[0]) }, y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
    axes: [QUIET, QUIET],
    series: [{}, { stroke: color(tone), fill: color(`${tone}-fill`), width: 1.25, points: QUIET }],
  };
}

/** The line of one counter of one object; `label` says in words what it shows. */
export function Plot({ object, name, width, height, label, onPoint }) {
  const place = useRef(null);
  useStore("theme");
  useEffect(() => {
    const element = place.current;
    // Without a width it is as wide as its place.
    const wide = () => width ?? Math.max(60, element.clientWidth);
    const made = options(wide(), height, name, Boolean(onPoint));
    if (onPoint) made.hooks = { setCursor: [(of) => onPoint(of.cursor.idx === null || of.cursor.left < 0 ? null : { time: of.data[0][of.cursor.idx], value: of.data[1][of.cursor.idx] })] };
    const plot = new uPlot(made, [[], []], element);
    const draw = () => {
      const series = state.series.get(object);
      if (!document.hidden) plot.setData(series ? series.data(name) : [[], []]);
    };
    draw();
    const timer = setInterval(draw, 1000);
    const observer = new ResizeObserver(() => plot.width !== wide() && plot.setSize({ width: wide(), height }));
    if (!width) observer.observe(element);
    return () => {
      observer.disconnect();
      clearInterval(timer);
      plot.destroy();
    };
  }, [object, name, width, height, state.theme]);
  // Without words it is an ornament of the numbers beside it.
  return html`<div class="plot" ref=${place} ...${label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }}></div>`;
}
