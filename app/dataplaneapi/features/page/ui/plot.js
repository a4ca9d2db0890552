// Plots by uPlot: a line in a row, and those of one object.

import uPlot from "./vendor/uplot.js";
import { html, useEffect, useRef } from "./vendor/preact.js";
import { milliseconds, rate, number } from "./kit.js";
import { joined } from "./series.js";
import { listen, state, useStore } from "./store.js";

const WINDOW = 120, SHORTEST = 30;
// Between ticks of time, in seconds, and the width that one takes.
const STEPS = [10, 15, 30, 60, 120, 300, 600, 900, 1800], TICK = 52;
const QUIET = { show: false }, SHORT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
export const PLOTS = [
  { name: "rate", title: "Requests", format: (value) => `${rate(value)}/s` },
  { name: "scur", title: "Sessions", format: number },
  { name: "errors", title: "Errors", format: (value) => `${rate(value)}/s` },
  { name: "rtime", title: "Response time", format: milliseconds },
  { name: "queue", title: "Queue", format: number },
];
/** What the plots of one object can show, in seconds. */
export const RANGES = [[60, "1 min"], [120, "2 min"], [300, "5 min"], [900, "15 min"], [3600, "1 h"]];

/** The last `range` seconds, or as much of them as is known, half a minute at least. */
function windowOf(times, range) {
  const now = Date.now() / 1000;
  return [Math.max(now - range, Math.min(times[0] ?? now, now - SHORTEST)), now];
}

// All plots are drawn at once, with the counters that have come or a second later: each moment of its own would make the browser paint anew.
const EACH = 1000, draws = new Set();
let timer, drawnAt = 0;

function drawAll() {
  if (document.hidden || Date.now() - drawnAt < 0.9 * EACH) return;
  drawnAt = Date.now();
  draws.forEach((draw) => draw());
}

listen("stats").add(drawAll);

function drawEachSecond(draw) {
  draws.add(draw);
  timer ??= setInterval(drawAll, EACH);
  return () => {
    draws.delete(draw);
    if (draws.size) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The least of 2, 4, 10, 20, 40 and so on that is not less: half of it is a round number as well. */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(2, value)));
  return power * [2, 4, 10, 20].find((each) => each * power >= value);
}

const before = (seconds) => (seconds < 120 ? `−${Math.round(seconds)} s` : `−${SHORT.format(seconds / 60)} min`);

/** Time before now, and half of the greatest value. */
function axes(format) {
  const common = { stroke: color("--quiet"), font: "10px system-ui, sans-serif", ticks: QUIET, gap: 4 };
  const step = (plot, span) => STEPS.find((each) => span / each <= plot.bbox.width / devicePixelRatio / TICK) ?? STEPS.at(-1);
  const times = (plot, _, from, to) => {
    const every = step(plot, to - from);
    return Array.from({ length: Math.floor((to - from) / every + 0.01) + 1 }, (_, index) => to - index * every).reverse();
  };
  return [
    { ...common, size: 18, grid: QUIET, splits: times, values: (plot, splits) => splits.map((each) => (plot.scales.x.max - each < 1 ? "now" : before(plot.scales.x.max - each))) },
    { ...common, size: 44, grid: { stroke: color("--line"), width: 1 }, splits: (_, __, ___, top) => [0, top / 2, top], values: (_, splits) => splits.map((value) => (value ? format(value) : "0")) },
  ];
}

function options(width, height, name, cursor) {
  const tone = name === "errors" ? "--down" : "--accent", { format } = PLOTS.find((each) => each.name === name);
  return {
    width,
    height,
    padding: cursor ? [8, 14, 0, 0] : [2, 0, 1, 0],
    cursor: cursor ? { y: false, points: { size: 5 }, drag: { x: false, y: false } } : QUIET,
    legend: QUIET,
    scales: { x: { time: true, range: (plot) => windowOf(plot.data[0], cursor ? state.range : WINDOW) }, y: { range: (_, __, max) => [0, cursor ? roundedUp(max) : Math.max(max * 1.1, 1)] } },
    axes: cursor ? axes(format) : [QUIET, QUIET],
    series: [{}, { stroke: color(tone), fill: color(`${tone}-fill`), width: 1.25, points: QUIET }],
  };
}

/** The line of one counter of one object; `label` says in words what it shows. */
export function Plot({ object, name, width, height, label, onPoint }) {
  const place = useRef(null);
  useStore("theme", ...(onPoint ? ["range"] : []));
  useEffect(() => {
    const element = place.current;
    // Without a width it is as wide as its place.
    const wide = () => width ?? Math.max(60, element.clientWidth);
    const made = options(wide(), height, name, Boolean(onPoint));
    if (onPoint) made.hooks = { setCursor: [(of) => onPoint(of.cursor.idx === null || of.cursor.left < 0 ? null : { time: of.data[0][of.cursor.idx], value: of.data[1][of.cursor.idx] })] };
    const plot = new uPlot(made, [[], []], element);
    let wasIdle = false;
    const draw = () => {
      const [times, values] = joined(state.past.get(object), state.series.get(object), name);
      // A line of noughts without axes looks the same from second to second.
      const isIdle = !onPoint && values.length > 0 && values.every((each) => !each);
      if (!isIdle || !wasIdle) plot.setData([times, values]);
      wasIdle = isIdle;
    };
    draw();
    const stop = drawEachSecond(draw);
    const observer = new ResizeObserver(() => plot.width !== wide() && plot.setSize({ width: wide(), height }));
    if (!width) observer.observe(element);
    return () => {
      observer.disconnect();
      stop();
      plot.destroy();
    };
  }, [object, name, width, height, state.theme, onPoint && state.range]);
  // Without words it is an ornament of the numbers beside it.
  return html`<div class="plot" ref=${place} ...${label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }}></div>`;
}
