#include "addnorm/data/mixture.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/rng.h"
#include "data/samples/draws.h"

namespace addnorm {
namespace {

class MixtureDataset : public Dataset {
 public:
  MixtureDataset(const MixtureOptions& options, std::vector<double> centres, std::uint64_t seed)
      : options_(options), centres_(std::move(centres)), key_(RandomKey(seed).with("mixture")) {}

  Batch batch(std::uint64_t first, std::size_t count) const override {
    const std::size_t width = options_.dimension;
    Batch batch{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count; ++i) {
      const RandomKey key = key_.with(first + i);
      const std::uint32_t label = Draws(key, 0).below(static_cast<std::uint32_t>(options_.classes));
      batch.labels.push_back(static_cast<std::int32_t>(label));
      for (std::size_t j = 0; j < width; ++j)
        batch.features.push_back(static_cast<float>(centres_[label * width + j] + options_.spread * normal_at(key, j)));
    }
    return batch;
  }
  std::uint64_t size() const override { return 0; }

 private:
  MixtureOptions options_;
  std::vector<double> centres_;
  RandomKey key_;
};

double error_of_mean(double sum, double squares, double n) {
  return std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)) / n);
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options) : options_(options) {
  require(options.classes >= 2 && options.classes <= 100000, "Mixture: classes is ", options.classes, "; it must be 2 to 100000");
  require(options.dimension >= 1 && options.dimension <= 100000, "Mixture: dimension is ", options.dimension,
          "; it must be 1 to 100000");
  require(options.spread > 0 && std::isfinite(options.spread), "Mixture: spread is ", options.spread, "; it must be above 0");
  const RandomKey key = RandomKey(options.seed).with("centres");
  for (std::size_t i = 0; i < options.classes * options.dimension; ++i) centres_.push_back(normal_at(key, i));
}

std::unique_ptr<Dataset> Mixture::dataset(std::uint64_t seed) const {
  return std::make_unique<MixtureDataset>(options_, centres_, seed);
}

Mixture::Best Mixture::best(std::size_t samples) const {
  require(samples > 0, "Mixture::best: samples is 0; it must be at least 1");
  const auto data = dataset(RandomKey(options_.seed).with("best").bits());
  const std::size_t width = options_.dimension;
  double right = 0, loss = 0, squares = 0;
  std::vector<double> score(options_.classes);  // ln p(x | c), up to a constant
  for (std::size_t i = 0; i < samples; ++i) {
    const Batch one = data->batch(i, 1);
    for (std::size_t c = 0; c < options_.classes; ++c) {
      double distance = 0;
      for (std::size_t j = 0; j < width; ++j) distance += std::pow(double{one.features[j]} - centres_[c * width + j], 2);
      score[c] = -distance / (2 * options_.spread * options_.spread);
    }
    const auto label = static_cast<std::size_t>(one.labels[0]);
    const double most = *std::ranges::max_element(score);
    double sum = 0;
    for (const double each : score) sum += std::exp(each - most);
    const double nats = std::log(sum) + most - score[label];
    right += score[label] == most;
    loss += nats;
    squares += nats * nats;
  }
  const auto n = static_cast<double>(samples);
  return {right / n, error_of_mean(right, right, n), loss / n, error_of_mean(loss, squares, n)};
}

}  // namespace addnorm
