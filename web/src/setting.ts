// What was trained, in one sentence: made of the options of the rows, whatever their data is.
import type { LabRow } from './data';
import { count_of, known, listed, short } from './numbers';

type Value = string | number;

const kOptimizers: Record<string, string> = { sgd: 'SGD', adam: 'Adam', adamw: 'AdamW', radam: 'RAdam', adafactor: 'Adafactor' };
/** Others go by their own names. */
const kModels: Record<string, string> = { lm: '', seq2seq: 'encoder-decoder', encoder: 'masked language model' };

function option(row: LabRow, name: string): unknown {
  return row.options?.[name] ?? row.asked?.[name];
}

/** Every value that the rows have of an option, once. */
function values(rows: LabRow[], name: string): Value[] {
  const is_one = (v: unknown): v is Value => known(v as number) || (typeof v === 'string' && v !== '');
  return [...new Set(rows.map((row) => option(row, name)).filter(is_one))];
}

/** "12"; "6, 12 and 24"; "4 to 96". Empty where nothing is known. */
function range_text(list: Value[], text: (value: Value) => string = String): string {
  const numbers = list.filter((v): v is number => typeof v === 'number').sort((a, b) => a - b);
  if (numbers.length < list.length || numbers.length <= 4) return listed((numbers.length ? numbers : list).map(text));
  return `${text(numbers[0])} to ${text(numbers[numbers.length - 1])}`;
}

/** "a made-up language of 43 words", "book.txt (96 different tokens)". */
function data_of(row: LabRow): string {
  const given = option(row, 'data');
  const files = (Array.isArray(given) ? given : [given]).filter((f): f is string => typeof f === 'string' && f !== '');
  const vocab = option(row, 'vocab'),
    classes = option(row, 'classes'),
    task = option(row, 'task');
  const some = (n: unknown): n is number => known(n as number) && (n as number) > 0;
  if (files.length) {
    const names = listed(files.length > 3 ? [...files.slice(0, 2), `${files.length - 2} more files`] : files);
    return some(vocab) ? `${names} (${vocab} different tokens)` : names;
  }
  if (!task || task === 'language') return some(vocab) ? `a made-up language of ${vocab} words` : 'a made-up language';
  if (task === 'mixture') return some(classes) ? `a made-up mixture of ${classes} classes` : 'a made-up mixture of classes';
  return `a made-up task, ${String(task)}`;
}

function training_of(rows: LabRow[]): string {
  const steps = range_text(values(rows, 'steps')),
    optimizer = range_text(values(rows, 'optimizer'), (name) => kOptimizers[name] ?? String(name)),
    rate = range_text(values(rows, 'lr'), (lr) => short(lr as number));
  if (!steps) return '';
  return [`${steps} steps`, optimizer ? ` of ${optimizer}` : '', rate ? ` at ${rate}` : ''].join('');
}

function warm_up_of(rows: LabRow[]): string {
  const steps = values(rows, 'warmup_steps');
  if (!steps.length) return '';
  if (steps.every((n) => n === 0)) return 'no warm-up';
  return steps.includes(0) ? 'with and without warm-up' : `${range_text(steps)} steps of warm-up`;
}

/** Empty where the rows do not say how they were trained. */
export function setting_of(rows: LabRow[]): string {
  const known_rows = rows.filter((row) => Object.keys(row.options ?? row.asked ?? {}).length);
  if (!known_rows.length) return '';
  const data = [...new Set(known_rows.map(data_of))],
    models = values(known_rows, 'model').map((name) => kModels[name] ?? String(name)),
    width = range_text(values(known_rows, 'd_model')),
    layers = range_text(values(known_rows, 'layers')),
    seeds = [...new Set(known_rows.map((row) => row.runs.length))];
  const parts = [
    data.length > 3 ? `${data.length} sets of data` : listed(data),
    listed(models.filter(Boolean)),
    width ? `width ${width}` : '',
    layers ? `${layers} layer${layers === '1' ? '' : 's'}` : '',
    training_of(known_rows),
    warm_up_of(known_rows),
    seeds.length === 1 && seeds[0] > 0 ? count_of(seeds[0], 'seed') : '',
  ];
  return parts.filter(Boolean).join(', ');
}
