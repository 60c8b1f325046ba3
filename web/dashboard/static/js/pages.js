// Which page answers which address. `may`: what the key of whoever looks must allow; pages without a title are no entry
// of the menu; `isOfOne`: the page of one thing, whose id follows; `keyOf`: what makes it another page altogether.
import { DeadLetter } from "./pages/dead_letter.js";
import { DeadLetters } from "./pages/dead_letters.js";
import { Device } from "./pages/device.js";
import { Devices } from "./pages/devices.js";
import { Overview } from "./pages/overview.js";
import { Task } from "./pages/task.js";
import { Tasks } from "./pages/tasks.js";

const idOf = ({ parts }) => parts[1];

export const PAGES = [
  { name: "", title: "nav.overview", may: "house", draw: Overview },
  { name: "devices", title: "nav.devices", may: "read", draw: Devices },
  { name: "devices", isOfOne: true, may: "read", draw: Device, keyOf: idOf },
  { name: "tasks", title: "nav.tasks", may: "read", draw: Tasks },
  { name: "tasks", isOfOne: true, may: "own", draw: Task, keyOf: idOf },
  { name: "dead-letters", title: "nav.dead_letters", may: "read", draw: DeadLetters },
  { name: "dead-letters", isOfOne: true, may: "read", draw: DeadLetter, keyOf: idOf },
];

/** The page of a route; an unknown address leads to the first. */
export function pageOf({ parts }) {
  const found = PAGES.filter((page) => page.name === (parts[0] ?? ""));
  return found.find((page) => Boolean(page.isOfOne) === parts.length > 1) ?? found[0] ?? PAGES[0];
}
