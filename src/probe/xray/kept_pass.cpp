#include "probe/xray/kept_pass.h"

#include <algorithm>

#include "addnorm/autograd/ops.h"
#include "addnorm/model/classifier.h"

namespace addnorm {
namespace {

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

std::vector<Stack*> stacks_to_look_into(Model& model) {
  std::vector<Stack*> stacks = model.stacks();
  require(!stacks.empty(), "xray: a model of kind ", model.kind(), " names no stack, so there is nothing to look into; ",
          "override Model::stacks()");
  require(stacks.size() <= 2, "xray: a model of kind ", model.kind(), " has ", stacks.size(),
          " stacks; one or two are looked into");
  return stacks;
}

KeptPass::KeptPass(Model& model, const Batch& batch, const std::vector<StreamObserver*>& watch)
    : model_(model),
      input_(input_of(batch)),
      stacks_(stacks_to_look_into(model)),
      states_(stacks_.size()),
      outputs_(stacks_.size()) {
  std::vector<Keeper> keepers;
  for (std::size_t i = 0; i < stacks_.size(); ++i)
    keepers.emplace_back(i < watch.size() ? watch[i] : nullptr, states_[i], outputs_[i]);
  const Var y = model.body(input_, {.first_sequence = batch.first}, {.stream = &keepers.front(), .decoder = &keepers.back()});
  check_body(y);
  if (model.has_head()) logits_ = model.head(input_, y);
}

/// Whether the body of a class of another program keeps its promises.
void KeptPass::check_body(const Var& y) const {
  for (std::size_t i = 0; i < stacks_.size(); ++i)
    require(outputs_[i].defined() && states_[i].size() == stacks_[i]->residual().shape().layers,
            "xray: in body() of a model of kind ", model_.kind(), " stack ", i, " of ", stacks_.size(), " was run ",
            outputs_[i].defined() ? "more than once" : "unwatched", "; run each stack once and hand it its observer");
  const bool same = dispatch(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return y.dtype() == output().dtype() && y.data<T>() == output().data<T>();
  });
  require(same, "xray: body() of a model of kind ", model_.kind(), " returns something else than what its last stack gave; ",
          "what follows the last stack belongs in head()");
}

Var KeptPass::without(std::size_t stack, const std::vector<std::size_t>& units) const {
  const StackShape& shape = stacks_.at(stack)->residual().shape();
  if (units.empty()) return output();
  const std::size_t layer = shape.unit(*std::ranges::min_element(units)).layer;
  return rest(stack, states_[stack].at(layer), layer, {.stack = shape.name, .bypassed = units});
}

Var KeptPass::ended(std::size_t stack, std::size_t units) const {
  const StackShape& shape = stacks_.at(stack)->residual().shape();
  require(units <= shape.units(), "a stack of ", shape.units(), " units cannot end after ", units);
  if (units == shape.units()) return output();
  if (units == 0) return rest(stack, states_[stack].front(), shape.layers, {});
  const std::size_t layer = shape.unit(units - 1).layer;
  return rest(stack, states_[stack].at(layer), layer, {.stack = shape.name, .last_unit = units - 1});
}

/// Of a stack from this layer on, and of the one that reads it.
Var KeptPass::rest(std::size_t stack, const Stream::State& before, std::size_t layer, const Cut& cut) const {
  const Var y = stacks_[stack]->rest(before, layer, input_of_stack(stack), pass_of(stack, cut));
  if (stack + 1 == stacks_.size()) return y;
  StackInput next = input_of_stack(stack + 1);
  next.memory = y;
  return stacks_[stack + 1]->rest(states_[stack + 1].front(), 0, next, pass_of(stack + 1, {}));
}

StackInput KeptPass::input_of_stack(std::size_t stack) const { return model_.stack_input(stack, input_, outputs_.front()); }

Pass KeptPass::pass_of(std::size_t stack, const Cut& cut) const {
  const Tokens& tokens = stack == 0 ? input_.tokens : input_.target;
  return tokens.ids.empty() ? Pass{.cut = cut} : stacks_[stack]->pass_for({.cut = cut}, tokens);
}

namespace {

/// The rows of y [..., width] that have a label.
XrayOutput gathered(const Model& model, const Batch& batch, const Var& y) {
  const std::size_t width = y.shape().back();
  XrayOutput some{.y = y};
  Tensor rows({batch.counted(), width}, y.dtype());
  dispatch(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < batch.labels.size(); ++r) {
      if (batch.labels[r] == kIgnoredLabel) continue;
      std::copy_n(y.value().data<T>() + r * width, width, rows.data<T>() + some.labels.size() * width);
      some.labels.push_back(batch.labels[r]);
    }
  });
  some.logits = head_logits(model, batch, Var(rows)).value();
  return some;
}

}  // namespace

XrayCost::XrayCost(Model& model, Pooling pooling) : model_(model), pooling_(pooling), measure_(XrayMeasure::loss) {
  if (model.config().model == ModelKind::encoder) measure_ = XrayMeasure::masked_loss;
  if (!model.has_head()) measure_ = XrayMeasure::embedding;
}

XrayOutput XrayCost::read(const Batch& batch, const Var& y) const {
  if (measure_ == XrayMeasure::embedding) return {.y = y};
  const bool by_row = model_.config().model != ModelKind::classifier;  // which pools first
  if (by_row && batch.counted() > 0 && 2 * batch.counted() < batch.labels.size()) return gathered(model_, batch, y);
  const Tensor logits = head_logits(model_, batch, y).value();
  const std::size_t classes = logits.shape().back();
  return {y, logits.reshape({logits.elements() / classes, classes}), batch.labels};
}

RunningMean XrayCost::of(const Batch& batch, const XrayOutput& as_is, const XrayOutput& now) const {
  if (measure_ == XrayMeasure::embedding) {
    const RunningMean close =
        cosines(pooled(as_is.y, pooling_, batch.lengths).value(), pooled(now.y, pooling_, batch.lengths).value(), {});
    return {close.count - close.sum, close.count};
  }
  RunningMean all;
  const Var losses = cross_entropy(Var(now.logits), now.labels, {.ignore_index = kIgnoredLabel, .reduction = Reduction::none});
  dispatch(losses.dtype(), [&](auto zero) {
    for (std::size_t r = 0; r < now.labels.size(); ++r)
      if (now.labels[r] != kIgnoredLabel) all += {static_cast<double>(losses.value().data<decltype(zero)>()[r]), 1};
  });
  return all;
}

}  // namespace addnorm
