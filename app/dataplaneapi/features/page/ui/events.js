// The event stream, read with fetch: EventSource cannot send a header, and a URL must not have credentials.

import { ApiError, open } from "./api.js";

const FIRST_PAUSE = 300, LONGEST_PAUSE = 10_000;
// The server sends a heartbeat every 15 seconds. A connection that is silent for longer than this is dead.
const SILENCE = 40_000;

/**
 * Follow the stream until `stop()` of the result. `onEvent` is called with each event, `onState` with "live", or with "retrying", the reason
 * and the time of the next attempt. The stream starts with a snapshot, or after the event `after`. After an interruption it continues after
 * the last event, or with a snapshot if the server no longer has that event.
 */
export function follow(query, { onEvent, onState = () => {}, onRefused = () => {} }, after = "") {
  let last = after, pause = FIRST_PAUSE, stopped = false, reading = new AbortController(), wake = () => {};

  async function run() {
    while (!stopped) {
      reading = new AbortController();
      const watch = silenceWatch(reading);
      try {
        const headers = last ? { "Last-Event-ID": last } : {};
        const response = await open("v3/sidecar/events", { query: { ...query, ...(last ? {} : { snapshot: "true" }) }, headers, signal: reading.signal });
        onState("live");
        for await (const event of messages(response.body, watch.heard)) {
          pause = FIRST_PAUSE;
          if (event.type === "dropped") break;
          if (event.id) last = event.id;
          onEvent(event);
        }
        throw new ApiError(0, "The server has ended the stream.");
      } catch (error) {
        if (stopped) return;
        if (error.status === 401 || error.status === 403) {
          onRefused(error);
          return;
        }
        onState("retrying", reasonOf(error), Date.now() + pause);
        await new Promise((resolve) => {
          wake = resolve;
          setTimeout(resolve, pause * (0.8 + 0.4 * Math.random()));
        });
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      } finally {
        watch.end();
      }
    }
  }

  const soon = () => wake();
  addEventListener("online", soon);
  run();
  return {
    last: () => last,
    stop() {
      stopped = true;
      removeEventListener("online", soon);
      reading.abort();
      wake();
    },
    retryNow: soon,
  };
}

/** Return the events of a time span, such as 24h, that the server still has. Throws ApiError. */
export async function past(query, since, signal) {
  const response = await open("v3/sidecar/events", { query: { ...query, since, end_after: "1s" }, signal }), found = [];
  for await (const event of messages(response.body, () => {})) if (event.id) found.push(event);
  return found;
}

/** Return why the connection ended. The messages of browsers differ and say less. */
const reasonOf = (error) => (error instanceof ApiError ? error.message : error.name === "AbortError" ? "The connection sent nothing." : "The connection was lost.");

function silenceWatch(controller) {
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(), SILENCE);
  };
  heard();
  return { heard, end: () => clearTimeout(timer) };
}

/** Yield the events of a body (WHATWG HTML, section 9.2), whose lines end with LF. */
async function* messages(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // A snapshot of thousands of servers arrives in many pieces, which are joined only once.
  let pieces = [], before = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      pieces.push(value);
      const ends = value.includes("\n\n") || (before.endsWith("\n") && value.startsWith("\n"));
      before = value;
      if (!ends) continue;
      const blocks = pieces.join("").split("\n\n");
      pieces = [blocks.pop()];
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (data) yield JSON.parse(data);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
