#include "probe/xray/attribution.h"

#include "probe/measures/attribution.h"
#include "tensor/numbers.h"

namespace addnorm {
namespace {

/// What the head gives of nothing: its bias, [1, classes].
Tensor head_bias(const Model& model, DType dtype) {
  const std::size_t width = model.config().d_model;
  const bool pools = model.config().model == ModelKind::classifier;
  const Shape one = pools ? Shape{1, 1, width} : Shape{1, width};
  return head_logits(model, {.sequences = 1}, Var(Tensor::zeros(one, dtype))).value();
}

const char* class_reason() { return " has more than one stream or mixes layers, so that its norms cannot be frozen one by one"; }

}  // namespace

XrayAttribution::XrayAttribution(Model& model, Pooling pooling, AttributionNorm asked)
    : model_(model), pooling_(pooling), asked_(asked) {
  const Stack& last = *stacks_to_look_into(model).back();
  const bool row = Components::row_of(&last.residual()) != nullptr;
  std::optional<LinearHead> head = linear_head(model);
  const bool linear = head.has_value() || !model.has_head();
  if (!row) why_not_ = concat("the arrangement ", model.config().arrangement, class_reason());
  if (row && !linear) why_not_ = "the head has an activation or a norm: what it makes of a part says nothing of the whole";
  ln_ = row && linear && asked != AttributionNorm::recompute ? AttributionNorm::frozen : AttributionNorm::recompute;
  if (ln_ == AttributionNorm::frozen && head) labels_.emplace(*std::move(head));
  parts_.resize(last.residual().shape().units() + 2);
  by_lens_.resize(last.residual().shape().units() + 1);
}

void XrayAttribution::begin(const Batch& batch, const XrayOutput& output, std::optional<Components>& components) {
  const Tensor& y = output.y.value();
  if (!model_.has_head()) directions_ = embedding_directions(y, batch.lengths, pooling_);
  whole_ += brought_by(output);
  if (model_.has_head()) bias_ += label_margins(head_bias(model_, y.dtype()), batch.labels);
  if (ln_ != AttributionNorm::frozen) return;
  if (labels_) {
    const bool pools = model_.config().model == ModelKind::classifier;
    directions_ = labels_->of(batch, y.shape(), pools ? std::optional(model_.config().pooling) : std::nullopt);
  }
  components->take_exit();
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i] += {dot(directions_.values, components->parts()[i]), directions_.count};
}

void XrayAttribution::see_lens(std::size_t units, const XrayOutput& output) {
  if (ln_ == AttributionNorm::recompute) by_lens_.at(units) += brought_by(output);
}

RunningMean XrayAttribution::brought_by(const XrayOutput& output) const {
  if (model_.has_head()) return label_margins(output.logits, output.labels);
  return {dot(directions_.values, output.y.value()), directions_.count};
}

void XrayAttribution::write_to(XrayResult& result) const {
  if (asked_ == AttributionNorm::frozen && ln_ != AttributionNorm::frozen)
    result.missing.push_back({"attribution", concat("--ln frozen: ", why_not_, "; --ln recompute can")});
  else {
    result.ln = ln_;
    result.attributed = whole_.value();
    std::vector<double>& shares = result.stacks.back().attribution;
    const double bias = model_.has_head() ? bias_.value() : 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool last = i + 1 == parts_.size();
      if (ln_ == AttributionNorm::frozen)
        shares.push_back(parts_[i].value() + (last ? bias : 0));
      else
        shares.push_back(last ? bias : by_lens_[i].value() - (i == 0 ? bias : by_lens_[i - 1].value()));
    }
  }
}

}  // namespace addnorm
