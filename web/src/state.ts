// What is being looked at, kept in the URL's fragment: "#view=maps&lab=0&metric=spread". A link shows what its sender saw.

export type State = Record<string, string>;

let state: State = {};
const listeners: ((state: State, old: State) => void)[] = [];

export function parse(fragment: string): State {
  const out: State = {};
  for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ''))) out[name] = value;
  return out;
}

export function format(all: State): string {
  return '#' + new URLSearchParams(Object.entries(all).filter(([, value]) => value !== '')).toString();
}

export function get(name: string, otherwise = ''): string {
  return state[name] ?? otherwise;
}

export function number(name: string, otherwise: number): number {
  const value = Number.parseFloat(state[name] ?? '');
  return Number.isFinite(value) ? value : otherwise;
}

/** Changes some entries ('' takes one out). A new view is a step in the browser's history, anything else is not. */
export function set(changes: State, quiet = false): void {
  const old = state;
  state = { ...state };
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') delete state[name];
    else state[name] = value;
  }
  const url = format(state);
  try {
    if (state.view !== old.view) history.pushState(null, '', url);
    else history.replaceState(null, '', url);
  } catch {
    // A page opened in a frame without its own address keeps its state in memory.
  }
  if (!quiet) for (const f of listeners) f(state, old);
}

/** The address of this page with some entries changed, for links. */
export function link(changes: State): string {
  return format({ ...state, ...changes });
}

export function listen(f: (state: State, old: State) => void): void {
  listeners.push(f);
}

export function start(): void {
  state = parse(location.hash);
  const changed = (): void => {
    const old = state;
    const now = parse(location.hash);
    if (format(now) === format(old)) return;
    state = now;
    for (const f of listeners) f(state, old);
  };
  addEventListener('popstate', changed);
  addEventListener('hashchange', changed);
}
