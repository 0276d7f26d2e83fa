// The frame of the page: name, tabs, light or dark, and the place where a view is drawn.
import { clear, h, styled } from './dom';
import * as state from './state';
import * as terms from './terms';
import * as tooltip from './tooltip';

export interface View {
  id: string;
  title: string;
  /** Nothing to show: the tab is left out. */
  empty?: () => boolean;
  draw: (place: HTMLElement) => void;
  /** Entries of the state whose change draws the view anew. */
  watches?: string[];
}

function stored_theme(): string {
  try {
    return localStorage.getItem('addnorm-theme') ?? '';
  } catch {
    return '';
  }
}

function set_theme(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem('addnorm-theme', theme);
  } catch {
    // A file opened from the disk may have no storage; the choice then lasts as long as the page.
  }
}

function theme_button(): HTMLElement {
  const names: Record<string, string> = { '': 'auto', light: 'light', dark: 'dark' };
  const next: Record<string, string> = { '': 'light', light: 'dark', dark: '' };
  const button = h('button', {
    type: 'button',
    class: 'theme',
    onclick: () => {
      set_theme(next[document.documentElement.dataset.theme ?? '']);
      label();
    },
  });
  const label = (): void => {
    const theme = names[document.documentElement.dataset.theme ?? ''];
    button.textContent = { auto: '◐ auto', light: '☀ light', dark: '☾ dark' }[theme] ?? '';
    button.setAttribute('aria-label', `Colours: ${theme}. Press for the next choice`);
  };
  label();
  return button;
}

/** Describes the element with the focus, so that it can be found again after a view was redrawn. */
function focus_keeper(main: HTMLElement): () => void {
  const all = (): Element[] => Array.from(main.querySelectorAll('button, a, select, input, svg[tabindex], summary'));
  const key = (e: Element): string =>
    `${e.tagName} ${e.getAttribute('aria-label') ?? (e.tagName === 'SELECT' ? e.parentElement?.firstChild?.textContent : e.textContent) ?? ''}`;
  const focused = document.activeElement;
  if (!focused || !main.contains(focused) || focused === main) return () => undefined;
  const wanted = key(focused),
    nth = all()
      .filter((e) => key(e) === wanted)
      .indexOf(focused);
  const again = (tries: number): void => {
    const found = all().filter((e) => key(e) === wanted)[nth] as HTMLElement | undefined;
    if (found) found.focus({ preventScroll: true });
    else if (tries) setTimeout(() => again(tries - 1), 50);
  };
  return () => again(8);
}

export function run(root: HTMLElement, views: View[], about: string): void {
  set_theme(stored_theme());
  const shown = views.filter((v) => !v.empty?.());
  const main = h('main', { id: 'main', tabindex: '-1' });
  const tabs = h(
    'nav',
    { class: 'tabs', 'aria-label': 'Views' },
    shown.map((v) =>
      h(
        'a',
        {
          href: state.format({ view: v.id }),
          'data-view': v.id,
          onclick: (event: MouseEvent) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            state.set({ view: v.id });
          },
        },
        v.title,
      ),
    ),
  );
  root.append(
    h(
      'a',
      {
        class: 'skip-link',
        href: '#main',
        onclick: (event: MouseEvent) => {
          event.preventDefault();
          main.focus();
        },
      },
      'Skip to the content',
    ),
    h(
      'header',
      { class: 'top' },
      h('div', { class: 'brand' }, h('strong', null, 'addnorm'), h('span', null, about)),
      tabs,
      theme_button(),
    ),
    main,
    h(
      'footer',
      null,
      'One file, nothing loaded from anywhere. Every figure can be saved as SVG and its numbers as CSV; the address keeps what you are looking at.',
    ),
  );

  const draw = (scroll: boolean): void => {
    const view = shown.find((v) => v.id === state.get('view')) ?? shown[0];
    for (const tab of Array.from(tabs.children)) {
      if (tab.getAttribute('data-view') === view?.id) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    tooltip.hide();
    terms.forget();
    const refocus = scroll ? () => undefined : focus_keeper(main);
    styled(main, { 'min-height': `${main.offsetHeight}px` }); // so that the window does not jump while figures are drawn
    setTimeout(() => main.style.removeProperty('min-height'), 400);
    clear(main);
    if (!view) {
      main.append(h('h1', null, 'Nothing to show'), h('p', null, 'This page was written without any run.'));
      return;
    }
    document.title = `${view.title} · addnorm`;
    main.dataset.view = view.id;
    try {
      view.draw(main);
    } catch (error) {
      main.append(
        h(
          'p',
          { class: 'problem', role: 'alert' },
          `This view could not be drawn: ${error instanceof Error ? error.message : String(error)}`,
        ),
      );
      console.error(error);
    }
    refocus();
    if (scroll) scrollTo(0, 0);
  };
  state.listen((now, old) => {
    const view = shown.find((v) => v.id === now.view) ?? shown[0];
    if (now.view !== old.view) draw(true);
    else if (view?.watches?.some((name) => now[name] !== old[name])) draw(false);
  });
  draw(false);
}
