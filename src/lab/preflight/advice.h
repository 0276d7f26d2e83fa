// Changes to a run that does not train, each tried: the smallest first.
#pragma once

#include <string>
#include <vector>

#include "addnorm/model/config.h"
#include "lab/preflight/candidate.h"

namespace addnorm {

/// Warm-ups longer than the one asked for, shortest first, that make sense for a run of so many steps.
std::vector<std::size_t> longer_warmups(const RunOptions& options);
/// The shortest of them that passes with most seeds, or the longest, if a second look says so; nothing: none does.
std::optional<std::size_t> passing_warmup(const TrialGround& ground, const RunOptions& options);
Advice warmup_advice(const RunOptions& options, std::size_t steps);
/// The first larger rate that passes: for a run that is healthy and too slow.
void faster_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found);
/// The first of other_starts() that passes.
void start_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found);
/// Another start, which costs nothing and leaves the model as it is; a smaller rate, which costs time; a scale of the skip or of
/// the branches, and another arrangement, which are other models: the first of each kind that passes; the observer hears of each
/// at once.
void other_advice(const TrialGround& ground, const RunOptions& options, std::vector<Advice>& found);

void add_advice(const TrialGround& ground, std::vector<Advice>& found, Advice advice);

/// "lr 4e-4" and "warmup_steps 150", in the words of the options.
std::string rate_option(const RunOptions& options);
std::string warmup_option(const RunOptions& options);

RunOptions with_warmup(RunOptions options, std::size_t steps);
RunOptions with_rate(RunOptions options, double rate);

/// Another way to start for a run that does not train: one factor of the initialisation changed.
struct OtherStart {
  std::string option;  ///< "branch_scale 0.204"
  std::string change;  ///< what that is: "start W_o and W_2 at 1/sqrt(2L): branches begin weak"
  InitOptions init{};  ///< with that change; what is printed is what is tried
};

/// The smallest change first; none where there is no skip, beside which a branch could be weak. `model` is completed.
///
///   W_o and W_2 at 1/sqrt(2L)      where they are not as weak already: no rule or formula scales them, and no branch_scale is
///                                  as small; and where no norm follows the branch
///   W_o and W_2 without the scale  where a rule or the formula makes them weak, and a branch_scale above 1 is asked for
///   the rule gpt2                  where weights have another base, under the condition of the first
///   token vectors as the weights   where these are small normal ones (gpt2, bert), token vectors are larger, and the head is
///                                  tied to them: logits begin small
///   token vectors of N(0, 0.5^2)   where weights are small normal ones: a step of Adam is then a smaller part of a token vector
std::vector<OtherStart> other_starts(const ModelConfig& model, const FieldWords& words = nullptr);

}  // namespace addnorm
