// Data for every kind of model in tests.
#pragma once

#include "addnorm/data/dataset.h"
#include "support/streams/small_models.h"

namespace addnorm::test {

/// Samples of random tokens or numbers for any kind of model.
class AnyData : public Dataset {
 public:
  explicit AnyData(const ModelConfig& config) : config_(completed(config)) {}
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch b{.first = first, .sequences = count};
    const bool mlp = config_.model == ModelKind::mlp, one_label = mlp || config_.model == ModelKind::classifier;
    if (mlp)
      b.features = normal_values(count * config_.features, first + 1);
    else {
      b.ids = ids(count * 6, config_.vocab, first + 1);
      for (std::size_t i = 0; i < count; ++i) b.lengths.push_back(6 - i % 3);
      if (config_.model == ModelKind::seq2seq) b.target_ids = ids(count * 6, config_.target_vocab, first + 2);
    }
    const std::size_t classes = one_label                             ? config_.classes
                                : config_.model == ModelKind::seq2seq ? config_.target_vocab
                                                                      : config_.vocab;
    b.labels = ids(count * (one_label ? 1 : 6), classes, first + 3);
    if (!one_label) b.labels[1] = kIgnoredLabel;
    return b;
  }
  std::uint64_t size() const override { return 0; }

 private:
  ModelConfig config_;
};

}  // namespace addnorm::test
