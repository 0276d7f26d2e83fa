// Lines that lie on each other take turns: cut into short stretches, of which each shows another of them.

const kStretch = 16; // pixels
const kMarked = 3; // of a line's turns every third has its mark
const kNear = 1.5; // a line is 2.2 wide: nearer than this, one hides the other

/** A line in pixels, from left to right; NaN for the height where it has a gap. */
export interface Trace {
  colour: string;
  x: number[];
  y: number[];
}

/** By a straight line between neighbours; NaN in a gap and beyond the ends. */
function height_at(line: Trace, x: number): number {
  let low = 0,
    high = line.x.length - 1;
  if (high < 0 || x < line.x[0] || x > line.x[high]) return NaN;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (line.x[middle] <= x) low = middle;
    else high = middle;
  }
  if (x === line.x[low]) return line.y[low];
  return line.y[low] + ((line.y[high] - line.y[low]) * (x - line.x[low])) / (line.x[high] - line.x[low]);
}

/** Groups of lines that stay near each other from one end of the stretch to the other, one of each colour. */
function groups(lines: Trace[], from: number, to: number): number[][] {
  const places = [from, (from + to) / 2, to];
  const at = lines
    .map((line, i) => ({ i, y: places.map((x) => height_at(line, x)) }))
    .filter(({ y }) => !y.some(Number.isNaN))
    .sort((a, b) => a.y[1] - b.y[1]);
  const out: number[][] = [];
  let first = at[0];
  for (const here of at) {
    const near = here.y.every((y, k) => Math.abs(y - first.y[k]) < kNear);
    if (!near || here === first) {
      first = here;
      out.push([here.i]);
    } else if (!out[out.length - 1].some((i) => lines[i].colour === lines[here.i].colour)) out[out.length - 1].push(here.i);
  }
  return out.filter((group) => group.length > 1).map((group) => group.sort((a, b) => a - b));
}

function piece(line: Trace, from: number, to: number): string {
  const inner = line.x.map((x, i) => [x, line.y[i]]).filter(([x]) => x > from && x < to);
  const points = [[from, height_at(line, from)], ...inner, [to, height_at(line, to)]];
  return 'M' + points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L');
}

export interface Turns {
  path: string; // to be drawn over all lines; empty: there are none
  marks: [x: number, y: number][];
}

/** Of every line the stretches that are its turn. */
export function turns(lines: Trace[], left: number, right: number): Turns[] {
  const out: Turns[] = lines.map(() => ({ path: '', marks: [] }));
  for (let k = 0; left + k * kStretch < right; ++k) {
    const from = left + k * kStretch,
      to = Math.min(right, from + kStretch);
    for (const group of groups(lines, from, to)) {
      const mine = group[k % group.length];
      out[mine].path += piece(lines[mine], from, to);
      const middle = (from + to) / 2;
      if (Math.floor(k / group.length) % kMarked === 1) out[mine].marks.push([middle, height_at(lines[mine], middle)]);
    }
  }
  return out;
}
