// What a chart says at one x: under the pointer, or by the arrow keys.
import { h, styled, svg } from '../dom';
import { known, short } from '../numbers';
import * as tooltip from '../tooltip';
import type { Box, Scale } from './axes';
import type { LineChart } from './line_chart';

/** A crosshair by pointer, or by the arrow keys once the figure has the focus. */
export function add_reading(root: SVGSVGElement, chart: LineChart, box: Box, x: Scale & { invert(v: number): number }): void {
  const cross = svg('line', {
    class: 'cross',
    y1: box.top,
    y2: box.top + box.height,
    visibility: 'hidden',
    'data-screen-only': '',
  });
  root.appendChild(cross);
  const stops = [...new Set(chart.series.flatMap((s) => s.x))].sort((a, b) => a - b);
  if (!stops.length) return;
  let stop = stops.length - 1;
  const show = (value: number, client_x: number, client_y: number): void => {
    cross.setAttribute('x1', String(x(value)));
    cross.setAttribute('x2', String(x(value)));
    cross.setAttribute('visibility', 'visible');
    const rows = chart.series
      .slice(0, 40)
      .map((s) => {
        let best = 0;
        for (let i = 1; i < s.x.length; ++i) if (Math.abs(s.x[i] - value) < Math.abs(s.x[best] - value)) best = i;
        return { s, best, y: s.y[best] };
      })
      .filter((r) => known(r.y))
      .sort((a, b) => (b.y as number) - (a.y as number))
      .slice(0, 16);
    tooltip.show(
      client_x,
      client_y,
      h('b', null, chart.x_name ? chart.x_name(value) : `${chart.x_label} ${short(value, 4)}`),
      h(
        'table',
        null,
        rows.map(({ s, best, y }) =>
          h(
            'tr',
            null,
            h('td', null, styled(h('span', { class: 'key' }), { background: s.look.colour }), s.name),
            h(
              'td',
              null,
              short(y),
              known(s.low?.[best]) && known(s.high?.[best]) && s.high?.[best] !== s.low?.[best]
                ? h('small', null, ` ${short(s.low?.[best])} … ${short(s.high?.[best])}`)
                : null,
            ),
          ),
        ),
      ),
    );
  };
  const nearest = (value: number): number => {
    let best = 0;
    for (let i = 1; i < stops.length; ++i) if (Math.abs(x(stops[i]) - value) < Math.abs(x(stops[best]) - value)) best = i;
    return best;
  };
  const hide = (): void => {
    cross.setAttribute('visibility', 'hidden');
    tooltip.hide();
  };
  root.addEventListener('pointermove', (event) => {
    const frame = root.getBoundingClientRect();
    stop = nearest((event.clientX - frame.left) * (root.viewBox.baseVal.width / frame.width));
    show(stops[stop], event.clientX, event.clientY);
  });
  root.addEventListener('pointerleave', hide);
  root.setAttribute('tabindex', '0');
  root.addEventListener('keydown', (event) => {
    const move = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (event.key === 'Escape') hide();
    if (!move) return;
    event.preventDefault();
    const leap = event.shiftKey ? Math.ceil(stops.length / 20) : 1;
    stop = Math.max(0, Math.min(stops.length - 1, stop + move * leap));
    const frame = root.getBoundingClientRect();
    show(stops[stop], frame.left + x(stops[stop]) * (frame.width / root.viewBox.baseVal.width), frame.top + box.top);
  });
  root.addEventListener('blur', hide);
}
