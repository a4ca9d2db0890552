// The form to sign in, with a name and a password, or with a token.

import { html, useRef, useState } from "./vendor/preact.js";
import { SESSION, signIn, signInWithToken } from "./api.js";

export function SignIn({ note, onSignedIn }) {
  const [byToken, setByToken] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const form = useRef(null);

  async function submit(event) {
    event.preventDefault();
    const { name, password, token } = form.current.elements;
    setBusy(true);
    setError("");
    try {
      await (byToken ? signInWithToken(token.value) : signIn(name.value, password.value));
      onSignedIn();
    } catch (failure) {
      setBusy(false);
      setError(failure.status === 401 ? (byToken ? "This token is not valid." : "Name or password is wrong.") : failure.message);
      (password ?? token).select();
    }
  }

  return html`<main class="door">
    <form ref=${form} onSubmit=${submit} aria-labelledby="door-title">
      <h1 id="door-title">Dataplane sidecar</h1>
      <p class="quiet">${location.host}</p>
      ${note && html`<p class="note" role="status">${note}</p>`}
      ${byToken
        ? html`<label><span>Token</span><input name="token" type="password" autocomplete="off" required autofocus key="token" /></label>`
        : html`<label><span>Name</span><input name="name" autocomplete="username" required autofocus spellcheck=${false} key="name" /></label>
            <label><span>Password</span><input name="password" type="password" autocomplete="current-password" required key="password" /></label>`}
      ${error && html`<p class="problem" role="alert">${error}</p>`}
      <button type="submit" class="primary" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
      <p class="quiet small">${byToken ? "The token stays in this tab." : `The password is exchanged for a token of ${SESSION.replace("h", " hours")}, which the tabs of this browser share until the last is closed.`}</p>
      <button type="button" class="link" onClick=${() => { setByToken(!byToken); setError(""); }}>${byToken ? "Use name and password" : "Use a token"}</button>
    </form>
  </main>`;
}
