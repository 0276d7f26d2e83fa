#include "bench/jobs/steps.h"

#include <algorithm>
#include <memory>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"
#include "addnorm/model/language_model.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "train/model_size.h"

namespace addnorm::bench {
namespace {

std::vector<std::int32_t> random_tokens(const StepModel& m, const char* name) {
  const RandomKey key = RandomKey(1).with(name);
  std::vector<std::int32_t> ids(m.tokens());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(random_word(key.bits(), i, 0) % m.vocab);
  return ids;
}

class TrainStep {
 public:
  explicit TrainStep(const StepModel& m)
      : model_(config_of(m)),
        batch_(m.batch),
        ids_(random_tokens(m, "ids")),
        targets_(random_tokens(m, "targets")),
        optimizer_(make_optimizer(model_, {.kind = OptimizerKind::adamw, .weight_decay = 0.01, .decay_all = true})) {}

  void run() {
    optimizer_->clear_gradients();
    {
      const ArenaScope scope;
      backward(cross_entropy(model_({.ids = ids_, .batch = batch_}, {.train = true}), targets_));
    }
    optimizer_->step(1e-4);
  }

 private:
  LanguageModel model_;
  std::size_t batch_;
  std::vector<std::int32_t> ids_, targets_;
  std::unique_ptr<Optimizer> optimizer_;
};

std::int32_t likeliest(const Tensor& logits) {
  const auto values = logits.values<float>();
  return static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
}

}  // namespace

const std::vector<StepModel>& step_models() {
  static const std::vector<StepModel> models = {
      {.name = "A", .layers = 6, .width = 384, .heads = 6, .length = 256, .batch = 8, .vocab = 256, .post_norm = false},
      {.name = "B", .layers = 24, .width = 256, .heads = 4, .length = 256, .batch = 8, .vocab = 256, .post_norm = true},
      {.name = "C", .layers = 48, .width = 64, .heads = 2, .length = 64, .batch = 16, .vocab = 256, .post_norm = false}};
  return models;
}

ModelConfig config_of(const StepModel& m) {
  ModelConfig config;
  config.vocab = m.vocab;
  config.layers = m.layers;
  config.d_model = m.width;
  config.heads = m.heads;
  config.seq_len = m.length;
  config.arrangement = m.post_norm ? "post-ln" : "pre-ln";
  config.init.rule = m.init;
  return config;
}

std::size_t parameters(const StepModel& m) {
  const std::size_t d = m.width;
  return m.layers * (12 * d * d + 13 * d) + m.vocab * d + (m.post_norm ? 0 : 2 * d);
}

double step_operations(const StepModel& m) { return flops_per_step(completed(config_of(m)), {m.batch, m.length, m.length}); }

std::function<void()> train_step(const StepModel& model) {
  const auto step = std::make_shared<TrainStep>(model);
  return [step] { step->run(); };
}

std::function<void()> write_sequence(const StepModel& m) {
  const auto model = std::make_shared<LanguageModel>(config_of(m));
  return [model, length = m.length] {
    const auto decoding = model->decoding(1);
    std::int32_t token = 0;
    for (std::size_t t = 0; t < length; ++t) token = likeliest(decoding->append({&token, 1}));
  };
}

}  // namespace addnorm::bench
