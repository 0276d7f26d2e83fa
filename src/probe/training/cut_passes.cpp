#include "probe/training/cut_passes.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/measures.h"

namespace addnorm {
namespace {

double loss_of(const Var& logits, const Batch& batch) {
  return cross_entropy(logits, batch.labels, {.ignore_index = kIgnoredLabel}).value().item();
}

/// ln of the sum of e^z, over one row.
template <class T>
double log_sum(const T* z, std::size_t n) {
  const auto top = static_cast<double>(*std::max_element(z, z + n));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(z[i]) - top);
  return top + std::log(sum);
}

}  // namespace

double mean_divergence(const Tensor& p, const Tensor& q, const Batch& batch) {
  const std::size_t classes = p.shape().back();
  double sum = 0, counted = 0;
  dispatch(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t r = 0; r < batch.labels.size(); ++r) {
      if (batch.labels[r] == kIgnoredLabel) continue;
      const T *a = p.data<T>() + r * classes, *b = q.data<T>() + r * classes;
      const double za = log_sum(a, classes), zb = log_sum(b, classes);
      for (std::size_t c = 0; c < classes; ++c) {
        const double la = static_cast<double>(a[c]) - za, lb = static_cast<double>(b[c]) - zb;
        sum += std::exp(la) * (la - lb);
      }
      ++counted;
    }
  });
  return counted > 0 ? sum / counted : kNotMeasured;
}

void run_cut(const Model& model, const Batch& batch, const Whole& whole, const std::string& stack, std::size_t units,
             StackRecord& record) {
  const NoGrad no_grad;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const ArenaScope scope;
    const Var without = batch_logits(model, batch, {.cut = Cut{.stack = stack, .bypassed = {unit}}});
    record.bypass_change.push_back(loss_of(without, batch) - whole.loss);
    const Var lens = batch_logits(model, batch, {.cut = Cut{.stack = stack, .last_unit = unit}});
    record.lens_loss.push_back(loss_of(lens, batch));
    record.lens_kl.push_back(mean_divergence(whole.logits, lens.value(), batch));
  }
}

}  // namespace addnorm
