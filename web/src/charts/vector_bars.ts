// A few short vectors as bars, side by side: what a unit makes of the numbers that go in. On one scale, but for those with their own.
import { scaleLinear } from 'd3-scale';
import { styled, svg } from '../dom';
import { known, short } from '../numbers';
import type { Scale } from './axes';
import { chart_root } from './root';

export interface Vector {
  name: string;
  values: number[];
  colour: string;
  most?: number; // from -most to most on its own scale
}

function scale_to(most: number, height: number): Scale {
  return scaleLinear()
    .domain([-most, most])
    .range([height - 22, 30]) as unknown as Scale;
}

export function vector_bars(vectors: Vector[], width: number, describe: string): SVGSVGElement {
  const columns = Math.max(1, Math.min(vectors.length, Math.floor(width / 170)));
  const rows = Math.ceil(vectors.length / columns);
  const cell = { width: width / columns, height: 150 };
  const height = rows * cell.height;
  const shared = vectors.filter((v) => v.most === undefined).flatMap((v) => v.values);
  const common = Math.max(1, ...shared.filter(known).map(Math.abs));
  const several = vectors.some((v) => v.most !== undefined);
  return chart_root(
    width,
    height,
    `${describe}: ${vectors.map((v) => `${v.name} = ${v.values.map((x) => short(x)).join(', ')}`).join('; ')}`,
    null,
    vectors.map((v, k) => {
      const left = (k % columns) * cell.width + 6,
        inner = cell.width - 22,
        bar = inner / v.values.length,
        most = v.most ?? common,
        y = scale_to(most, cell.height);
      return svg(
        'g',
        { 'data-vector': v.name, transform: `translate(${left},${Math.floor(k / columns) * cell.height})` },
        svg('text', { class: 'bar-text', x: 0, y: 15 }, v.name),
        several
          ? svg('text', { class: 'tick-text', x: inner, y: 15, 'text-anchor': 'end' }, `−${short(most)} to ${short(most)}`)
          : null,
        svg('line', { class: 'base', x1: 0, x2: inner, y1: y(0), y2: y(0) }),
        v.values.map((value, i) => {
          const there = known(value);
          const end = y(there ? value : 0);
          return svg(
            'g',
            null,
            styled(
              svg('rect', {
                x: i * bar + 2,
                y: Math.min(y(0), end),
                width: Math.max(2, bar - 4),
                height: Math.max(1, Math.abs(end - y(0))),
                rx: 2,
              }),
              { fill: v.colour },
            ),
            svg(
              'text',
              {
                class: 'tick-text',
                x: (i + 0.5) * bar,
                y: there && value < 0 ? Math.min(end + 12, cell.height - 2) : end - 4,
                'text-anchor': 'middle',
              },
              there ? short(value, 2) : 'NaN',
            ),
          );
        }),
      );
    }),
  );
}
