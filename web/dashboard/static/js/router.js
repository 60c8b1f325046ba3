// Where we are: `#/tasks/abc?mac=…`. Filters live in the address, so that a view can be sent to a colleague.
import { useEffect, useRef, useState } from "./dom.js";
import { withQuery } from "./api.js";

function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  return {
    parts: path.split("/").filter(Boolean).map(decoded),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a percent sign typed by hand
  }
}

/** The address of a page: `href(["tasks", id], {tab: "raw"})`. */
export function href(parts, params = {}) {
  return withQuery(`#/${parts.map(encodeURIComponent).join("/")}`, params);
}

/** The current route; draws anew when it changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => setRoute(readRoute());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

/** Change some parameters of the current address; `null` removes one. */
export function setParams(patch) {
  const { parts, params } = readRoute();
  location.hash = href(parts, { ...params, ...patch }).slice(1);
}

/**
 * Pages whose beginning stands in the address as `name`: `{at, back, forward(next)}`; `next` is the address of the next
 * page, as the service gives it. Every other change of the address begins with the first page.
 */
export function usePages(params, name) {
  const before = useRef({});
  const at = params[name] ?? null;
  const go = (to) => setParams({ [name]: to });
  return {
    at,
    back: () => go(before.current[at] ?? null),
    forward: (next) => {
      const to = new URLSearchParams(next.split("?")[1]).get(name);
      before.current[to] = at;
      go(to);
    },
  };
}
