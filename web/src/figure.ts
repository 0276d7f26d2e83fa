// The frame around every figure: title, what is to be seen, the drawing at the width there is, and its two files.
import { clear, h, type Child } from './dom';
import { csv_text, file_name, save, svg_text, type Table } from './export';

export interface FigureOptions {
  title: string;
  note?: Child; // under the drawing: how to read it
  draw: (width: number) => SVGSVGElement;
  table: () => Table;
  controls?: Child;
  class?: string;
  level?: 2 | 3 | 4; // of the heading
}

export interface Figure {
  element: HTMLElement;
  redraw: () => void;
}

export function make_figure(options: FigureOptions): Figure {
  const place = h('div', { class: 'drawing' });
  let drawing: SVGSVGElement | undefined;
  let width = 0;
  const redraw = (): void => {
    if (width < 1) return;
    clear(place);
    drawing = options.draw(width);
    place.appendChild(drawing);
  };
  new ResizeObserver((entries) => {
    const now = Math.floor(entries[0].contentRect.width);
    if (now === width || now < 1) return;
    width = now;
    requestAnimationFrame(redraw);
  }).observe(place);

  const name = file_name(options.title);
  const files = h(
    'span',
    { class: 'files' },
    h(
      'button',
      {
        type: 'button',
        class: 'file',
        'aria-label': `Save "${options.title}" as SVG`,
        'data-file': 'svg',
        onclick: () => drawing && save(`${name}.svg`, 'image/svg+xml', svg_text(drawing, options.title)),
      },
      'SVG',
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'file',
        'aria-label': `Save the data of "${options.title}" as CSV`,
        'data-file': 'csv',
        onclick: () => save(`${name}.csv`, 'text/csv', csv_text(options.table())),
      },
      'CSV',
    ),
  );
  const heading = h(`h${options.level ?? 3}` as 'h3', null, options.title);
  const element = h(
    'figure',
    { class: `figure ${options.class ?? ''}` },
    h('div', { class: 'figure-head' }, heading, files),
    options.controls ? h('div', { class: 'controls' }, options.controls) : null,
    place,
    options.note ? h('figcaption', null, options.note) : null,
  );
  return { element, redraw };
}

export function figure(options: FigureOptions): HTMLElement {
  return make_figure(options).element;
}
