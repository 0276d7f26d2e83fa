// What sampling and beam search share: checked logits, ranking, and the checks of their arguments.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "addnorm/model/generate.h"

namespace addnorm {

/// Row `row` of logits [rows, vocabulary] in double. NaN, +infinity and nothing but -infinity are NumericsErrors, which say
/// `where` ("row 3, new token 17").
std::vector<double> finite_logits(const Tensor& logits, std::size_t row, std::string_view where);
std::vector<double> finite_logits(std::span<const float> logits, std::string_view where);

/// log(sum(exp(x))), -infinity allowed.
double log_sum_exp(std::span<const double> x);

/// Ids by falling value, of equals the lowest id first, until there are `count` of them or their values sum up to `mass`.
std::vector<std::int32_t> ranked(std::span<const double> values, std::size_t count,
                                 double mass = std::numeric_limits<double>::infinity());

/// What both kinds of generation are asked: tokens to write, after the checks that need no logits.
struct Request {
  const char* function;
  std::span<const std::int32_t> prompt;
  std::optional<std::size_t> max_tokens;
  std::span<const std::int32_t> end_tokens;

  std::size_t checked_length(const Decoding& decoding) const;
  /// The logits are [rows, vocabulary], and the vocabulary has all end tokens.
  void check(const Tensor& logits, std::size_t rows) const;
  bool ends(std::int32_t token) const;
};

}  // namespace addnorm
