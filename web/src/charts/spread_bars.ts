// A few measured numbers with their spread, each on a common scale: linear, or logarithmic where they are far apart.
import { scaleLinear, scaleLog } from 'd3-scale';
import { styled, svg } from '../dom';
import { known, plus_minus } from '../numbers';
import { log_ticks, sound, tick_text, type Scale } from './axes';
import { chart_root } from './root';

export interface Bar {
  name: string;
  mean: number | null;
  spread: number | null;
}

export function spread_bars(bars: Bar[], width: number): SVGSVGElement {
  const rows = bars.slice(0, 24);
  const line = 30,
    top = 6,
    left = 10,
    right = 10;
  const height = top + rows.length * line + 26;
  const means = rows.map((b) => b.mean).filter(known);
  const ends = rows.flatMap((b) => (known(b.mean) ? [b.mean - (b.spread ?? 0), b.mean + (b.spread ?? 0)] : []));
  const log = means.length > 1 && Math.min(...means) > 0 && Math.max(...means) / Math.min(...means) > 100;
  const low = log ? Math.min(...means) / 2 : Math.min(0, ...ends),
    high = log ? Math.max(...means) * 2 : Math.max(0, ...ends);
  const scale = (log ? scaleLog() : scaleLinear()).domain(sound(low, high, log)).range([left, width - right]) as unknown as Scale;
  const base = log ? left : scale(0);
  const x = (v: number): number => scale(log ? Math.max(low, v) : v);
  return chart_root(
    width,
    height,
    rows.map((b) => `${b.name}: ${plus_minus(b.mean, b.spread)}`).join('; '),
    null,
    (log ? log_ticks(scale, 6) : scale.ticks(5)).map((t) =>
      svg(
        'g',
        null,
        svg('line', { class: 'grid', x1: scale(t), x2: scale(t), y1: top, y2: height - 22 }),
        svg('text', { class: 'tick-text', x: scale(t), y: height - 8, 'text-anchor': 'middle' }, tick_text(t, log)),
      ),
    ),
    rows.map((b, i) => {
      if (!known(b.mean)) return null;
      const y = top + i * line,
        end = x(b.mean),
        spread = b.spread ?? 0;
      return svg(
        'g',
        null,
        svg('text', { class: 'bar-text', x: left, y: y + 11 }, `${b.name}: ${plus_minus(b.mean, b.spread)}`),
        styled(svg('rect', { x: Math.min(base, end), y: y + 15, width: Math.max(1, Math.abs(end - base)), height: 8, rx: 2 }), {
          fill: 'var(--c0)',
        }),
        spread > 0
          ? svg('line', { class: 'whisker', x1: x(b.mean - spread), x2: x(b.mean + spread), y1: y + 19, y2: y + 19 })
          : null,
      );
    }),
  );
}
