// The page: signs in, follows the server, and shows the view in the address.

import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { currentSession, whenSignedIn, whenSignedOut } from "./api.js";
import { Boundary, Forbidden, Loading, Problem } from "./kit.js";
import { Palette } from "./palette.js";
import { Announcement, PlanDialog } from "./plan-dialog.js";
import { SignIn } from "./sign-in.js";
import { begin, end, keepDrafts, state, touch, useStore } from "./store.js";
import { setTheme, Strips, TopBar } from "./top-bar.js";
import { useRoute } from "./route.js";
import { Help, useShortcuts } from "./shortcuts.js";
import { VIEWS, shownViews } from "./views/index.js";

function Page() {
  const [signedIn, setSignedIn] = useState(currentSession() !== null);
  const [note, setNote] = useState("");
  useEffect(() => whenSignedOut((text) => {
    keepDrafts(Boolean(text));
    end();
    setNote(text);
    setSignedIn(false);
  }), []);
  const onSignedIn = () => {
    setNote("");
    setSignedIn(true);
  };
  useEffect(() => whenSignedIn(onSignedIn), []);
  return signedIn ? html`<${Signed} />` : html`<${SignIn} note=${note} onSignedIn=${onSignedIn} />`;
}

function Signed() {
  const [failure, setFailure] = useState(null);
  const [attempt, setAttempt] = useState(0);
  const route = useRoute();
  const main = useRef(null);
  const view = VIEWS.find((each) => each.name === route.view) ?? VIEWS[0];
  useStore("caller", "fleet");
  const views = shownViews();
  useShortcuts(views);

  useEffect(() => {
    setFailure(null);
    // If the server does not answer, the stream connects again, and everything is loaded then.
    begin(setFailure).catch((error) => error.status !== 401 && error.status !== 0 && setFailure(error));
    return end;
  }, [attempt]);

  useEffect(() => {
    document.title = `${view.title} · Dataplane sidecar`;
    touch("view");
  }, [view]);

  return html`
    <${TopBar} views=${views.map((each) => [each.name, each.title])} view=${view.name} />
    <${Boundary} what="pending changes"><${Strips} /><//>
    <main id="main" tabindex="-1" ref=${main} class=${`view view-${view.name}`}>
      ${failure
        ? failure.status === 403
          ? html`<${Forbidden} what="this server" text=${failure.message} />`
          : html`<${Problem} title="The server refused the request" text=${failure.message}><button type="button" onClick=${() => setAttempt(attempt + 1)}>Try again</button><//>`
        : !state.caller ? html`<${Loading} what="the page" />` : html`<${Boundary} key=${view.name} what="this view" heading=${view.title}><${view.component} route=${route} /><//>`}
    </main>
    <${PlanDialog} />
    <${Palette} views=${views} />
    <${Help} views=${views} />
    <${Announcement} />`;
}

setTheme();
render(html`<${Page} />`, document.getElementById("page"));
