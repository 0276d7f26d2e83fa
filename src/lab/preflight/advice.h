// Changes to a run that does not train, each tried: the smallest first.
#pragma once

#include <string>
#include <vector>

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

}  // namespace addnorm
