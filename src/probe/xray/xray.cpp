#include "addnorm/probe/xray.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "probe/training/roles.h"
#include "probe/xray/attribution.h"
#include "probe/xray/kept_pass.h"
#include "probe/xray/stream_xray.h"

namespace addnorm {

const char* name_of(AttributionNorm ln) {
  return ln == AttributionNorm::automatic ? "automatic" : ln == AttributionNorm::frozen ? "frozen" : "recompute";
}

const char* name_of(XrayMeasure measure) {
  return measure == XrayMeasure::loss ? "loss" : measure == XrayMeasure::masked_loss ? "masked loss" : "embedding";
}

namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 25;  // of all components together, 256 MiB, and of logits, 128 MiB

/// Parts of a batch that are small enough for components and logits.
std::vector<Batch> parts_of(const Batch& batch, const ModelConfig& config, std::size_t units) {
  const std::size_t rows = std::max({batch.ids.size(), batch.target_ids.size(), batch.sequences}) / batch.sequences;
  const std::size_t classes = std::max({config.vocab, config.target_vocab, config.classes});
  const std::size_t per_sequence = rows * std::max(classes, (units + 4) * config.d_model);
  const std::size_t most = std::max<std::size_t>(1, kMostElements / per_sequence);
  std::vector<Batch> parts;
  for (std::size_t first = 0; first < batch.sequences; first += most)
    parts.push_back(sequences_of(batch, first, std::min(most, batch.sequences - first)));
  return parts;
}

Pooling pooling_of(const Model& model, const XrayOptions& options) { return options.pooling.value_or(model.config().pooling); }

/// One x-ray while it is taken.
class XrayRun {
 public:
  XrayRun(Model& model, const XrayOptions& options)
      : model_(model),
        options_(options),
        stacks_(stacks_to_look_into(model)),
        cost_(model, pooling_of(model, options)),
        attribution_(model, pooling_of(model, options), options) {
    for (const Stack* stack : stacks_) {
      const StackShape& shape = stack->residual().shape();
      streams_.emplace_back(shape);
      without_.emplace_back(shape.units());
      ended_.emplace_back(shape.units() + 1);
      units_ += shape.units();
    }
  }

  std::size_t units() const { return units_; }

  /// False: it was stopped.
  bool look(const Batch& batch, double begin, double end) {
    const ArenaScope scope;
    std::vector<std::optional<Components>> components = components_of(batch);
    std::vector<Both> both;
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      streams_[i].begin(i == 0 ? batch.ids : batch.target_ids, i == 0 ? batch.lengths : batch.target_lengths);
      both.emplace_back(streams_[i], components[i] ? &*components[i] : nullptr);
    }
    std::vector<StreamObserver*> watch;
    for (Both& one : both) watch.push_back(&one);
    const KeptPass pass(model_, batch, watch);
    const XrayOutput as_is = cost_.read(batch, pass.output());
    whole_ += cost_.of(batch, as_is, as_is);
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      if (components[i]) streams_[i].add_skips(components[i]->skip_squares());
    attribution_.begin(batch, as_is, components.back());
    return cut(batch, pass, as_is, begin, end);
  }

  /// What all units together cost that could go: a second look at each batch, once it is known which they are.
  void look_without(const Batch& batch, const std::vector<std::vector<std::size_t>>& expendable,
                    std::vector<RunningMean>& together) const {
    const ArenaScope scope;
    const KeptPass pass(model_, batch);
    const XrayOutput as_is = cost_.read(batch, pass.output());
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      if (!expendable[i].empty()) together[i] += cost_.of(batch, as_is, cost_.read(batch, pass.without(i, expendable[i])));
  }

  void write_to(XrayResult& result) const {
    result.measure = cost_.measure();
    const bool by_loss = cost_.measure() != XrayMeasure::embedding;
    if (by_loss) result.loss = whole_.value();
    const double base = by_loss ? whole_.value() : 0;
    for (std::size_t i = 0; i < stacks_.size(); ++i) {
      const StackShape& shape = stacks_[i]->residual().shape();
      StackXray stack{.name = shape.name, .layers = shape.layers};
      for (std::size_t u = 0; u < shape.units(); ++u) stack.units.push_back(path_of(shape, shape.unit(u)));
      streams_[i].write_to(stack);
      for (const RunningMean& cost : without_[i]) stack.bypass_change.push_back(cost.value() - base);
      for (const RunningMean& cost : ended_[i]) stack.lens.push_back(cost.value());
      result.stacks.push_back(std::move(stack));
    }
    attribution_.write_to(result);
  }

 private:
  /// The stream's own measurements, and its parts.
  class Both final : public StreamObserver {
   public:
    Both(StreamXray& stream, Components* components) : stream_(stream), components_(components) {}
    void on_branch(const Unit& unit, const Var& added) override {
      stream_.on_branch(unit, added);
      if (components_) components_->on_branch(unit, added);
    }
    void on_stream(const Unit* unit, const Var& x) override {
      stream_.on_stream(unit, x);
      if (components_) components_->on_stream(unit, x);
    }
    void on_attention(const Unit& unit, const AttentionScores& scores) override { stream_.on_attention(unit, scores); }

   private:
    StreamXray& stream_;
    Components* components_;
  };

  std::vector<std::optional<Components>> components_of(const Batch& batch) const {
    std::vector<std::optional<Components>> all(stacks_.size());
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      if (const SlotResidual* row = Components::row_of(&stacks_[i]->residual()))
        all[i].emplace(*row, i == 0 ? batch.lengths : batch.target_lengths, false);
    return all;
  }

  bool cut(const Batch& batch, const KeptPass& pass, const XrayOutput& as_is, double begin, double end) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      for (std::size_t place = 0; place < ended_[i].size(); ++place) {
        const ArenaScope scope;
        const XrayOutput lens = cost_.read(batch, pass.ended(i, place));
        ended_[i][place] += cost_.of(batch, as_is, lens);
        if (i + 1 == stacks_.size()) attribution_.see_lens(place, lens);
        if (place > 0) without_[i][place - 1] += cost_.of(batch, as_is, cost_.read(batch, pass.without(i, {place - 1})));
        ++done;
        const double share = static_cast<double>(done) / static_cast<double>(units_ + stacks_.size());
        if (options_.go_on && !options_.go_on(begin + share * (end - begin))) return false;
      }
    return true;
  }

  Model& model_;
  const XrayOptions& options_;
  std::vector<Stack*> stacks_;
  XrayCost cost_;
  XrayAttribution attribution_;
  std::vector<StreamXray> streams_;
  std::size_t units_ = 0;
  RunningMean whole_;
  std::vector<std::vector<RunningMean>> without_, ended_;  // of each stack, by unit and by place
};

/// Units of each stack whose by-pass costs no more than is allowed.
std::vector<std::vector<std::size_t>> expendable_units(const XrayResult& result, double share) {
  const double most = result.measure == XrayMeasure::embedding ? share : share * std::abs(result.loss);
  std::vector<std::vector<std::size_t>> all;
  for (const StackXray& stack : result.stacks) {
    all.emplace_back();
    for (std::size_t u = 0; u < stack.bypass_change.size(); ++u)
      if (stack.bypass_change[u] <= most) all.back().push_back(u);
  }
  return all;
}

/// False: it was stopped.
bool look_again(const XrayRun& run, const std::vector<Batch>& batches, const XrayOptions& options, XrayResult& result) {
  const auto expendable = expendable_units(result, options.expendable);
  std::vector<RunningMean> together(expendable.size());
  if (std::ranges::any_of(expendable, [](const auto& units) { return units.size() > 1; }))
    for (const Batch& batch : batches) {
      if (options.go_on && !options.go_on(1)) return false;
      run.look_without(batch, expendable, together);
    }
  const double base = result.measure == XrayMeasure::embedding ? 0 : result.loss;
  for (std::size_t i = 0; i < expendable.size(); ++i) {
    const std::vector<std::size_t>& units = expendable[i];
    const double alone = units.empty() ? kNotMeasured : result.stacks[i].bypass_change[units.front()];
    result.stacks[i].expendable = {units, units.size() > 1 ? together[i].value() - base : alone};
  }
  return true;
}

/// What this kind of model, or this arrangement, has not.
void add_missing(Model& model, XrayResult& result) {
  const auto none = [&](std::string what, std::string why) { result.missing.push_back({std::move(what), std::move(why)}); };
  const bool row = Components::row_of(&stacks_to_look_into(model).back()->residual()) != nullptr;
  if (!row)
    none("branch_share", concat("the arrangement ", result.config.arrangement,
                                " has more than one stream or mixes layers: there is no single skip to compare a branch with"));
  if (result.stacks.front().attention_entropy.empty()) none("attention_entropy", "the model has no attention");
  if (result.measure == XrayMeasure::embedding)
    none("loss", "an encoder without a head predicts nothing; costs are changes of its pooled embedding");
  if (result.norms.empty()) none("norms", "the model has no norm with gains");
}

}  // namespace

XrayResult xray(Model& model, const std::vector<Batch>& batches, const XrayOptions& options) {
  require(!batches.empty(), "xray: no batch was given; a model is looked into while it reads something");
  const auto begun = std::chrono::steady_clock::now();
  const NoGrad no_grad;
  XrayRun run(model, options);
  XrayResult result{.config = model.config(), .parameters = count_parameters(model)};
  std::vector<Batch> parts;
  for (const Batch& batch : batches) {
    require(batch.sequences > 0, "xray: a batch without sequences");
    for (Batch& part : parts_of(batch, model.config(), run.units())) parts.push_back(std::move(part));
    result.sequences += batch.sequences;
    result.tokens += batch.tokens();
    result.labels += batch.counted();
  }
  require(result.labels > 0 || !model.has_head(), "xray: no label that counts in ", result.sequences,
          " sequences; the loss needs at least one");
  for (std::size_t i = 0; i < parts.size() && !result.stopped; ++i) {
    const auto at = [&](std::size_t part) { return static_cast<double>(part) / static_cast<double>(parts.size()); };
    result.stopped = !run.look(parts[i], at(i), at(i + 1));
  }
  if (!result.stopped) {
    run.write_to(result);
    result.norms = norm_gains(model);
    add_missing(model, result);
    result.stopped = !look_again(run, parts, options, result);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

}  // namespace addnorm
