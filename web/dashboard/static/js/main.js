// The frame around every page: who looks, where to go, in which language.
import { Problem, get, isSignedIn, signIn, signOut } from "./api.js";
import { Button, Field, Refusal } from "./components.js";
import { html, render, useCallback, useEffect, useState } from "./dom.js";
import { LANGUAGES, chooseLanguage, language, loadWords, t } from "./i18n.js";
import { PAGES, pageOf } from "./pages.js";
import { href, useRoute } from "./router.js";

function App() {
  const [me, setMe] = useState(null);
  const [problem, setProblem] = useState(null);
  const look = useCallback(async () => {
    try {
      setMe(await get("api/me"));
      setProblem(null);
    } catch (found) {
      setMe(null);
      setProblem(found);
    }
  }, []);
  useEffect(() => void look(), []);
  if (me) return html`<${Frame} me=${me} onSignOut=${() => (signOut(), look())} />`;
  if (!problem) return html`<main class="alone"><p class="quiet">${t("common.loading")}</p></main>`;
  if (problem.status === 401) return html`<${SignIn} problem=${problem} onKey=${(key) => (signIn(key), look())} />`;
  return html`<main class="alone"><${Refusal} problem=${problem} /><${Button} onClick=${look}>${t("common.again")}<//></main>`;
}

function SignIn({ problem, onKey }) {
  const [key, setKey] = useState("");
  const submit = (event) => {
    event.preventDefault();
    onKey(key);
  };
  return html`<main class="alone">
    <h1>fairlane</h1>
    <form onSubmit=${submit}>
      <${Field} label=${t("signin.key")} hint=${t("signin.hint")} value=${key} onInput=${setKey} type="password"
        autocomplete="current-password" required=${true} autofocus=${true} />
      <${Button} type="submit" tone="primary">${t("signin.do")}<//>
      ${isSignedIn() && html`<${Refusal} problem=${new Problem(401, t("signin.refused"), problem.detail)} />`}
    </form>
    <${LanguageChoice} />
  </main>`;
}

function Frame({ me, onSignOut }) {
  const route = useRoute();
  const page = firstOr(pageOf(route), route, me);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => setIsSeen(false), [route]);
  return html`<a class="skip" href="#content" onClick=${skipToContent}>${t("frame.skip")}</a>
    <header class="top">
      <a class="brand" href="#/">fairlane</a>
      <button type="button" class="menu" aria-expanded=${isSeen} aria-controls="nav" onClick=${() => setIsSeen(!isSeen)}>
        ${t("frame.menu")}
      </button>
      <nav id="nav" class=${isSeen ? "open" : ""} aria-label=${t("frame.pages")}>
        ${PAGES.filter((each) => each.title && me.may.includes(each.may)).map((each) => html`<a key=${each.name}
          href=${href(each.name ? [each.name] : [])} aria-current=${each.name === page.name ? "page" : undefined}>
          ${t(each.title)}</a>`)}
      </nav>
      <div class="who">
        <span title=${me.site ?? t("frame.every_site")}>${me.role}</span>
        ${isSignedIn() && html`<${Button} tone="plain" onClick=${onSignOut}>${t("signin.out")}<//>`}
        <${LanguageChoice} />
      </div>
    </header>
    <main id="content" tabindex="-1">
      ${me.may.includes(page.may)
        ? html`<${page.draw} key=${page.keyOf?.(route)} route=${route} me=${me} />`
        : html`<p class="refusal">${t("frame.forbidden")}</p>`}
    </main>`;
}

/** Whoever comes without an address and may not see its page begins at the first that they may see. */
function firstOr(page, { parts }, { may }) {
  if (parts.length || may.includes(page.may)) return page;
  return PAGES.find((each) => each.title && may.includes(each.may)) ?? page;
}

/** The address names the page, so that a link to a part of it must not change the address. */
function skipToContent(event) {
  event.preventDefault();
  document.getElementById("content").focus();
}

function LanguageChoice() {
  const option = ([code, name]) => html`<option value=${code} lang=${code} selected=${code === language}>${name}</option>`;
  return html`<select class="language" aria-label=${t("frame.language")} onChange=${(event) => chooseLanguage(event.target.value)}>
    ${Object.entries(LANGUAGES).map(option)}
  </select>`;
}

await loadWords();
const place = document.getElementById("app");
place.replaceChildren(); // the frame that stood there until now
render(html`<${App} />`, place);
