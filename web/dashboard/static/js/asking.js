// Hooks that ask the service and draw what it answers.
import { useCallback, useEffect, useRef, useState } from "./dom.js";
import { get, getBlob } from "./api.js";

const NOTHING = { data: null, problem: null, asked: null };

/**
 * What a path answers, asked anew every `everyMs` while the tab is seen; 0: asked once.
 * The last answer stays until the next is here, so that nothing jumps. A path of null asks nothing.
 */
export function useAnswer(path, everyMs = 5000) {
  const [state, setState] = useState(NOTHING);
  const again = useRef(() => {});
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    let timer = 0;
    const look = async () => {
      clearTimeout(timer);
      const found = await answerOf(path, abort.signal);
      if (abort.signal.aborted) return;
      setState((before) => ({ data: found.data ?? keptOf(before, found), problem: found.problem, asked: path }));
      if (everyMs && !document.hidden) timer = setTimeout(look, everyMs);
    };
    const onSeen = () => (document.hidden ? clearTimeout(timer) : everyMs && look());
    again.current = look;
    document.addEventListener("visibilitychange", onSeen);
    look();
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onSeen);
    };
  }, [path, everyMs]);
  const reload = useCallback(() => again.current(), []);
  return { ...state, isLoading: state.asked !== path, reload };
}

/** A refusal means that the old answer is wrong; no answer at all, that it is merely old. */
function keptOf(before, found) {
  return found.problem.status === 0 || found.problem.status >= 500 ? before.data : null;
}

async function answerOf(path, signal) {
  try {
    return { data: await get(path, signal), problem: null };
  } catch (problem) {
    return { data: null, problem };
  }
}

/** The address of a picture, fetched with the key; null until it is here. */
export function usePicture(path) {
  const [state, setState] = useState({ url: null, problem: null });
  useEffect(() => {
    const abort = new AbortController();
    let url = null;
    getBlob(path, abort.signal).then(
      (blob) => {
        url = URL.createObjectURL(blob);
        setState({ url, problem: null });
      },
      (problem) => abort.signal.aborted || setState({ url: null, problem }),
    );
    return () => {
      abort.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [path]);
  return state;
}

/** `run(work)` does one thing at a time and keeps what it said: `{isBusy, problem, done}`. */
export function useDeed() {
  const [state, setState] = useState({ isBusy: false, problem: null, done: null });
  const run = useCallback(async (work) => {
    setState({ isBusy: true, problem: null, done: null });
    try {
      const done = await work();
      setState({ isBusy: false, problem: null, done });
      return done;
    } catch (problem) {
      setState({ isBusy: false, problem, done: null });
      return null;
    }
  }, []);
  return { ...state, run };
}
