// The one JSON document that `addnorm report` writes into the page: <script type="application/json" id="data">.
//
// Rules for the writer
// - Any part may be missing, or empty: the page shows what is there and says what is not. Fields marked `?` may be left out.
// - A number that is not known or not finite is null. Numbers are written with at most 6 significant digits (`%.6g`).
// - Fields the page does not know are ignored, so an object that exists already (a row of lab.json) may be passed on as it is.
// - `<` is written as \u003c. Every text is data: the page inserts it as text and never as HTML.
// - Paths are for reading only. What would tell of the machine (absolute folders) is best cut to its last part.
//
// Size
// - A loss curve has at most 300 points: means over blocks of steps, as lab.json has them. On a page with more than 200 runs: 120.
// - Probe matrices are packed (see Packed): 3 characters per number. A run has at most 60 records: the first, the last, and
//   between them those nearest to evenly spaced positions in the list of records (not in steps: early ones are dense on purpose).
// - Where all packed text would pass 6 MB, probes are kept of the first seed of each row only, then of the first rows only.

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

// ---- lab.json (docs/file-formats.md, src/lab/grid_json.cpp): as it is, with three things added to runs -------------------------

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
  weights?: string; // the rule by which they start: "xavier", "gpt2"
  embeddings?: string; // their deviation at the start: "0.02"
  tried?: Tried[]; // of a row that failed: one factor changed by itself
  instead_of?: number; // a copy of that row, run to confirm its cause
}

export interface Tried {
  factor: string; // placement, weights, embeddings, warm-up, rate
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

// ---- xray --json (src/probe/xray_json.cpp, docs/xray.md) -------------------------------------------------------------------------

export interface Xray {
  name: string; // of its file, or of the model's folder
  model: {
    name?: string;
    kind?: string;
    arrangement: string;
    formula?: string;
    norm?: string;
    layers?: number;
    d_model?: number;
    heads?: number;
    vocab?: number;
    parameters?: number;
  };
  text?: { source?: string; sequences?: number; tokens?: number; labels?: number };
  measure: string; // "loss", "masked loss", "embedding"
  loss?: number | null;
  findings?: string[];
  stacks: XrayStack[];
  norms?: XrayNorm[];
  attribution?: { ln?: string; whole?: number | null };
  missing?: { what: string; why: string }[];
  seconds?: number | null;
}

/** K units, K + 1 places (the input first). */
export interface XrayStack {
  name: string;
  layers?: number;
  units: string[];
  // By place.
  stream_rms?: (number | null)[];
  peaks?: { value?: number | null; over_median?: number | null; feature?: number; position?: number; text?: string }[];
  lens_loss?: (number | null)[];
  lens_change?: (number | null)[]; // of an embedding: cosine distance
  // By unit.
  bypass_change?: (number | null)[];
  branch_rms?: (number | null)[];
  update_ratio?: (number | null)[];
  branch_share?: (number | null)[];
  cosine?: (number | null)[];
  attention_entropy?: (number | null)[];
  max_logit?: (number | null)[];
  block_influence?: (number | null)[]; // by layer
  attribution?: (number | null)[]; // embedding, units, biases
  expendable?: { units: number[]; together?: number | null };
}

export interface XrayNorm {
  stack: string;
  name: string;
  slot: string; // "in", "out", "post", "entry", "exit", ...
  unit?: number;
  rms?: number | null;
  min?: number | null;
  max?: number | null;
  bias_rms?: number | null;
}

// ---- preflight --json (src/lab/preflight_json.cpp) ------------------------------------------------------------------------------

export interface Preflight {
  name: string; // of its file or folder
  verdict: string;
  confidence?: number | null;
  beyond_measured?: string | null; // what the runs behind the confidence were not: "none of them was wider than 88"
  notes?: string[];
  clear?: boolean;
  reason?: string;
  advice?: { option: string; verdict: string; change: string }[];
  passed?: number;
  seeds?: number;
  horizon?: string | number;
  twin?: string;
  formula?: string;
  skip_gain_predicted?: number | null;
  skip_gain_measured?: number | null;
  stack?: string;
  units?: string[];
  // By place, at the first step and after the trial.
  stream_rms?: (number | null)[];
  gradient_norm?: (number | null)[];
  spread_at_start?: (number | null)[];
  stream_rms_after?: (number | null)[];
  gradient_norm_after?: (number | null)[];
  spread?: (number | null)[];
  output_sensitivity?: number | null;
  one_step_change?: number | null;
  options?: Options;
  trials?: Trial[]; // `records` left out
  second_look?: Trial | null;
  seconds?: number | null;
}

export interface Trial {
  seed?: number;
  losses?: (number | null)[];
  gradient_norms?: (number | null)[];
  broke_off?: string;
}

// ---- claims: files as in docs/claims/ -------------------------------------------------------------------------------------------

/** One set per folder of claims on the page, and one of those that come with the program (built in from docs/claims). */
export interface ClaimSet {
  name: string;
  shipped: boolean; // true: measured by us and built in; the Learn tab cites these where the page has no claims of its own
  claims: Claim[];
}

export interface ClaimValue {
  name: string;
  mean: number | null;
  spread: number | null;
  seeds?: number;
}

export interface Claim {
  id: string; // S01, C12
  claim: string;
  kind?: string;
  source?: string;
  expected?: string;
  measured?: string;
  changed?: string;
  earlier?: { verdict: string; why: string }; // before all that is compared started alike
  see?: { id: string; why: string }[]; // claims that seem to contradict it
  start?: string; // how weights start, where no rule says it
  values?: ClaimValue[]; // under the first of `inits`
  inits?: { init: string; verdict: string; measured: string; values?: ClaimValue[] }[]; // under each rule of initialisation
  verdict: string; // true, false, true only if ..., seen at this scale, mixed[: ...], not seen, not decided
  condition?: string;
  seconds?: number | null;
  seeds?: number;
  scale?: number;
  command?: string;
  version?: string;
  date?: string;
}

// ---- the catalogue: arrangement_json.cpp's object, in full, for a decoder-only stack, and `gain` --------------------------------

export interface Arrangement {
  name: string;
  formula: string; // "u = LN(x); x' = u + F(u)"
  entry?: string; // "x₀ = e"
  exit?: string; // "y = LN(x)"
  source?: string;
  year?: number;
  used_by?: string;
  known_failure?: string;
  streams?: number;
  final_norm?: boolean;
  extra_params_per_unit?: string;
  aliases?: string[];
  stacks?: ArrangementStack[]; // the first is used
  /** Closed-form skip gain against depth; layers 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128. Missing: there is none. */
  gain?: { layers: number[]; gain: (number | null)[] };
}

export interface ArrangementStack {
  stack?: string;
  formula?: { where: string; text: string }[];
  symbols?: string[]; // "α = (2L)^¼ = 2.213"
  init?: { what: string; rule: string }[];
  diagram?: { nodes: DiagramNode[]; edges: DiagramEdge[] };
}

export interface DiagramNode {
  id: string;
  kind: string; // input, norm, factor, branch, sum, mix, output
  text: string;
  part: string; // label of the layers it belongs to; empty: entry or exit
}

export interface DiagramEdge {
  from: string;
  to: string;
  kind: string; // flow, skip, side
}
