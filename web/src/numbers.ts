// Numbers as people read them.

export type Maybe = number | null | undefined;

export function known(value: Maybe): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

const kSuper: Record<string, string> = {
  '-': '⁻',
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
};

export function power_of_ten(exponent: number): string {
  return (
    '10' +
    String(exponent)
      .split('')
      .map((c) => kSuper[c] ?? c)
      .join('')
  );
}

/** Three significant digits: 0.0123, 4.56, 1,230, 1.2×10⁻⁵. */
export function short(value: Maybe, digits = 3): string {
  if (!known(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split('e');
    const m = mantissa.replace(/\.0+$/, '').replace('-', '−');
    return (m === '1' ? '' : m + '×') + power_of_ten(Number(exponent));
  }
  const text = Number(value.toPrecision(digits));
  return Math.abs(text) >= 1000 ? text.toLocaleString('en-US') : String(text).replace('-', '−');
}

export function fixed(value: Maybe, decimals = 2): string {
  return known(value) ? value.toFixed(decimals).replace('-', '−') : '–';
}

export function percent(value: Maybe): string {
  return known(value) ? `${Math.round(100 * value)} %` : '–';
}

export function plus_minus(mean: Maybe, spread: Maybe): string {
  if (!known(mean)) return '–';
  return known(spread) && spread > 0 ? `${short(mean)} ± ${short(spread, 2)}` : short(mean);
}

/** "a, b and c". */
export function listed(words: string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

export function count_of(n: number, one: string, many = one + 's'): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function mean(values: number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

export function deviation(values: number[]): number {
  if (values.length < 2) return 0;
  const m = mean(values);
  return Math.sqrt(values.reduce((a, b) => a + (b - m) ** 2, 0) / (values.length - 1));
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
