#include "probe/measures/attribution.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"

namespace addnorm {

void for_each_contribution(const Model& model, const Batch& batch, const Components& components,
                           const std::function<void(std::size_t component, const Tensor& logits)>& see) {
  const NoGrad no_grad;
  const ArenaScope scope;
  const Var bias = head_logits(model, batch, Var(Tensor::zeros(components.shape(), components.dtype())));
  const auto& parts = components.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor part = parts[i].empty() ? Tensor::zeros(components.shape(), components.dtype())
                                         : Tensor::of(components.shape(), parts[i]).to(components.dtype());
    see(i, sub(head_logits(model, batch, Var(part)), bias).value());
  }
  see(parts.size(), bias.value());
}

RunningMean label_margins(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  const std::size_t classes = logits.shape().back(), rows = logits.elements() / classes;
  RunningMean all;
  dispatch(logits.dtype(), [&](auto zero) {
    for (std::size_t r = 0; r < labels.size(); ++r) {
      if (labels[r] == kIgnoredLabel) continue;
      const auto* row = logits.data<decltype(zero)>() + (rows == 1 ? 0 : r) * classes;
      double sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sum += static_cast<double>(row[c]);
      all += {static_cast<double>(row[labels[r]]) - sum / static_cast<double>(classes), 1};
    }
  });
  return all;
}

std::vector<double> logit_attribution(const Model& model, const Batch& batch, const Components& components) {
  std::vector<double> margins;
  for_each_contribution(model, batch, components, [&](std::size_t component, const Tensor& logits) {
    const double margin = label_margins(logits, batch.labels).value();
    if (component < components.parts().size())
      margins.push_back(margin);
    else
      margins.back() += margin;
  });
  return margins;
}

}  // namespace addnorm
