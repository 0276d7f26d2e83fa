// What was not said: sizes and steps that suit the data and take some minutes on a few cores.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_options.h"
#include "train/optimizer/optimizer_info.h"

namespace addnorm {
namespace {

/// A rung of the ladder: text of at least so many tokens deserves a model of this size.
struct Size {
  std::uint64_t tokens;
  std::size_t layers, d_model, heads, seq_len, batch_size, steps;
};
// Each step costs about 6 x parameters x tokens operations: 0.3, 1.2, 7 and 33 GFLOP, which at 50 GFLOP/s is some seconds, half a
// minute, five minutes and half an hour for the whole run.
constexpr Size kText[] = {
    {0, 2, 64, 2, 32, 16, 1000},
    {20'000, 4, 64, 2, 64, 16, 1500},
    {200'000, 4, 128, 4, 64, 24, 2000},
    {5'000'000, 6, 192, 6, 128, 16, 3000},
};
constexpr std::uint64_t kLeastTokens = 8;
constexpr Size kMadeUp{0, 4, 64, 2, 64, 16, 1000};
constexpr Size kPairs{0, 2, 64, 4, 64, 32, 1500};
constexpr Size kRows{0, 3, 64, 4, 64, 32, 1000};  // classifiers and tables

const Size& size_for(const RunOptions& o, const DataFacts& facts) {
  if (o.model.model == ModelKind::seq2seq) return kPairs;
  if (o.model.model == ModelKind::classifier || o.model.model == ModelKind::mlp) return kRows;
  if (facts.tokens == 0) return kMadeUp;
  const Size* best = &kText[0];
  for (const Size& size : kText)
    if (facts.tokens >= size.tokens) best = &size;
  return *best;
}

std::size_t largest_divisor(std::size_t number, std::size_t most) {
  while (number % most != 0) --most;
  return most;
}

/// Of a short text a quarter at most, so that validation takes no more of it than that.
std::size_t context_for(std::uint64_t tokens, std::size_t usual) {
  if (tokens == 0) return usual;  // no text, or endless
  if (tokens < kLeastTokens)
    throw DataError(concat("the text has ", tokens, tokens == 1 ? " token" : " tokens", "; training needs at least ",
                           kLeastTokens, " and learns something from some thousands on: give more text"));
  return static_cast<std::size_t>(std::min<std::uint64_t>(usual, tokens / 4 - 1));
}

void plan_model(const std::set<std::string>& given, const Size& size, const DataFacts& facts, ModelConfig& model) {
  const auto fill = [&](const char* name, std::size_t& value, std::size_t planned_value) {
    if (!given.contains(name)) value = planned_value;
  };
  fill("layers", model.layers, size.layers);
  fill("d_model", model.d_model, size.d_model);
  fill("seq_len", model.seq_len, facts.longest ? (facts.longest + 7) / 8 * 8 : context_for(facts.tokens, size.seq_len));
  if (!given.contains("heads") && model.d_model > 0)
    model.heads = largest_divisor(model.d_model, std::min(size.heads, model.d_model));
}

/// A count that is not given: `count` of them over the run.
std::size_t every(std::size_t steps, std::size_t count) { return std::max<std::size_t>(1, steps / count); }

/// Ten times in a run, but neither all the time nor hardly ever.
std::size_t now_and_then(std::size_t steps) { return std::min(steps, std::clamp<std::size_t>(steps / 10, 50, 1000)); }

/// Of what is counted there must be one at least. `given`: only of these, because zeros of the others are still to be planned.
void refuse_zeros(const RunOptions& o, const std::set<std::string>* given = nullptr) {
  const std::pair<const char*, std::size_t> counts[] = {
      {"steps", o.steps},           {"batch_size", o.batch_size}, {"grad_accum", o.grad_accum},    {"log_every", o.log_every},
      {"eval_every", o.eval_every}, {"save_every", o.save_every}, {"eval_samples", o.eval_samples}};
  for (const auto& [name, value] : counts)
    require(value > 0 || (given && !given->contains(name)), called(o.words, name), " is 0; it must be at least 1");
}

/// The field of RunOptions that a field of TrainerOptions or of its schedule comes from.
std::string run_field(const std::string& of_trainer) {
  static const std::map<std::string, std::string> kOthers{{"accumulate", "grad_accum"},
                                                          {"spike_threshold", "spike_guard"},
                                                          {"rate", "lr"},
                                                          {"least", "min_lr"},
                                                          {"warmup", "warmup_steps"}};
  const auto other = kOthers.find(of_trainer);
  return other == kOthers.end() ? of_trainer : other->second;
}

}  // namespace

std::string with_article(ModelKind kind) {
  const std::string name = name_of(kind);
  const bool vowel = std::string_view("aeiolm").find(name[0]) != std::string_view::npos;  // "lm" is said "el em"
  return concat(vowel ? "an " : "a ", name);
}

void check(const RunOptions& o) {
  const auto field = [&](const char* name) { return called(o.words, name); };
  refuse_zeros(o);
  require(o.validation >= 0 && o.validation <= 0.9, field("validation"), " is ", o.validation, "; it must be 0 ... 0.9");
  require(o.probe_every >= 1, field("probe_every"), " is 0; it must be at least 1 step. ", field("probes"),
          " off records nothing");
  require(o.keep >= 2, field("keep"), " is ", o.keep, "; it must be at least 2: the newest could be damaged");
  check(trainer_options(o));
  const std::size_t warmup = o.warmup_steps.value_or(0);
  require(warmup <= o.steps, field("warmup_steps"), " is ", warmup, "; it must be 0 ... ", o.steps, " (", field("steps"),
          "), or the learning rate never gets as high as ", field("lr"));
}

RunOptions planned(const GivenOptions& options, const DataFacts& facts) {
  RunOptions o = options.options;
  const std::set<std::string>& given = options.given;
  const Size& size = size_for(o, facts);
  plan_model(given, size, facts, o.model);
  refuse_zeros(o, &given);
  require(!given.contains("d_ff") || o.model.d_ff > 0, called(o.words, "d_ff"),
          " is 0; it must be at least 1 (left out: 4 times ", called(o.words, "d_model"), ")");
  if (!o.steps) o.steps = size.steps;
  if (!o.batch_size) o.batch_size = size.batch_size;
  if (!o.log_every) o.log_every = every(o.steps, 50);
  if (!o.eval_every) o.eval_every = now_and_then(o.steps);
  if (!o.save_every) o.save_every = now_and_then(o.steps);
  if (!o.eval_samples) o.eval_samples = 32 * o.batch_size;
  if (!given.contains("lr")) o.lr = optimizer_kind(o.optimizer.kind).usual_rate;
  if (!given.contains("weight_decay")) o.optimizer.weight_decay = usual_options(o.optimizer.kind).weight_decay;
  if (!o.min_lr) o.min_lr = o.lr / 10;
  if (!o.warmup_steps) o.warmup_steps = std::min<std::size_t>(200, o.steps / 20);
  check(o);
  return o;
}

TrainerOptions trainer_options(const RunOptions& o) {
  return {.batch_size = o.batch_size,
          .accumulate = o.grad_accum,
          .clip_grad_norm = o.clip_grad_norm,
          .label_smoothing = o.label_smoothing,
          .seed = o.seed,
          .recompute = o.recompute,
          .on_nan = o.on_nan,
          .spike_threshold = o.spike_guard,
          .optimizer = o.optimizer,
          .schedule = {.kind = o.schedule,
                       .rate = o.lr,
                       .least = o.min_lr.value_or(0),
                       .warmup = static_cast<std::int64_t>(o.warmup_steps.value_or(0)),
                       .steps = static_cast<std::int64_t>(o.steps)},
          .words = [words = o.words](const std::string& field) { return called(words, run_field(field)); }};
}

}  // namespace addnorm
