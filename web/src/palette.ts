// One look per arrangement, the same in every figure: a colour of Okabe and Ito's set, a dash and a mark, so that colour is never the
// only difference. Colours are variables of the style sheet, which has them for light and for dark pages.

export interface Look {
  colour: string; // "var(--c3)"
  dash: string; // of stroke-dasharray; empty: a plain line
  mark: number; // which of kMarks
}

const kColours = 8;
const kDashes = ['', '7 3', '2 3', '9 3 2 3'];

// Well-known arrangements always look alike, whichever page they are on.
const kKnown = ['pre-ln', 'post-ln', 'deepnorm', 'norm-skip', 'rezero', 'plain', 'residual', 'admin'];
const given = new Map<string, number>(kKnown.map((name, i) => [name, i]));

export function look_of(name: string, variant = 0): Look {
  let i = given.get(name);
  if (i === undefined) given.set(name, (i = given.size));
  return {
    colour: `var(--c${i % kColours})`,
    dash: kDashes[(Math.floor(i / kColours) + variant) % kDashes.length],
    mark: (i + variant) % kMarks.length,
  };
}

/** Paths around (0, 0), of about the same area. */
export const kMarks = [
  'M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z', // disc
  'M-3.6,-3.6h7.2v7.2h-7.2Z', // square
  'M0,-5L4.6,3.4H-4.6Z', // triangle
  'M0,-5.2L4.4,0L0,5.2L-4.4,0Z', // diamond
  'M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z', // cross
  'M0,5L4.6,-3.4H-4.6Z', // triangle, down
  'M-4.5,-2.5L-2.5,-4.5L0,-2L2.5,-4.5L4.5,-2.5L2,0L4.5,2.5L2.5,4.5L0,2L-2.5,4.5L-4.5,2.5L-2,0Z', // x
  'M0,-5.2L1.5,-1.6L5,-1.6L2.2,0.8L3.2,4.6L0,2.4L-3.2,4.6L-2.2,0.8L-5,-1.6L-1.5,-1.6Z', // star
];

/** A verdict as a kind, for colours and signs. */
export function tone_of(verdict: string | undefined): 'good' | 'warn' | 'bad' | 'none' {
  if (!verdict) return 'none';
  if (/^(trains|trained|true$|seen|agreed)/.test(verdict)) return 'good';
  if (/^(needs warm-up|slow|true only|true with|mixed)/.test(verdict)) return 'warn';
  if (/^(will not|does not|stuck|diverged|false|not seen|failed|crashed|broke off)/.test(verdict)) return 'bad';
  return 'none';
}

export const kSigns = { good: '✓', warn: '◐', bad: '✕', none: '·' } as const;
