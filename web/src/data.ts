// The one JSON document that `addnorm report` writes into the page: <script type="application/json" id="data">. Labs and runs are
// here, what single commands found is in results.ts.
//
// Rules for the writer
// - Any part may be missing, or empty: the page shows what is there and says what is not. Fields marked `?` may be left out.
// - A number that is not known or not finite is null. Numbers are written with at most 6 significant digits (`%.6g`).
// - Fields the page does not know are ignored, so an object that exists already (a row of lab.json) may be passed on as it is.
// - `<` is written as \u003c. Every text is data: the page inserts it as text and never as HTML.
// - Paths are for reading only. What would identify the machine (absolute folders) is best cut to its last part.
//
// Size
// - A loss curve has at most 300 points: means over blocks of steps, as lab.json has them. On a page with more than 200 runs: 120.
// - Probe matrices are packed (see Packed): 3 characters per number. A run has at most 60 records: the first, the last, and
//   between them those nearest to evenly spaced positions in the list of records (not in steps: early ones are dense on purpose).
// - Where all packed text would pass 6 MB, probes are kept of the first seed of each row only, then of the first rows only.

import type { Arrangement, ClaimSet, Preflight, Xray } from './results';

export interface ReportData {
  format: 1;
  version: string; // of addnorm
  made?: string; // when, "2026-11-17T12:40:00Z"
  labs?: Lab[];
  trains?: TrainRun[];
  preflights?: Preflight[];
  xrays?: Xray[];
  claims?: ClaimSet[];
  /** The catalogue: `addnorm arrangements --format json` in full, of every arrangement, and `gain`. */
  arrangements?: Arrangement[];
}

/**
 * Numbers as text: three base64 digits each (A-Z a-z 0-9 + /, most significant first), no padding.
 * They are the top 18 bits of the float32: bits = bit_cast<uint32>(value); code = (bits + 0x2000) >> 14. An error below 0.1 %.
 * NaN and infinities, and what was null: code 0x3FF00 ("/8A"), which the page reads as null.
 */
export type Packed = string;

// ---- lab.json (docs/file-formats.md, src/lab/grid/json.cpp): as it is, with three things added to runs -------------------------

export interface Lab {
  name: string; // shown as the title of the lab: the last part of its folder
  version?: string;
  finished?: boolean;
  failed?: number;
  seconds?: number | null;
  with_warmup?: number;
  acts?: { name: string; note?: string }[];
  rows: LabRow[];
  runs: LabRun[];
  headline?: string; // what the lab decides, in a sentence made from its numbers; empty: nothing
  findings?: string[]; // what the lab shows, a sentence each, made from its numbers
  comparisons?: string[];
  confusion?: Confusion;
}

export interface LabRow {
  label: string;
  label_in_act?: string;
  act?: number;
  arrangement: string;
  formula?: string; // text: "x' = LN(x + F(x))"; the page makes MathML of it
  asked?: Options;
  options?: Options; // layers, lr, warmup_steps, d_model, ... ; only scalars are used
  runs: number[]; // places in Lab.runs
  baselines?: Baselines;
  trained_line?: number | null;
  skip_gain_predicted?: number | null;
  prediction?: Prediction | null;
  no_prediction?: string;
  done?: number;
  trained?: number;
  outcomes?: string[] | Record<string, number> | string;
  loss?: { mean: number | null; deviation: number | null; least: number | null; most: number | null; count: number };
  distance?: number | null;
  happened?: string; // trains, needs warm-up, will not train, does not train, slow, ...
  slow?: boolean;
  agreed?: boolean | null;
  cause?: Cause | null;
  weights?: string; // the same text, the same matrices but for gains of the formula: "xavier", "gpt2"
  weights_in_words?: string; // "gpt2 weights with its own gains"; earlier records have none
  embeddings?: string; // their deviation at the start: "0.02"
  tried?: Tried[]; // of a row that failed: one factor changed by itself
  same_as?: number; // the same configuration under another name: it is counted with that row
  instead_of?: number; // a copy of that row, run to try one change of it
}

export interface Tried {
  factor: string; // placement, placement and start, weights, embeddings, warm-up, rate
  change: string; // "pre-ln", "gpt2 weights", "200 warm-up steps"
  cures: boolean;
  trained: number;
  done: number;
  row?: number;
}

export interface LabRun {
  seed?: number;
  key?: string;
  folder?: string;
  state?: string;
  steps?: number;
  steps_done?: number;
  seconds?: number | null;
  outcome?: string; // trained, slow, stuck, diverged
  loss?: number | null;
  best?: number | null;
  diverged_at?: number | null;
  cause?: Cause | null;
  broke_off?: string;
  problem?: string;
  curve?: Curve;
  /** Added by the report, from metrics.jsonl: `gradient_norm`, `learning_rate`, averaged over the same blocks as the curve. */
  gradient_curve?: (number | null)[];
  rate_curve?: (number | null)[];
  validation?: Curve; // made by the page itself of TrainRun.validation; not written for labs
  /** Added by the report, from probes.jsonl: one per stack (an encoder-decoder has two). */
  probes?: Probes[];
}

export interface Curve {
  step: number[]; // last step of each block
  loss: (number | null)[]; // means
  /** Of the steps of each block, where blocks have several and the single steps were there to look at. */
  least?: (number | null)[];
  most?: (number | null)[];
}

export interface Baselines {
  floor?: number | null;
  uniform?: number | null;
  unigram?: number | null;
  bigram?: number | null;
}

export interface Prediction {
  forecast: string; // trains, needs warm-up, will not train
  confidence?: number | null;
  clear?: boolean;
  reason?: string;
  skip_gain_measured?: number | null;
  twin?: string;
  horizon?: string | number;
  seconds?: number | null;
}

export interface Cause {
  kind: string;
  text: string;
  step?: number;
  unit?: number; // from 1; 0: none
  confirmed?: boolean;
  by?: string;
  by_rows?: number[]; // that `by` is about, places in Lab.rows
}

export interface Confusion {
  classes: string[];
  counts: number[][]; // [predicted][happened]
  balanced_accuracy?: number | null;
  trains_or_not?: number[][];
  trains_or_not_balanced_accuracy?: number | null;
  rows?: number;
}

export type Options = Record<string, unknown>;

// ---- probes.jsonl, one run, one stack -------------------------------------------------------------------------------------------

/** Records of one stack turned into matrices. Each is [record][place] or [record][unit], row after row, in `step`'s order. */
export interface Probes {
  stack: string; // "stack", "encoder", "decoder"
  units: string[]; // "layers.0.self", ...: K names
  step: number[]; // of the records kept
  of_records?: number; // how many there were, where some were left out
  of_units?: number; // the same of units
  // By place (K + 1 numbers a record).
  stream_rms?: Packed;
  spread?: Packed;
  gradient_norm?: Packed;
  // By unit (K numbers a record).
  update_ratio?: Packed;
  gradient_skip?: Packed;
  gradient_branch?: Packed;
  attention_entropy?: Packed;
  max_logit?: Packed;
  cosine?: Packed;
  skip_share?: Packed; // full probes only; records without it are all null
  /** From records of `--probes full`: the first, the middle and the last of them. Plain numbers. */
  full?: FullRecord[];
}

export interface FullRecord {
  step: number;
  probe_loss?: number | null;
  lens_loss?: (number | null)[]; // by unit: loss if the stack ended there
  bypass_change?: (number | null)[]; // by unit: loss without this branch, less the loss
  dependency?: (number | null)[][]; // [place][component]: embedding, units, biases
  logit_attribution?: (number | null)[]; // by component
  effective_rank?: (number | null)[]; // by place
  token_similarity?: (number | null)[]; // by place
  position_accuracy?: (number | null)[]; // by place
  skip_gain?: number | null;
}

// ---- one run of `addnorm train` -------------------------------------------------------------------------------------------------

export interface TrainRun {
  name: string; // of its folder
  options: Options; // run.json "options"; scalars only are used
  formula?: string; // of its arrangement
  baselines?: Baselines; // where known
  begun?: string;
  stopped?: string; // why it broke off, from the last line of metrics.jsonl
  curve: Curve; // metrics.jsonl "loss", means over blocks
  gradient_curve?: (number | null)[];
  rate_curve?: (number | null)[];
  validation?: Curve; // metrics.jsonl "validation_loss" at its steps, not averaged
  tokens_per_second?: number | null;
  probes?: Probes[];
}
