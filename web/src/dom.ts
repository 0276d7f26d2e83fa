// Elements of the page. Everything that comes from data goes through text nodes or attributes, never through a parser of HTML.

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | null | undefined | ((event: any) => void);
export type Attributes = Record<string, Value>;

const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';

function fill(node: Element, attributes: Attributes | null, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.replace(/^on/, ''), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  append(node, children);
}

export function append(node: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** h('p', {class: 'note', onclick: ...}, 'text', h('b', null, 'more')) */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, attributes ?? null, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes?: Attributes | null,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  fill(node, attributes ?? null, children);
  return node;
}

export function math(tag: string, attributes?: Attributes | null, ...children: Child[]): Element {
  const node = document.createElementNS(MATH, tag);
  fill(node, attributes ?? null, children);
  return node;
}

export function clear(node: Node): void {
  while (node.firstChild) node.removeChild(node.firstChild);
}

/** Sets properties of a style by the object model: a strict policy forbids style attributes, not this. */
export function styled<T extends HTMLElement | SVGElement>(node: T, style: Record<string, string>): T {
  for (const [name, value] of Object.entries(style)) node.style.setProperty(name, value);
  return node;
}

export interface Choice {
  value: string;
  text: string;
}

/** A labelled <select>. */
export function choose(label: string, choices: Choice[], value: string, changed: (value: string) => void): HTMLElement {
  const select = h(
    'select',
    { onchange: () => changed(select.value) },
    choices.map((c) => h('option', { value: c.value, selected: c.value === value }, c.text)),
  ) as HTMLSelectElement;
  return h('label', { class: 'choose' }, h('span', null, label), select);
}

/** A labelled slider with its value beside it. */
export function slider(
  label: string,
  range: { min: number; max: number; step?: number },
  value: number,
  shown: (value: number) => string,
  changed: (value: number) => void,
): HTMLElement {
  const out = h('output', null, shown(value));
  const input = h('input', {
    type: 'range',
    min: range.min,
    max: range.max,
    step: range.step ?? 1,
    value,
    oninput: () => {
      out.textContent = shown(input.valueAsNumber);
      input.setAttribute('aria-valuetext', shown(input.valueAsNumber));
      changed(input.valueAsNumber);
    },
  }) as HTMLInputElement;
  input.setAttribute('aria-valuetext', shown(value));
  return h('label', { class: 'slider' }, h('span', null, label), input, out);
}

/** A row of buttons of which one is pressed. */
export function toggles(label: string, choices: Choice[], value: string, changed: (value: string) => void): HTMLElement {
  const group = h('div', { class: 'toggles', role: 'group', 'aria-label': label });
  for (const c of choices) {
    group.appendChild(
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(c.value === value),
          onclick: (event: MouseEvent) => {
            for (const b of Array.from(group.children)) b.setAttribute('aria-pressed', String(b === event.currentTarget));
            changed(c.value);
          },
        },
        c.text,
      ),
    );
  }
  return group;
}
