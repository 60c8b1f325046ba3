// Asks the HTTP interface, with the key of whoever looks. The key lives as long as this tab and is sent in a header
// only, so that no other page can make the browser use it.
const KEY = "fairlane.key";

/** A refusal, as the service's problem document tells it; status 0: the service did not answer. */
export class Problem extends Error {
  constructor(status, title, detail, errors = [], requestId = "") {
    super(title);
    Object.assign(this, { status, title, detail, errors, requestId });
  }
}

export function signIn(key) {
  sessionStorage.setItem(KEY, key.trim());
}

export function signOut() {
  sessionStorage.removeItem(KEY);
}

export function isSignedIn() {
  return sessionStorage.getItem(KEY) !== null;
}

/** The body of a GET. */
export async function get(path, signal) {
  return (await ask("GET", path, undefined, signal)).json();
}

/** The bytes of a GET, for pictures and files. */
export async function getBlob(path, signal) {
  return (await ask("GET", path, undefined, signal)).blob();
}

/** Save what a GET answers as a file; the key goes along, as a link could not have it. */
export async function save(path, name) {
  const url = URL.createObjectURL(await getBlob(path));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it after the click
}

/** The body of a request that changes something; null when there is none. */
export async function send(method, path, body) {
  const answer = await ask(method, path, body);
  return answer.status === 204 ? null : answer.json();
}

/** The body of the answer to a file that is sent as it is. */
export async function sendFile(method, path, blob) {
  return (await ask(method, path, blob)).json();
}

async function ask(method, path, body, signal) {
  const isFile = body instanceof Blob;
  const headers = { Accept: "application/json, */*" };
  const key = sessionStorage.getItem(KEY);
  // Whatever was typed can be sent: a header holds no other letters than those of keys.
  if (key) headers.Authorization = `Bearer ${encodeURIComponent(key)}`;
  if (body !== undefined) headers["Content-Type"] = isFile ? body.type : "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: isFile || body === undefined ? body : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer) {
  const found = await answer.json().catch(() => ({}));
  const { title = answer.statusText, detail = "", errors = [], request_id: requestId = "" } = found;
  return new Problem(answer.status, title, detail, errors, requestId);
}

/** A path with a query; what is null, undefined or empty is left out. */
export function withQuery(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  return query.size ? `${path}?${query}` : path;
}
