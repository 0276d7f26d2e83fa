// How rows of a lab differ: options that differ, and how weights start, in words.
import type { LabRow } from './data';
import { listed } from './numbers';

/** How weights start is compared by what it comes to, where that is known: two options may ask for the same. */
const kStart = ['init', 'init_std', 'embedding_std', 'position_std', 'branch_scale'];
const kKnownStart = ['weights', 'embeddings'];
/** What changes nothing that is learned, or is another draw of the same. */
const kNoFactor = ['seed', 'save_every', 'keep', 'log_every', 'eval_every', 'eval_samples', 'probes', 'probe_every'];
/** Those that have their own axis or words. */
const kShown = ['arrangement', 'layers', 'lr', 'warmup_steps'];

function text_of(row: LabRow, name: string): string {
  if (name === 'weights' || name === 'embeddings') return row[name] ?? '';
  const value = row.options?.[name] ?? row.asked?.[name] ?? '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What was asked for, as factors: what merely follows from another option is no factor. */
function factors(rows: LabRow[]): string[] {
  const asked = new Set(rows.flatMap((r) => Object.keys(r.asked ?? r.options ?? {})));
  const start_known = rows.every((r) => r.weights);
  const left_out = [...kNoFactor, ...(start_known ? kStart : [])];
  return [...asked, ...(start_known ? kKnownStart : [])].filter((name) => !left_out.includes(name));
}

/** The factors in which rows differ, except those that have their own axis. */
export function differing(rows: LabRow[]): string[] {
  return factors(rows).filter((name) => !kShown.includes(name) && new Set(rows.map((r) => text_of(r, name))).size > 1);
}

/** All factors in which two rows differ. */
export function between(row: LabRow, other: LabRow): string[] {
  return [...new Set([...kShown, ...factors([row, other])])].filter((name) => text_of(row, name) !== text_of(other, name));
}

/** In what they differ besides the placement. */
export function besides_placement(row: LabRow, other: LabRow): string[] {
  return between(row, other).filter((name) => name !== 'arrangement');
}

/** "gpt2 weights"; "gpt2 weights, W_o and W_2 times 2"; "gpt2 weights with its own gains". */
export function weights_in_words(row: LabRow): string {
  if (row.weights_in_words) return row.weights_in_words;
  const weights = row.weights ?? '';
  const rule_ends = weights.search(/ of |, /);
  return rule_ends < 0 ? `${weights} weights` : `${weights.slice(0, rule_ends)} weights${weights.slice(rule_ends)}`;
}

const kWords: Record<string, string> = { lr: 'learning rate', warmup_steps: 'warm-up' };

/** A factor by itself: "learning rate", "batch-size". */
export function in_words(name: string): string {
  return kWords[name] ?? name.replace(/_/g, '-');
}

/** "norm rmsnorm", "batch-size 8", "gpt2 weights". */
export function said(row: LabRow, name: string): string {
  if (name === 'weights') return weights_in_words(row);
  return `${in_words(name)} ${text_of(row, name) || 'none'}`;
}

/** "post-ln, norm rmsnorm, batch-size 8". */
export function named_with(row: LabRow, names: string[]): string {
  return [row.arrangement, ...names.map((name) => said(row, name))].join(', ');
}

/** " They differ in more than the formula: in weights and embeddings." */
export function also_differ(names: string[]): string {
  return names.length ? ` They differ in more than the formula: in ${listed(names.map(in_words))}.` : '';
}
