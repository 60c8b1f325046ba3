// Which page answers which address. `may`: what the key of whoever looks must allow; pages without a title are no entry
// of the menu; `isOfOne`: the page of one thing, whose id follows; `keyOf`: what makes it another page altogether.
import { Announcement } from "./pages/announcement.js";
import { Announcements } from "./pages/announcements.js";
import { Audit } from "./pages/audit.js";
import { DeadLetter } from "./pages/dead_letter.js";
import { DeadLetters } from "./pages/dead_letters.js";
import { Device } from "./pages/device.js";
import { Devices } from "./pages/devices.js";
import { Overview } from "./pages/overview.js";
import { Task } from "./pages/task.js";
import { Tasks } from "./pages/tasks.js";
import { WordList } from "./pages/word_list.js";
import { Words } from "./pages/words.js";
import { Workers } from "./pages/workers.js";

const idOf = ({ parts }) => parts[1];

export const PAGES = [
  { name: "", title: "nav.overview", may: "house", draw: Overview },
  { name: "devices", title: "nav.devices", may: "read", draw: Devices },
  { name: "devices", isOfOne: true, may: "read", draw: Device, keyOf: idOf },
  { name: "tasks", title: "nav.tasks", may: "read", draw: Tasks },
  { name: "tasks", isOfOne: true, may: "own", draw: Task, keyOf: idOf },
  { name: "dead-letters", title: "nav.dead_letters", may: "read", draw: DeadLetters },
  { name: "dead-letters", isOfOne: true, may: "read", draw: DeadLetter, keyOf: idOf },
  { name: "workers", title: "nav.workers", may: "house", draw: Workers },
  { name: "words", title: "nav.words", may: "read", draw: Words },
  { name: "words", isOfOne: true, may: "manage", draw: WordList, keyOf: idOf },
  { name: "announcements", title: "nav.announcements", may: "read", draw: Announcements },
  { name: "announcements", isOfOne: true, may: "read", draw: Announcement, keyOf: idOf },
  { name: "audit", title: "nav.audit", may: "manage", draw: Audit },
];

/** The page of a route; an unknown address leads to the first. */
export function pageOf({ parts }) {
  const found = PAGES.filter((page) => page.name === (parts[0] ?? ""));
  return found.find((page) => Boolean(page.isOfOne) === parts.length > 1) ?? found[0] ?? PAGES[0];
}
