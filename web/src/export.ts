// A figure as a file: SVG with every colour written out, and its numbers as CSV.
import { h } from './dom';

export type Cell = string | number | null | undefined;
export type Table = { columns: string[]; rows: Cell[][] };

/** What is written out, and what needs no writing because it is so anyway. */
const kStyles: Record<string, string> = {
  fill: '',
  'fill-opacity': '1',
  stroke: 'none',
  'stroke-width': '1px',
  'stroke-dasharray': 'none',
  'stroke-linejoin': 'miter',
  'paint-order': 'normal',
  opacity: '1',
  'font-family': '',
  'font-size': '',
  'font-weight': '400',
  'text-anchor': 'start',
  visibility: 'visible',
  'image-rendering': 'auto',
};

/** The drawing as a separate document, which looks the same without the page's style sheet. */
export function svg_text(drawing: SVGSVGElement, title: string): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const from = [drawing, ...Array.from(drawing.querySelectorAll<SVGElement>('*'))];
  const to = [copy, ...Array.from(copy.querySelectorAll<SVGElement>('*'))];
  from.forEach((node, i) => {
    const style = getComputedStyle(node),
      above = node === drawing ? undefined : node.parentElement && getComputedStyle(node.parentElement);
    for (const [name, usual] of Object.entries(kStyles)) {
      const value = style.getPropertyValue(name);
      if (value && !(value === usual && (!above || above.getPropertyValue(name) === usual))) to[i].setAttribute(name, value);
    }
    to[i].removeAttribute('style');
    to[i].removeAttribute('class');
  });
  for (const node of Array.from(copy.querySelectorAll('[data-screen-only]'))) node.remove();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  const box = drawing.viewBox.baseVal;
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  const attributes = {
    x: box.x,
    y: box.y,
    width: box.width,
    height: box.height,
    fill: getComputedStyle(drawing.closest('.figure') ?? document.body).backgroundColor,
  };
  for (const [name, value] of Object.entries(attributes)) paper.setAttribute(name, String(value));
  const name = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  name.textContent = title;
  copy.insertBefore(paper, copy.firstChild);
  copy.insertBefore(name, paper);
  return new XMLSerializer().serializeToString(copy);
}

function field(cell: Cell): string {
  if (cell === null || cell === undefined || (typeof cell === 'number' && !Number.isFinite(cell))) return '';
  if (typeof cell === 'number') return String(cell);
  // A quote keeps a spreadsheet from taking a text for a formula.
  const text = /^[=+\-@\t\r]/.test(cell) && !/^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv_text(table: Table): string {
  return [table.columns, ...table.rows].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
}

export function file_name(title: string): string {
  return (
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'figure'
  );
}

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h('a', { href: url, download: name, hidden: true });
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
