// FakeDecoding: logits by a made-up function of the prefix, so that generation can be checked without a model.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "addnorm/core/rng.h"
#include "addnorm/model/generate.h"

namespace addnorm::test {

using Ids = std::vector<std::int32_t>;
using LogitsOf = std::function<std::vector<float>(const Ids& prefix)>;

inline GenerateOptions greedy(std::size_t max_tokens, Ids end_tokens = {}) {
  return {.sampling = {.temperature = 0}, .max_tokens = max_tokens, .end_tokens = std::move(end_tokens)};
}

class FakeDecoding final : public Decoding {
 public:
  FakeDecoding(std::size_t rows, std::size_t room, LogitsOf logits) : prefixes_(rows), room_(room), logits_(std::move(logits)) {}

  Tensor append(std::span<const std::int32_t> tokens) override {
    const std::size_t count = tokens.size() / prefixes_.size();
    require(count <= room_, "FakeDecoding: ", count, " tokens, but there is room for ", room_);
    room_ -= count;
    tokens_read += tokens.size();
    std::vector<float> all;
    for (std::size_t row = 0; row < prefixes_.size(); ++row) {
      const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(row * count);
      prefixes_[row].insert(prefixes_[row].end(), first, first + static_cast<std::ptrdiff_t>(count));
      const std::vector<float> x = logits_(prefixes_[row]);
      all.insert(all.end(), x.begin(), x.end());
    }
    return Tensor::of({prefixes_.size(), all.size() / prefixes_.size()}, all);
  }
  void select(std::span<const std::size_t> from) override {
    std::vector<Ids> chosen;
    for (const std::size_t row : from) chosen.push_back(prefixes_.at(row));
    prefixes_ = std::move(chosen);
  }
  std::size_t rows() const override { return prefixes_.size(); }
  std::size_t room() const override { return room_; }

  std::size_t tokens_read = 0;  ///< by all rows

 private:
  std::vector<Ids> prefixes_;
  std::size_t room_;
  LogitsOf logits_;
};

/// Normal logits that depend on every token of the prefix.
inline LogitsOf random_logits(std::size_t vocabulary, std::uint64_t seed) {
  return [=](const Ids& prefix) {
    RandomKey key(seed);
    for (const std::int32_t token : prefix) key = key.with(static_cast<std::uint64_t>(token));
    std::vector<float> x(vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i) x[i] = normal_at(key, i);
    return x;
  };
}

/// The same logits whatever came before.
inline LogitsOf fixed_logits(std::vector<float> x) {
  return [x = std::move(x)](const Ids&) { return x; };
}

inline std::vector<double> log_softmax(const std::vector<float>& x) {
  const double largest = *std::ranges::max_element(x);
  double sum = 0;
  for (const float value : x) sum += std::exp(static_cast<double>(value) - largest);
  std::vector<double> y;
  for (const float value : x) y.push_back(static_cast<double>(value) - largest - std::log(sum));
  return y;
}

}  // namespace addnorm::test
