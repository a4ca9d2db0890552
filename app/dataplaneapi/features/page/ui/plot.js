// Plots: a line in a row, and those of one object.

import { html, useEffect, useRef } from "./vendor/preact.js";
import { milliseconds, rate, number } from "./kit.js";
import { joined } from "./series.js";
import { listen, state, useStore } from "./store.js";

const WINDOW = 120, SHORTEST = 30;
// The possible distances of ticks on the time axis, in seconds, and the width of a tick in pixels.
const STEPS = [10, 15, 30, 60, 120, 300, 600, 900, 1800], TICK = 52;
const SHORT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
export const PLOTS = [
  { name: "rate", title: "Requests", format: (value) => `${rate(value)}/s` },
  { name: "scur", title: "Sessions", format: number },
  { name: "errors", title: "Errors", format: (value) => `${rate(value)}/s` },
  { name: "rtime", title: "Response time", format: milliseconds },
  { name: "queue", title: "Queue", format: number },
];
/** The time ranges of the plots of one object, in seconds. */
export const RANGES = [[60, "1 min"], [120, "2 min"], [300, "5 min"], [900, "15 min"], [3600, "1 h"]];

/** Return the ends of the time axis: the last `range` seconds, or less if less is known, but at least half a minute. */
function windowOf(times, range) {
  const now = Date.now() / 1000;
  return [Math.max(now - range, Math.min(times[0] ?? now, now - SHORTEST)), now];
}

// All plots are drawn together, when counters arrive or a second later: drawing each on its own would make the browser paint more often.
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

/** Return the smallest of 2, 4, 10, 20, 40 and so on that is not less than a value. Half of it is a round number, too. */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(2, value)));
  return power * [2, 4, 10, 20].find((each) => each * power >= value);
}

const before = (seconds) => (seconds < 120 ? `−${Math.round(seconds)} s` : `−${SHORT.format(seconds / 60)} min`);

/**
 * Return a function that paints the line of one counter on a canvas. Its arguments are the size in pixels, the points as [times, values],
 * and the distance of the pointer from the left edge, if it is over the plot. It returns the point next to the pointer. A point without a
 * value interrupts the line. With `axes`, the plot shows times before now, half of the greatest value, and that value.
 */
function painter(canvas, name, axes) {
  const pen = canvas.getContext("2d"), tone = name === "errors" ? "--down" : "--accent", { format } = PLOTS.find((each) => each.name === name);
  const [line, fill, grid, text] = [tone, `${tone}-fill`, "--line", "--quiet"].map(color);
  const [above, right, below, left] = axes ? [8, 14, 18, 44] : [2, 0, 1, 0];
  return (width, height, [times, values], pointer) => {
    const [from, to] = windowOf(times, axes ? state.range : WINDOW), bottom = height - below;
    const begin = Math.max(0, times.findIndex((each) => each >= from)), max = Math.max(0, ...values.slice(begin)), top = axes ? roundedUp(max) : Math.max(max * 1.1, 1);
    const x = (time) => left + ((time - from) / (to - from)) * (width - left - right), y = (value) => bottom - (value / top) * (bottom - above);
    // Setting the size also clears the canvas.
    [canvas.width, canvas.height] = [width, height].map((each) => Math.round(each * devicePixelRatio));
    pen.scale(devicePixelRatio, devicePixelRatio);
    if (axes) {
      pen.font = "10px system-ui, sans-serif";
      pen.fillStyle = text;
      pen.strokeStyle = grid;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const value of [0, top / 2, top]) {
        const row = Math.round(y(value)) - 0.5;
        pen.fillText(value ? format(value) : "0", left - 4, row);
        strike(pen, left, row, width - right, row);
      }
      const every = STEPS.find((each) => (to - from) / each <= (width - left - right) / TICK) ?? STEPS.at(-1);
      pen.textAlign = "center";
      for (let ago = 0; ago <= to - from + 0.01 * every; ago += every) pen.fillText(ago ? before(ago) : "now", x(to - ago), height - below / 2);
    }
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left - right, height);
    pen.clip();
    pen.strokeStyle = line;
    pen.fillStyle = fill;
    pen.lineWidth = 1.25;
    for (const run of runs(times, values, Math.max(0, begin - 1))) {
      const path = new Path2D();
      run.forEach(([time, value]) => path.lineTo(x(time), y(value)));
      pen.stroke(path);
      path.lineTo(x(run.at(-1)[0]), bottom);
      path.lineTo(x(run[0][0]), bottom);
      pen.fill(path);
    }
    pen.restore();
    if (pointer === null || !times.length) return null;
    const distance = (index) => Math.abs(x(times[index]) - pointer);
    const at = times.reduce((nearest, _, index) => (distance(index) < distance(nearest) ? index : nearest), begin), time = times[at], value = values[at];
    pen.strokeStyle = text;
    pen.setLineDash([3, 3]);
    strike(pen, x(time), above, x(time), bottom);
    pen.fillStyle = line;
    pen.beginPath();
    if (value !== null) pen.arc(x(time), y(value), 2.5, 0, 2 * Math.PI);
    pen.fill();
    return { time, value };
  };
}

function strike(pen, x, y, toX, toY) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(toX, toY);
  pen.stroke();
}

/** Return the points of each line, from index `begin` on. */
function runs(times, values, begin) {
  const found = [[]];
  for (let index = begin; index < times.length; index += 1) {
    if (values[index] === null) found.push([]);
    else found.at(-1).push([times[index], values[index]]);
  }
  return found.filter((run) => run.length);
}

/** The line of one counter of one object; `label` says in words what it shows. `onPoint` is called with the point next to the pointer, or null. */
export function Plot({ object, name, width, height, label, onPoint }) {
  const place = useRef(null);
  useStore("theme", ...(onPoint ? ["range"] : []));
  useEffect(() => {
    const canvas = place.current, paint = painter(canvas, name, Boolean(onPoint));
    let wasIdle = false, pointer = null;
    const draw = () => {
      const points = joined(state.past.get(object), state.series.get(object), name), [, values] = points;
      // A line at 0 without axes does not change.
      const isIdle = !onPoint && values.length > 0 && values.every((each) => !each);
      if (isIdle && wasIdle) return;
      wasIdle = isIdle;
      // Without a width it is as wide as its place.
      const point = paint(width ?? canvas.clientWidth, height, points, pointer);
      onPoint?.(point);
    };
    draw();
    const stop = drawEachSecond(draw), observer = new ResizeObserver(draw);
    if (!width) observer.observe(canvas);
    if (onPoint) {
      canvas.onmousemove = ({ offsetX }) => {
        pointer = offsetX;
        draw();
      };
      canvas.onmouseleave = () => {
        pointer = null;
        draw();
      };
    }
    return () => {
      observer.disconnect();
      stop();
    };
  }, [object, name, width, height, state.theme, onPoint && state.range]);
  // Without a label, it only decorates the numbers next to it.
  return html`<canvas class="plot" ref=${place} style=${{ width: width ? `${width}px` : "100%", height: `${height}px` }} ...${label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }}></canvas>`;
}
