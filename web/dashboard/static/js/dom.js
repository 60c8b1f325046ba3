// The one place that knows which library draws the page. Text handed to it is text: nothing here makes HTML of it.
import { Fragment, createContext, h, render } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { useCallback, useContext, useEffect, useId, useMemo, useRef, useState } from "../vendor/hooks.js";
export { Fragment, createContext, render };

export const html = htm.bind(h);
