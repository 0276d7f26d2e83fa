// Why a run did not train: read from its probes, and called confirmed only where a change of one thing that bears on it trains.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/lab/outcome.h"
#include "addnorm/probe/record.h"

namespace addnorm {

enum class CauseKind : unsigned char {
  tokens_alike,        ///< at the top all tokens look the same, and no gradient reaches the units below
  gradient_vanishes,   ///< no gradient reaches below some unit, though tokens differ
  gradient_explodes,   ///< it grows on its way down
  stream_grows,        ///< the stream is far larger at the top than at the bottom
  rank_collapse,       ///< tokens look the same at the top; gradients still pass
  branches_die,        ///< upper units add next to nothing
  attention_collapse,  ///< attention looks at single tokens, with very large scores
  late_divergence,     ///< it had trained
  slow,                ///< nothing is wrong but the number of steps
  unknown,             ///< the probes show nothing of the above
};
const char* name_of(CauseKind kind);  ///< "tokens alike", ...

struct Cause {
  CauseKind kind = CauseKind::unknown;
  std::string text{};     ///< "by step 21 tokens are alike at the top (spread 0.003) and no gradient reaches below unit 17 of 24"
  std::int64_t step = 0;  ///< of the record that shows it first
  std::size_t unit = 0;   ///< from 1 on; 0: it is not about one
  bool confirmed = false;  ///< by `by`
  /// "with 200 warm-up steps: trains, 3 of 3". Where it is not confirmed: what else trains ("trains with 6 layers (3 of 3)") or
  /// was tried, or "".
  std::string by{};
  std::vector<std::size_t> by_rows{};  ///< that `by` is about, of GridResult::rows
};

/// From what the probes recorded (in the order of steps) and what became of the losses. With x_i the stream after unit i, x_0
/// the stack's input, K units, g_i = ||dL/dx_i||, and spread(x_K) or that of the stack's output, whichever is larger; the first
/// that holds:
///
///   tokens alike        spread(x_K) < 0.01 and g_0 / g_K < 0.1
///   gradient explodes   g_0 / g_K > 200, or not finite
///   gradient vanishes   g_0 / g_K < 0.01
///   stream grows        rms(x_K) / rms(x_0) > 1000, or not finite
///   late divergence     the outcome says so
///   slow                the outcome says so
///   tokens alike        (nearly) spread(x_K) < 0.05 and g_0 / g_K < 0.1
///   attention collapse  mean entropy of the attention units < 0.02
///   branches die        ||f|| / ||x|| < 1e-3 in every unit of the upper half
///   rank collapse       spread(x_K) < 0.01
///
/// in most records of the second half of the run; the first four, where a number that was not finite ended the run, in any. What
/// was not measured (gradients with recompute) counts for no rule.
/// "Below unit k": the highest k with g_(k-1) < 0.01 g_K. Of several stacks, the last. Nothing where the run trained or was
/// too short to tell.
std::optional<Cause> find_cause(std::span<const ProbeRecord> records, const Judged& judged);
/// All kinds of which a rule on the probes holds in most records of the second half, whatever became of the run.
std::vector<CauseKind> signs_in(std::span<const ProbeRecord> records);

/// Lines of probes.jsonl; those that are no records are left out, as a half-written last one.
std::vector<ProbeRecord> probe_records(std::string_view lines);

}  // namespace addnorm
