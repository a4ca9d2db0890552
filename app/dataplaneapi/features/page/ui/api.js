// All calls of the page. Only the requests made here have credentials, in a header: never a URL, a cookie or a dialog of the browser.

const BASE = new URL("../", document.baseURI);
const KEPT = "dataplane-session";
export const SESSION = "8h";

/** A call that failed. The status is 0 if the server did not answer. */
export class ApiError extends Error {
  constructor(status, message, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** The session: {authorization, name, tokenId, expires, note}; null if nobody is signed in. */
let session = readSession();
let onSignedOut = () => {}, onSignedIn = () => {};

export const currentSession = () => session;
export const whenSignedOut = (listener) => void (onSignedOut = listener);

/** Call the listener when this tab has no session and gets one from another tab. */
export function whenSignedIn(listener) {
  onSignedIn = listener;
  if (!session) tabs.postMessage({ type: "asked" });
}

// The tabs of a browser share a token by messages. So it is not stored anywhere when the last tab is closed.
const tabs = new BroadcastChannel(`${KEPT} ${BASE.pathname}`);
tabs.onmessage = ({ data }) => {
  if (data.type === "asked") share();
  else if (data.type === "shared" && !session) {
    keep(data.session, true);
    onSignedIn();
  } else if (data.type === "ended" && session && session.tokenId === data.tokenId) {
    forget();
    onSignedOut("Signed out in another tab.");
  }
};

function share() {
  if (session?.tokenId) tabs.postMessage({ type: "shared", session });
}

/** Return the parsed body, or {status, headers, body} with `full: true`. A `text` is sent unchanged, with its `type`. Throws ApiError. */
export async function call(method, path, { full = false, authorization, ...sent } = {}) {
  const response = await send(method, path, { ...sent, authorization });
  const answer = await readBody(response);
  if (!response.ok) throw refusal(response, answer, authorization);
  return full ? { status: response.status, headers: response.headers, body: answer } : answer;
}

/** Return the response itself, for a stream. Throws ApiError. */
export async function open(path, { query, headers, signal } = {}) {
  const response = await send("GET", path, { query, headers, signal });
  if (!response.ok) throw refusal(response, await readBody(response));
  return response;
}

export const get = (path, options) => call("GET", path, options);
export const post = (path, body, options) => call("POST", path, { ...options, body });
export const remove = (path, options) => call("DELETE", path, options);

/** Return a form with one file as {text, type}, so that the plan and the call send the same bytes. */
export function form(name, content) {
  const boundary = `page-${crypto.randomUUID?.() ?? Math.random().toString(36).slice(2)}`;
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file_upload"; filename="${name.replace(/["\r\n]/g, encodeURIComponent)}"\r\n\r\n`;
  return { text: `${head}${content}\r\n--${boundary}--\r\n`, type: `multipart/form-data; boundary=${boundary}` };
}

async function send(method, path, { body, text, type = "text/plain", query, headers = {}, signal, authorization }) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined && value !== "") url.searchParams.set(name, value);
  const sent = { Authorization: authorization ?? session?.authorization ?? "", ...headers };
  if (!sent.Authorization) delete sent.Authorization;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (text !== undefined) sent["Content-Type"] = type;
  try {
    return await fetch(url, {
      method,
      headers: sent,
      body: body === undefined ? text : JSON.stringify(body),
      credentials: "omit",
      redirect: "error",
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer.");
  }
}

async function readBody(response) {
  const content = await response.text().catch(() => "");
  if (!(response.headers.get("Content-Type") ?? "").startsWith("application/json")) return content;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

function refusal(response, answer, authorization) {
  const message = answer?.message || `The server answered ${response.status} ${response.statusText}`.trim();
  if (response.status === 401 && authorization === undefined && session) {
    forget();
    onSignedOut("Your session has ended. Sign in again.");
  }
  return new ApiError(response.status, message, typeof answer === "object" ? answer : {});
}

/** Exchange a password for a token. Throws ApiError. */
export async function signIn(name, password) {
  const basic = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${password}`)))}`;
  const caller = await get("v3/sidecar/whoami", { authorization: basic });
  if (caller.limited && !caller.roles?.length) {
    throw new ApiError(403, `${name} has no role here, so there is nothing to show. An admin assigns roles in the settings (role_of).`);
  }
  const wanted = { ttl: SESSION, note: "the page at /ui/", ...(caller.limited ? { role: caller.roles } : {}) };
  try {
    const token = await call("POST", "v3/sidecar/tokens", { body: wanted, authorization: basic });
    keep({ authorization: `Bearer ${token.secret}`, name, tokenId: token.id, expires: token.expires }, true);
    share();
  } catch (error) {
    // A read-only server, for example, creates no tokens. Then the password stays in memory until the tab is closed.
    if (error.status === 401 || error.status === 0) throw error;
    keep({ authorization: basic, name, note: `Signed in until this tab is closed or reloaded: ${error.message}` }, false);
  }
}

/** Sign in with a token of the operator. Throws ApiError. */
export async function signInWithToken(token) {
  const authorization = `Bearer ${token.trim()}`;
  const caller = await get("v3/sidecar/whoami", { authorization });
  keep({ authorization, name: caller.name, expires: caller.expires }, true);
}

/** Revoke the token that `signIn` has created, and end the session. */
export async function signOut() {
  const { tokenId } = session ?? {};
  const revoked = tokenId ? remove(`v3/sidecar/tokens/${tokenId}`).catch(() => {}) : Promise.resolve();
  await revoked;
  if (tokenId) tabs.postMessage({ type: "ended", tokenId });
  forget();
  onSignedOut("");
}

function keep(made, beyondReload) {
  session = made;
  if (beyondReload) sessionStorage.setItem(KEPT, JSON.stringify(made));
}

function forget() {
  session = null;
  sessionStorage.removeItem(KEPT);
}

function readSession() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    return kept && (!kept.expires || Date.parse(kept.expires) > Date.now()) ? kept : null;
  } catch {
    return null;
  }
}
