#include "lab/preflight/measured_gain.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/components.h"

namespace addnorm {
namespace {

constexpr std::size_t kSequencesSeen = 2, kTokensSeen = 16;

double sum_of_squares(const auto& values) {
  double sum = 0;
  for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

}  // namespace

std::optional<double> measured_skip_gain(Model& model, std::uint64_t seed) {
  const std::vector<Stack*> stacks = model.stacks();
  const SlotResidual* row = stacks.empty() ? nullptr : Components::row_of(&stacks.front()->residual());
  if (!row) return std::nullopt;
  const NoGrad values_only;
  const ArenaScope scope;
  Tensor x({kSequencesSeen, std::min(kTokensSeen, model.config().seq_len), model.config().d_model});
  const RandomKey key = RandomKey(seed).with("skip gain");
  for (std::size_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = normal_at(key, i);
  Components components(*row, {});
  (*stacks.front())(Var(x), {.observer = &components}, {.train = false});
  components.take_exit();
  return std::sqrt(sum_of_squares(components.parts().front()) / sum_of_squares(x.values<float>()));
}

}  // namespace addnorm
