#include "lab/preflight/measured_gain.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"
#include "addnorm/model/classifier.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/model/mlp.h"
#include "addnorm/tensor/arena.h"
#include "probe/measures/components.h"

namespace addnorm {
namespace {

constexpr std::size_t kSequencesSeen = 2, kTokensSeen = 16;

Stack* first_stack(Model& model) {
  if (auto* m = dynamic_cast<LanguageModel*>(&model)) return &m->stack();
  if (auto* m = dynamic_cast<Encoder*>(&model)) return &m->stack();
  if (auto* m = dynamic_cast<Classifier*>(&model)) return &m->stack();
  if (auto* m = dynamic_cast<Mlp*>(&model)) return &m->stack();
  if (auto* m = dynamic_cast<EncoderDecoder*>(&model)) return &m->encoder();
  return nullptr;
}

double sum_of_squares(const auto& values) {
  double sum = 0;
  for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

}  // namespace

std::optional<double> measured_skip_gain(Model& model, std::uint64_t seed) {
  Stack* stack = first_stack(model);
  const SlotResidual* row = stack ? Components::row_of(&stack->residual()) : nullptr;
  if (!row) return std::nullopt;
  const NoGrad values_only;
  const ArenaScope scope;
  Tensor x({kSequencesSeen, std::min(kTokensSeen, model.config().seq_len), model.config().d_model});
  const RandomKey key = RandomKey(seed).with("skip gain");
  for (std::size_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = normal_at(key, i);
  Components components(*row, {});
  (*stack)(Var(x), {.observer = &components}, {.train = false});
  components.take_exit();
  return std::sqrt(sum_of_squares(components.parts().front()) / sum_of_squares(x.values<float>()));
}

}  // namespace addnorm
