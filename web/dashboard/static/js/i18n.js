// Words by key, in the language of whoever looks. Both catalogues hold the same keys; a test sees to it.
const STORED = "fairlane.language";
export const LANGUAGES = { en: "English", "zh-CN": "中文" };

let words = {};
export let language = "en";

/** Load the catalogue of the chosen language, or of the browser's. */
export async function loadWords() {
  language = localStorage.getItem(STORED) ?? (navigator.language.startsWith("zh") ? "zh-CN" : "en");
  if (!(language in LANGUAGES)) language = "en";
  words = await (await fetch(`static/i18n/${language}.json`)).json();
  document.documentElement.lang = language;
}

export function chooseLanguage(chosen) {
  localStorage.setItem(STORED, chosen);
  location.reload();
}

/** The words of a key, `{name}` replaced by what is given. */
export function t(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/{(\w+)}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** The words of a key made of a code that the service sent; a code unknown here is shown as it is. */
export function tCode(prefix, code) {
  return words[`${prefix}.${code}`] ?? code;
}
