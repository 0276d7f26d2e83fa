#include "probe/attribution.h"

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

double label_margin(const Tensor& logits, const Batch& batch) {
  const std::size_t classes = logits.shape().back();
  double sum = 0, counted = 0;
  dispatch(logits.dtype(), [&](auto zero) {
    for (std::size_t r = 0; r < batch.labels.size(); ++r) {
      if (batch.labels[r] == kIgnoredLabel) continue;
      const auto* row = logits.data<decltype(zero)>() + r * classes;
      double mean = 0;
      for (std::size_t c = 0; c < classes; ++c) mean += static_cast<double>(row[c]) / static_cast<double>(classes);
      sum += static_cast<double>(row[batch.labels[r]]) - mean;
      ++counted;
    }
  });
  return counted > 0 ? sum / counted : kNotMeasured;
}

std::vector<double> logit_attribution(const Model& model, const Batch& batch, const Components& components) {
  std::vector<double> margins;
  for_each_contribution(model, batch, components, [&](std::size_t component, const Tensor& logits) {
    const double margin = label_margin(logits, batch);
    if (component < components.parts().size())
      margins.push_back(margin);
    else
      margins.back() += margin;
  });
  return margins;
}

}  // namespace addnorm
