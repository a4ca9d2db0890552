// The event stream, read with fetch: EventSource can send no header, and a credential does not belong into a URL.

import { ApiError, open } from "./api.js";

const FIRST_PAUSE = 300, LONGEST_PAUSE = 10_000;
// A heartbeat comes every 15 seconds; without a byte for so long the connection is dead.
const SILENCE = 40_000;

/**
 * Follows the stream until `stop()` of what it answers. `onEvent` gets each event; `onState` "live", or "retrying" with the reason and
 * the time of the next attempt. It begins with a snapshot, or behind the event `after`. After a break the stream goes on behind the last
 * event; where that is gone a snapshot comes.
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

/** The events that the server still has of this time, such as 24h. Throws ApiError. */
export async function past(query, since, signal) {
  const response = await open("v3/sidecar/events", { query: { ...query, since, end_after: "1s" }, signal }), found = [];
  for await (const event of messages(response.body, () => {})) if (event.id) found.push(event);
  return found;
}

/** In our words: those of browsers differ, and say less. */
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

/** The events of a body (WHATWG HTML, section 9.2); lines end with LF here. */
async function* messages(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // A snapshot of thousands of servers comes in many pieces: they are joined once.
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
