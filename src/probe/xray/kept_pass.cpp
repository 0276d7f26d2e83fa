#include "probe/xray/kept_pass.h"

#include <algorithm>

#include "addnorm/model/classifier.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/model/mlp.h"
#include "model/pass.h"

namespace addnorm {
namespace {

template <class Kind>
bool add_stack(Model& model, std::vector<Stack*>& all) {
  auto* kind = dynamic_cast<Kind*>(&model);
  if (kind) all.push_back(&kind->stack());
  return kind != nullptr;
}

/// Keeps the states and the output, and hands everything on.
class Keeper final : public StreamObserver {
 public:
  Keeper(StreamObserver* next, std::vector<Stream::State>& states, Var& output) : next_(next), states_(states), output_(output) {}

  void on_layer(std::size_t layer, const Stream& stream) override {
    states_.push_back(stream.state());
    if (next_) next_->on_layer(layer, stream);
  }
  void on_output(const Var& y) override {
    output_ = y;
    if (next_) next_->on_output(y);
  }
  void on_branch(const Unit& unit, const Var& added) override {
    if (next_) next_->on_branch(unit, added);
  }
  void on_stream(const Unit* unit, const Var& x) override {
    if (next_) next_->on_stream(unit, x);
  }
  void on_parting(const Unit& unit, const Var& whole, const Var& skip, const Var& branch) override {
    if (next_) next_->on_parting(unit, whole, skip, branch);
  }
  void on_read(const Unit& unit, const Var& u) override {
    if (next_) next_->on_read(unit, u);
  }
  void on_attention(const Unit& unit, const AttentionScores& scores) override {
    if (next_) next_->on_attention(unit, scores);
  }

 private:
  StreamObserver* next_;
  std::vector<Stream::State>& states_;
  Var& output_;
};

}  // namespace

std::vector<Stack*> stacks_of(Model& model) {
  std::vector<Stack*> all;
  if (auto* pair = dynamic_cast<EncoderDecoder*>(&model)) return {&pair->encoder(), &pair->decoder()};
  const bool known = add_stack<LanguageModel>(model, all) || add_stack<Encoder>(model, all) ||
                     add_stack<Classifier>(model, all) || add_stack<Mlp>(model, all);
  require(known, "a model of a class of one's own cannot be looked into: nobody knows its stacks");
  return all;
}

bool has_logits(const Model& model) { return model.config().model != ModelKind::encoder || model.config().head; }

KeptPass::KeptPass(Model& model, const Batch& batch, const std::vector<StreamObserver*>& watch)
    : model_(model), batch_(batch), stacks_(stacks_of(model)), states_(stacks_.size()), outputs_(stacks_.size()) {
  std::vector<Keeper> keepers;
  for (std::size_t i = 0; i < stacks_.size(); ++i)
    keepers.emplace_back(i < watch.size() ? watch[i] : nullptr, states_[i], outputs_[i]);
  const Pass pass{.first_sequence = batch.first};
  if (has_logits(model))
    logits_ = batch_logits(model, batch, pass, {.stream = &keepers.front(), .decoder = &keepers.back()});
  else
    dynamic_cast<const Encoder&>(model)({.ids = batch.ids, .batch = batch.sequences, .lengths = batch.lengths}, pass,
                                        &keepers.front());
}

Var KeptPass::without(std::size_t stack, const std::vector<std::size_t>& units) const {
  const StackShape& shape = stacks_.at(stack)->residual().shape();
  if (units.empty()) return output();
  const std::size_t layer = shape.unit(*std::ranges::min_element(units)).layer;
  return rest(stack, states_[stack].at(layer), layer, {.stack = shape.name, .bypassed = units});
}

Var KeptPass::ended(std::size_t stack, std::size_t units) const {
  const StackShape& shape = stacks_.at(stack)->residual().shape();
  require(units <= shape.units(), "a stack of ", shape.units(), " units cannot end behind ", units);
  if (units == shape.units()) return output();
  if (units == 0) return rest(stack, states_[stack].front(), shape.layers, {});
  const std::size_t layer = shape.unit(units - 1).layer;
  return rest(stack, states_[stack].at(layer), layer, {.stack = shape.name, .last_unit = units - 1});
}

/// Of a stack from this layer on, and of the one that reads it.
Var KeptPass::rest(std::size_t stack, const Stream::State& before, std::size_t layer, const Cut& cut) const {
  const Var y = stacks_[stack]->rest(before, layer, input_of(stack), pass_of(stack, cut));
  if (stack + 1 == stacks_.size()) return y;
  StackInput next = input_of(stack + 1);
  next.memory = y;
  return stacks_[stack + 1]->rest(states_[stack + 1].front(), 0, next, pass_of(stack + 1, {}));
}

StackInput KeptPass::input_of(std::size_t stack) const {
  if (stack == 0) return {.lengths = batch_.lengths};
  return {.lengths = batch_.target_lengths, .memory = outputs_.front(), .memory_lengths = batch_.lengths};
}

Pass KeptPass::pass_of(std::size_t stack, const Cut& cut) const {
  const Pass pass{.cut = cut};
  if (model_.config().model == ModelKind::mlp) return pass;
  const Tokens source{.ids = batch_.ids, .batch = batch_.sequences, .lengths = batch_.lengths};
  const Tokens target{.ids = batch_.target_ids, .batch = batch_.sequences, .lengths = batch_.target_lengths};
  return of_batch(pass, stack == 0 ? source : target, *stacks_[stack]);
}

}  // namespace addnorm
