// Words that explain themselves where they stand: under the pointer, with the focus, or tapped. What they say is the glossary's.
import { clear, h, type Child } from './dom';
import * as tooltip from './tooltip';
import { kWords } from './words';

const kLinger = 200; // milliseconds in which the pointer may go from the word into the box

export function meaning_of(word: string): string {
  const found = kWords.find(([name]) => name === word);
  if (!found) throw new Error(`the glossary has no word "${word}"`);
  return found[1];
}

// ---- the definitions of the words on show: their description for those who do not see the box, and a list on paper ----------------

let used: HTMLElement | undefined;

/** The id of the definition, which is put on the page once. */
function definition_of(word: string): string {
  const id = `word-${word.replace(/[^a-z]+/gi, '-')}`;
  if (!used) document.body.appendChild((used = h('dl', { class: 'words-used' })));
  if (!Array.from(used.querySelectorAll('dd')).some((dd) => dd.id === id))
    used.append(h('div', null, h('dt', null, word), h('dd', { id }, meaning_of(word))));
  return id;
}

/** Before another view is drawn. */
export function forget(): void {
  if (used) clear(used);
  close();
}

// ---- one box for all of them -----------------------------------------------------------------------------------------------------

let open: { word: string; at: HTMLElement } | undefined;
let closing = 0;

function place(): void {
  if (open) tooltip.show_under(open.at, h('b', null, open.word), ' ', meaning_of(open.word));
}

function show(word: string, at: HTMLElement): void {
  clearTimeout(closing);
  open = { word, at };
  place();
}

function close(): void {
  clearTimeout(closing);
  if (open) tooltip.hide();
  open = undefined;
}

function close_soon(): void {
  clearTimeout(closing);
  closing = setTimeout(close, kLinger);
}

let listening = false;

function listen(): void {
  if (listening) return;
  listening = true;
  const in_box = (event: Event): boolean => event.target instanceof Element && !!event.target.closest('.tooltip');
  addEventListener('keydown', (event) => event.key === 'Escape' && close());
  addEventListener('pointerdown', (event) => !in_box(event) && close());
  addEventListener('pointerover', (event) => open && in_box(event) && clearTimeout(closing));
  addEventListener('pointerout', (event) => open && in_box(event) && document.activeElement !== open.at && close_soon());
  addEventListener('scroll', place, { passive: true, capture: true });
}

/** `shown` is the word as it stands in its sentence. */
export function term(word: string, shown = word): HTMLElement {
  listen();
  const of_mouse = (event: PointerEvent): boolean => event.pointerType === 'mouse';
  const button: HTMLElement = h(
    'button',
    {
      type: 'button',
      class: 'term',
      'aria-describedby': definition_of(word),
      onclick: () => show(word, button),
      onfocus: () => show(word, button),
      onblur: close,
      onpointerenter: (event: PointerEvent) => of_mouse(event) && show(word, button),
      onpointerleave: (event: PointerEvent) => of_mouse(event) && document.activeElement !== button && close_soon(),
    },
    shown,
  );
  return button;
}

/** Typed by us, not data: "as low as the [[floor]]; [[Units|unit]] below". */
export function with_terms(text: string): Child[] {
  return text.split(/\[\[(.*?)\]\]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const [shown, word] = part.split('|');
    return term(word ?? shown, shown);
  });
}

/** A text of the data, in which the first of each of these words explains itself. */
export function terms_in(text: string): Child[] {
  const seen = new Set<string>();
  return text.split(/\b(units?|spread|nats|unigram|floor|skip gain)\b/).map((part, i) => {
    const word = part === 'units' ? 'unit' : part;
    if (i % 2 === 0 || seen.has(word)) return part;
    seen.add(word);
    return term(word, part);
  });
}
