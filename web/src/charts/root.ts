// The element that every chart is drawn into.
import { svg, type Attributes, type Child } from '../dom';

/** `label` is what those hear who do not see it; `more` may replace the class. */
export function chart_root(
  width: number,
  height: number,
  label: string,
  more?: Attributes | null,
  ...children: Child[]
): SVGSVGElement {
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', class: 'chart', 'aria-label': label, ...more },
    ...children,
  );
}
