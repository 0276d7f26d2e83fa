// Options that were given: those that would change nothing, and those of an earlier run.
#include <algorithm>
#include <array>

#include "addnorm/train/run_options.h"
#include "core/json/record.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

bool is(const RunOptions& o, std::initializer_list<ModelKind> kinds) {
  return std::ranges::find(kinds, o.model.model) != kinds.end();
}
bool is(const RunOptions& o, std::initializer_list<OptimizerKind> kinds) {
  return std::ranges::find(kinds, o.optimizer.kind) != kinds.end();
}
bool has_attention(const RunOptions& o) { return o.model.layer != LayerKind::ffn && !is(o, {ModelKind::mlp}); }
bool on_tokens(const RunOptions& o) { return has_tokens(o.model.model); }
bool has_moments(const RunOptions& o) { return is(o, {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::radam}); }
bool is_sgd(const RunOptions& o) { return is(o, {OptimizerKind::sgd}); }
bool is_measured(const RunOptions& o) { return o.validation > 0; }

struct Use {
  const char* option;
  bool (*used)(const RunOptions&);
  const char* otherwise;  ///< "it has no effect ...", fields in braces
};

constexpr const char* kWithoutAttention = "in layers without attention";
constexpr const char* kOnNumbers = "on a table of numbers ({model} mlp)";
constexpr const char* kMoments = "on this {optimizer}; adam, adamw and radam have it";
constexpr const char* kOnlySgd = "on this {optimizer}; sgd has it";
constexpr const char* kUnmeasured = "with {validation} 0: nothing is measured";

constexpr std::array kUses{
    Use{"task", [](const RunOptions& o) { return o.data.empty(); }, "beside {data}: it says which data is made up"},
    Use{"tokenizer", [](const RunOptions& o) { return !o.data.empty(); }, "without {data}: made-up data has its own tokens"},
    Use{"tokenizer", on_tokens, kOnNumbers},
    Use{"label", [](const RunOptions& o) { return is(o, {ModelKind::mlp}) && !o.data.empty(); },
        "except on a table of numbers ({model} mlp with {data})"},
    Use{"truncate",
        [](const RunOptions& o) {
          return is(o, {ModelKind::seq2seq, ModelKind::classifier}) && !o.data.empty();
        },
        "except on pairs and labelled text ({model} seq2seq or classifier with {data})"},
    Use{"validation", [](const RunOptions& o) { return !o.data.empty() || !is_measured(o); },
        "without {data}: made-up data is endless, and only 0 (do not measure) is something else"},
    Use{"eval_every", is_measured, kUnmeasured},
    Use{"eval_samples", is_measured, kUnmeasured},
    Use{"decoder_layers", [](const RunOptions& o) { return is(o, {ModelKind::seq2seq}); }, "except with {model} seq2seq"},
    Use{"heads", has_attention, kWithoutAttention},
    Use{"kv_heads", has_attention, kWithoutAttention},
    Use{"seq_len", on_tokens, kOnNumbers},
    Use{"positions", on_tokens, kOnNumbers},
    Use{"tied",
        [](const RunOptions& o) {
          return !is(o, {ModelKind::mlp, ModelKind::classifier});
        },
        "on a model that predicts classes: its head is no table of tokens"},
    Use{"d_ff", [](const RunOptions& o) { return o.model.layer != LayerKind::attention; }, "in layers without feed-forward"},
    Use{"activation", [](const RunOptions& o) { return o.model.layer != LayerKind::attention; },
        "in layers without feed-forward"},
    Use{"min_lr", [](const RunOptions& o) { return o.schedule == ScheduleKind::linear || o.schedule == ScheduleKind::cosine; },
        "on this {schedule}; linear and cosine end there"},
    Use{"beta1", has_moments, kMoments},
    Use{"beta2", has_moments, kMoments},
    Use{"eps", has_moments, kMoments},
    Use{"momentum", is_sgd, kOnlySgd},
    Use{"nesterov", is_sgd, kOnlySgd},
};

/// As a run would have it, whatever its data.
Json outcome(const Json& some, std::string_view where, const FieldWords& words) {
  RunOptions o = planned(run_options_of(some, where, words), {});
  if (on_tokens(o)) o.model.vocab = 1;
  if (is(o, {ModelKind::mlp})) o.model.features = 1;
  if (is(o, {ModelKind::mlp, ModelKind::classifier})) o.model.classes = 1;
  o.model = completed(o.model, words);
  return json_of(o);
}

bool comes_to(const Json& wanted, const Json& some, std::string_view where) {
  try {
    return outcome(some, where, {}) == wanted;
  } catch (const Error&) {  // what is left does not go together
    return false;
  }
}

}  // namespace

void require_used(const GivenOptions& given) {
  const FieldWords& words = given.options.words;
  for (const Use& use : kUses)
    require(!given.given.contains(use.option) || use.used(given.options), called(words, use.option), " has no effect ",
            with_fields_called(use.otherwise, words), ". Leave it out");
  const double decay = given.given.contains("weight_decay") ? given.options.optimizer.weight_decay
                                                            : usual_options(given.options.optimizer.kind).weight_decay;
  require(!given.options.optimizer.decay_all || decay > 0, called(words, "decay_all"), " has no effect where ",
          called(words, "weight_decay"), " is 0");
}

std::string options_to_repeat(std::string_view options, std::string_view where, const FieldWords& words) {
  return repeated_options(parsed(options, where), where, words).dump();
}

Json repeated_options(Json all, std::string_view where, const FieldWords& words) {
  static constexpr std::array kByTheData{"vocab", "target_vocab", "features", "classes"};
  static constexpr std::array kPlannedByTheData{"layers", "d_model", "heads", "seq_len", "steps", "batch_size"};
  const RunOptions options = run_options_of(all, where, words).options;
  for (const char* name : kByTheData) all.erase(name);
  const Json wanted = outcome(all, where, words);
  Names names;
  for (const JsonField& field : all.items()) names.push_back(field.key);
  for (const std::string& name : names) {
    if (std::ranges::find(kPlannedByTheData, name) != kPlannedByTheData.end()) continue;
    Json without = all;
    without.erase(name);
    if (comes_to(wanted, without, where)) all = std::move(without);
  }
  for (const Use& use : kUses)
    if (!use.used(options)) all.erase(use.option);  // planned for every model, and refused where it is said of this one
  return all;
}

}  // namespace addnorm
