// The rest of the document of data.ts, by the same rules: what x-rays, preflights and claims found, and the catalogue.
import type { Options } from './data';

// ---- xray --json (src/probe/xray/json.cpp, docs/xray.md) -------------------------------------------------------------------------

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

// ---- preflight --json (src/lab/preflight/json.cpp) ------------------------------------------------------------------------------

export interface Preflight {
  name: string; // of its file or folder
  verdict: string;
  confidence?: number | null;
  beyond_measured?: string | null; // how it differs from the runs that gave the confidence: "none of them was wider than 88"
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

// ---- claims: files as in src/claims/results/ -------------------------------------------------------------------------------------------

/** One set per folder of claims on the page, and one of those that come with the program (built in from src/claims/results). */
export interface ClaimSet {
  name: string;
  shipped: boolean; // true: measured by us and built in; the Learn tab cites these where the page has no own claims
  claims: Claim[];
}

export interface ClaimValue {
  name: string;
  mean: number | null;
  spread: number | null;
  seeds?: number;
  each?: (number | null)[]; // of every seed; results from before have none
}

export interface Claim {
  id: string; // S01, C12
  claim: string;
  kind?: string;
  source?: string;
  expected?: string;
  measured?: string;
  changed?: string;
  earlier?: { verdict: string; why: string; since?: string }; // since: "before the initialisation was held equal"
  see?: { id: string; why: string }[]; // claims that seem to contradict it
  start?: string; // how weights start, where no rule says it
  values?: ClaimValue[]; // under the first of `inits`
  inits?: { init: string; verdict: string; measured: string; values?: ClaimValue[] }[]; // under each rule of initialisation
  // true, false, true only if ..., seen at this scale, mixed[: ...], not seen, not decided; "true with Xavier's weights; ..."
  verdict: string;
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
