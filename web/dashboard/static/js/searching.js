// What was typed into the search box: a task id, a MAC, a detection id, the hash of an image, or a text.

//: As pipeline/mac.py takes them.
const MAC = /^(?:[0-9a-f]{12}|[0-9a-f]{2}([:\- ])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}|[0-9a-f]{4}([.\-:])[0-9a-f]{4}\2[0-9a-f]{4})$/i;
const HASH = /^[0-9a-f]{64}$/i;
//: An id that the service makes.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
//: An id that a client may choose.
const ID = /^[0-9A-Za-z_-]{1,64}$/;

/** All that a text can be, the likeliest first. A text is always a text, too. */
export function kindsOf(typed) {
  const kinds = [];
  if (HASH.test(typed)) kinds.push("hash");
  if (MAC.test(typed)) kinds.push("mac");
  if (UUID.test(typed)) kinds.push("task");
  const isId = ID.test(typed);
  // Words have no digits and ids nearly always have; an id without is still one of the choices.
  const rest = !isId ? ["text"] : /[0-9]/.test(typed) ? ["task", "detection", "text"] : ["text", "task", "detection"];
  return [...kinds, ...rest.filter((kind) => !kinds.includes(kind))];
}

/** The query parameters that look for it; a task is looked up by its page instead. */
export function queryOf(kind, typed) {
  if (kind === "mac") return { mac: typed };
  if (kind === "hash") return { image_sha256: typed.toLowerCase() };
  if (kind === "detection") return { detection_id: typed };
  return kind === "text" ? { text: typed } : {};
}
