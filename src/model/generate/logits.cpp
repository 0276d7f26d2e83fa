#include "model/generate/logits.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace addnorm {
namespace {

template <class T>
std::vector<double> checked(std::span<const T> logits, std::string_view where) {
  std::vector<double> x(logits.begin(), logits.end());
  const auto bad = std::ranges::find_if(x, [](double value) { return std::isnan(value) || value == HUGE_VAL; });
  if (bad != x.end())
    throw NumericsError(concat("generation: ", where, ": the logit of token ", bad - x.begin(), " is ", *bad,
                               "; no token can be chosen from that"));
  if (std::ranges::all_of(x, [](double value) { return value == -HUGE_VAL; }))
    throw NumericsError(concat("generation: ", where, ": all ", x.size(), " logits are -inf; no token can be chosen from that"));
  return x;
}

}  // namespace

std::vector<double> finite_logits(std::span<const float> logits, std::string_view where) { return checked(logits, where); }

std::vector<double> finite_logits(const Tensor& logits, std::size_t row, std::string_view where) {
  const std::size_t width = logits.shape()[1];
  return dispatch(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return checked(logits.values<T>().subspan(row * width, width), where);
  });
}

double log_sum_exp(std::span<const double> x) {
  const double largest = *std::ranges::max_element(x);
  double sum = 0;
  for (const double value : x) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

std::vector<std::int32_t> ranked(std::span<const double> values, std::size_t count, double mass) {
  std::vector<std::int32_t> heap(values.size());
  std::iota(heap.begin(), heap.end(), 0);
  const auto value = [&](std::int32_t id) { return values[static_cast<std::size_t>(id)]; };
  const auto below = [&](std::int32_t a, std::int32_t b) { return value(a) != value(b) ? value(a) < value(b) : a > b; };
  std::make_heap(heap.begin(), heap.end(), below);

  std::vector<std::int32_t> ids;
  double sum = 0;
  while (!heap.empty() && ids.size() < count && sum < mass) {
    std::pop_heap(heap.begin(), heap.end(), below);
    ids.push_back(heap.back());
    sum += value(heap.back());
    heap.pop_back();
  }
  return ids;
}

std::size_t Request::checked_length(const Decoding& decoding) const {
  const std::size_t rows = decoding.rows(), room = decoding.room();
  require(rows > 0, function, ": the decoding has no rows");
  require(!prompt.empty() && prompt.size() % rows == 0, function, ": prompt has ", prompt.size(), " tokens for ", rows,
          " rows; every row needs the same number of them, at least 1");
  const std::size_t given = prompt.size() / rows;
  require(given <= room, function, ": prompt has ", given, " tokens in a row, but there is room for ", room);
  const std::size_t most = room - given + 1;  // the last one is not read by the model
  require(!max_tokens || (*max_tokens >= 1 && *max_tokens <= most), function, ": max_tokens is ", max_tokens.value_or(0),
          "; after a prompt of ", given, " it must be between 1 and ", most, ", for there is room for ", room, " in all");
  for (const std::int32_t token : end_tokens) require(token >= 0, function, ": end_tokens has ", token, "; ids are not negative");
  return max_tokens.value_or(most);
}

void Request::check(const Tensor& logits, std::size_t rows) const {
  require(logits.defined() && logits.shape().rank() == 2 && logits.shape()[0] == rows && logits.shape()[1] > 0, function,
          ": the decoding gave logits of shape ", logits.defined() ? logits.shape().text() : "undefined", "; [", rows,
          ", vocabulary] is needed");
  for (const std::int32_t token : end_tokens)
    require(static_cast<std::size_t>(token) < logits.shape()[1], function, ": end_tokens has ", token,
            ", but the vocabulary has ", logits.shape()[1], " tokens");
}

bool Request::ends(std::int32_t token) const { return std::ranges::find(end_tokens, token) != end_tokens.end(); }

}  // namespace addnorm
