// What the decodings of the models share, and decoding without a cache: every step runs the whole prefix again. What the cache
// must agree with.
#pragma once

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/generate.h"
#include "addnorm/model/tokens.h"

namespace addnorm {

/// The vectors of the last token of each sequence, which is all that decoding needs logits of: x [rows, tokens, width] ->
/// [rows, width]; no gradient.
inline Tensor last_token(const Tensor& x) {
  const std::size_t rows = x.shape()[0], tokens = x.shape()[1], width = x.shape()[2];
  Tensor last({rows, width});
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(last.data<float>() + row * width, x.data<float>() + ((row + 1) * tokens - 1) * width, width * sizeof(float));
  return last;
}

inline void check_rows(std::span<const std::size_t> from, std::size_t rows) {
  require(!from.empty(), "Decoding: no row is left; at least one sequence is needed");
  for (const std::size_t row : from) require(row < rows, "Decoding: row ", row, " of ", rows, " does not exist");
}

class PrefixDecoding final : public Decoding {
 public:
  /// Logits after the last token of each row; `origin` says which row of the beginning each one comes from.
  using Logits = std::function<Tensor(const Tokens& prefix, std::span<const std::size_t> origin)>;
  /// rows > 0, checked by the caller.
  PrefixDecoding(std::size_t rows, std::size_t most, Logits logits) : most_(most), logits_(std::move(logits)), prefix_(rows) {
    origin_.resize(rows);
    std::iota(origin_.begin(), origin_.end(), std::size_t{0});
  }

  Tensor append(std::span<const std::int32_t> tokens) override {
    require(!tokens.empty() && tokens.size() % rows() == 0, "Decoding: ", tokens.size(), " tokens for ", rows(),
            " rows; each needs as many");
    const std::size_t count = tokens.size() / rows();
    std::vector<std::int32_t> all;
    for (std::size_t row = 0; row < rows(); ++row) {
      all.insert(all.end(), prefix_[row].begin(), prefix_[row].end());
      all.insert(all.end(), tokens.begin() + static_cast<std::ptrdiff_t>(row * count),
                 tokens.begin() + static_cast<std::ptrdiff_t>((row + 1) * count));
    }
    const NoGrad no_grad;
    Tensor logits = logits_({.ids = all, .batch = rows()}, origin_);
    const std::size_t length = all.size() / rows();
    for (std::size_t row = 0; row < rows(); ++row)
      prefix_[row].assign(all.begin() + static_cast<std::ptrdiff_t>(row * length),
                          all.begin() + static_cast<std::ptrdiff_t>((row + 1) * length));
    return logits;
  }
  void select(std::span<const std::size_t> from) override {
    check_rows(from, rows());
    std::vector<std::vector<std::int32_t>> prefix;
    std::vector<std::size_t> origin;
    for (const std::size_t row : from) {
      prefix.push_back(prefix_[row]);
      origin.push_back(origin_[row]);
    }
    prefix_ = std::move(prefix);
    origin_ = std::move(origin);
  }
  std::size_t rows() const override { return prefix_.size(); }
  std::size_t room() const override { return most_ - prefix_.front().size(); }

 private:
  std::size_t most_;
  Logits logits_;
  std::vector<std::vector<std::int32_t>> prefix_;
  std::vector<std::size_t> origin_;
};

}  // namespace addnorm
