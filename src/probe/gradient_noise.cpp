#include "probe/gradient_noise.h"

#include <algorithm>

#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures.h"
#include "probe/roles.h"

namespace addnorm {
namespace {

template <class T>
std::vector<T> piece(const std::vector<T>& all, std::size_t sequences, std::size_t first, std::size_t count) {
  const std::size_t each = all.size() / sequences;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * each);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * each)};
}

/// The model without gradients; what it had comes back, the very same tensors.
class GradientsAside {
 public:
  explicit GradientsAside(Model& model) : model_(model) {
    for_each_parameter(model, [&](Parameter& p) {
      kept_.push_back(p.value.grad());
      p.value.clear_grad();
    });
  }
  ~GradientsAside() {
    std::size_t at = 0;
    for_each_parameter(model_, [&](Parameter& p) { p.value.grad() = std::move(kept_[at++]); });
  }
  GradientsAside(const GradientsAside&) = delete;
  GradientsAside& operator=(const GradientsAside&) = delete;

 private:
  Model& model_;
  std::vector<Tensor> kept_;
};

}  // namespace

Batch sequences_of(const Batch& batch, std::size_t first, std::size_t count) {
  Batch some{.first = batch.first + first, .sequences = count};
  const auto take = [&](auto Batch::*field) { some.*field = piece(batch.*field, batch.sequences, first, count); };
  take(&Batch::ids);
  take(&Batch::lengths);
  take(&Batch::target_ids);
  take(&Batch::target_lengths);
  take(&Batch::features);
  take(&Batch::labels);
  return some;
}

std::map<std::string, double> gradient_snr(Model& model, const Batch& batch) {
  const std::size_t parts = std::min(kMostNoiseParts, batch.sequences);
  if (parts < 2) return {};
  const GradientsAside aside(model);
  std::vector<std::vector<double>> sums;   // of the parts' gradients, by parameter
  std::map<std::string, double> of_parts;  // sum over parts of ||g_k||^2
  std::map<std::string, double> of_sum;    // ||sum of g_k||^2
  for (std::size_t k = 0; k < parts; ++k) {
    const ArenaScope scope;
    const std::size_t each = batch.sequences / parts;
    backward(batch_loss(model, sequences_of(batch, k * each, each), {}));
    std::size_t at = 0;
    for_each_parameter(model, [&](Parameter& p) {
      if (sums.size() <= at) sums.emplace_back(p.value.value().elements(), 0.0);
      std::vector<double>& sum = sums[at++];
      if (!p.value.grad().defined()) return;
      const Tensor gradient = p.value.grad().to(DType::f64);
      const auto g = gradient.values<double>();
      for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
        double squares = 0;
        for (std::size_t i = first; i < first + count; ++i) {
          sum[i] += g[i];
          squares += g[i] * g[i];
        }
        of_parts[name_of(role)] += squares;
      });
      p.value.clear_grad();
    });
  }
  std::size_t at = 0;
  for_each_parameter(model, [&](Parameter& p) {
    const std::vector<double>& sum = sums[at++];
    for_each_role(p, [&](Role role, std::size_t first, std::size_t count) {
      double squares = 0;
      for (std::size_t i = first; i < first + count; ++i) squares += sum[i] * sum[i];
      of_sum[name_of(role)] += squares;
    });
  });
  std::map<std::string, double> ratio;
  const auto n = static_cast<double>(parts);
  for (const auto& [role, squares] : of_sum) {
    const double mean = squares / (n * n), noise = std::max(0.0, of_parts[role] - n * mean) / (n * (n - 1));
    ratio[role] = noise > 0 ? std::max(0.0, mean - noise) / noise : kNotMeasured;
  }
  return ratio;
}

}  // namespace addnorm
