#include <cstdio>
#include "addnorm/addnorm.h"
using namespace addnorm;
/// Your own data: sample i is a function of i. Here every sample is the same text, and each token's label the next one.
struct Digits final : Dataset {
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch all{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count; ++i) {
      all.ids.insert(all.ids.end(), {3, 1, 4, 1, 5, 9, 2, 6});
      all.labels.insert(all.labels.end(), {1, 4, 1, 5, 9, 2, 6, 5});
    }
    return all;
  }
  std::uint64_t size() const override { return 1; }
};
int main() {
  LanguageModel model({.vocab = 32, .layers = 4, .d_model = 64, .heads = 4, .seq_len = 32, .arrangement = "deepnorm"});
  const Digits data;
  Trainer trainer(model, data, {.batch_size = 1, .schedule = {.rate = 3e-3, .warmup = 5, .steps = 50}});
  while (trainer.steps() < 50) {
    const StepRecord record = trainer.step();
    if (record.step % 10 == 0) std::printf("step %d: loss %.3f\n", static_cast<int>(record.step), record.loss);
  }
  const std::vector<std::int32_t> text{3, 1, 4, 1, 5, 9, 2, 6};
  const auto written = generate(*model.decoding(1), text, {.sampling = {.temperature = 0}, .max_tokens = 1});
  std::printf("after 3 1 4 1 5 9 2 6 comes %d\n", written[0].tokens[0]);
  return written[0].tokens[0] == 5 ? 0 : 1;
}
