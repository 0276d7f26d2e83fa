#include "addnorm/model/mlp.h"

#include <algorithm>

namespace addnorm {

Mlp::Mlp(const ModelConfig& given, Start start)
    : Model(given, ModelKind::mlp),
      in_(config().features, config().d_model),
      stack_(config(), StackKind::encoder_only),
      out_(config().d_model, config().classes, Role::head) {
  if (start == Start::drawn) draw(1);
}

Var Mlp::operator()(const Var& x, const Pass& pass, StreamObserver* observer) const {
  return head(stream_out(x, pass, observer));
}

Var Mlp::body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  const std::size_t width = config().features;
  require(input.features.size() == input.samples * width, "batch: ", input.features.size(), " features for ", input.samples,
          " samples; the model takes ", width, " each");
  Tensor rows({input.samples, width});
  std::ranges::copy(input.features, rows.values<float>().begin());
  return stream_out(Var(std::move(rows)), pass, watch.stream);
}

Var Mlp::stream_out(const Var& x, const Pass& pass, StreamObserver* observer) const {
  require(x.defined() && x.shape().rank() == 2 && x.shape()[1] == config().features, "Mlp: x is ",
          x.defined() ? x.shape().text() : "undefined", "; [batch, ", config().features, "] is needed");
  Pass own = pass;
  own.first_row = pass.first_sequence;
  return stack_(in_(x), {.observer = observer}, own);
}

std::optional<Distribution> Mlp::init(const Parameter& parameter, const Part& part) const {
  return stack_.residual().init(parameter, part);
}

void Mlp::visit(Visitor& visitor) {
  visitor.child("in", in_);
  visitor.child("", stack_);
  visitor.child("out", out_);
}

}  // namespace addnorm
