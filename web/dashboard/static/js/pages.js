// Which page answers which address. `may`: what the key of whoever looks must allow; pages without a title are no entry
// of the menu.
import { Device } from "./pages/device.js";
import { Devices } from "./pages/devices.js";
import { Overview } from "./pages/overview.js";

export const PAGES = [
  { name: "", title: "nav.overview", may: "house", draw: Overview },
  { name: "devices", title: "nav.devices", may: "read", draw: Devices },
  { name: "devices", isOfOne: true, may: "read", draw: Device, keyOf: ({ parts }) => parts[1] },
];

/** The page of a route; an unknown address leads to the first. */
export function pageOf({ parts }) {
  const found = PAGES.filter((page) => page.name === (parts[0] ?? ""));
  return found.find((page) => Boolean(page.isOfOne) === parts.length > 1) ?? found[0] ?? PAGES[0];
}
