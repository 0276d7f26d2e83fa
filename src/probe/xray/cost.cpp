#include "probe/xray/cost.h"

#include <algorithm>

#include "addnorm/autograd/ops.h"
#include "addnorm/model/classifier.h"

namespace addnorm {
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
