#include "probe/measures/attention_scores.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "probe/measures/measures.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostSequences = 4;
constexpr std::size_t kMostQueries = 16;

/// Number i of `wanted` of `all`, evenly spread, the last one among them.
std::size_t spread_over(std::size_t i, std::size_t wanted, std::size_t all) { return (i + 1) * all / wanted - 1; }

/// -sum p ln p of softmax(scores), over ln of their number.
double entropy_share(const std::vector<double>& scores) {
  const double top = *std::ranges::max_element(scores);
  double z = 0, weighted = 0;
  for (const double s : scores) {
    const double e = std::exp(s - top);
    z += e;
    weighted += e * (s - top);
  }
  return (std::log(z) - weighted / z) / std::log(static_cast<double>(scores.size()));
}

struct Looker {
  const AttentionScores& a;
  std::size_t queries = a.q.shape()[1], keys = a.k.shape()[1];
  std::size_t kv_heads = a.options.kv_heads ? a.options.kv_heads : a.options.heads;
  std::size_t d_head = a.q.shape()[2] / a.options.heads;

  std::size_t visible(std::size_t sequence, std::size_t query) const {
    const std::size_t there = a.options.key_lengths.empty() ? keys : std::min(keys, a.options.key_lengths[sequence]);
    if (!a.options.causal) return there;
    const auto offset =
        a.options.causal_offset.value_or(static_cast<std::ptrdiff_t>(keys) - static_cast<std::ptrdiff_t>(queries));
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(query) + offset + 1;
    return std::min(there, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, last)));
  }

  template <class T>
  std::vector<double> scores(std::size_t sequence, std::size_t head, std::size_t query) const {
    const T* q = a.q.data<T>() + (sequence * queries + query) * a.options.heads * d_head + head * d_head;
    const std::size_t kv_head = head / (a.options.heads / kv_heads);
    std::vector<double> all(visible(sequence, query));
    for (std::size_t s = 0; s < all.size(); ++s) {
      const T* k = a.k.data<T>() + (sequence * keys + s) * kv_heads * d_head + kv_head * d_head;
      double dot = 0;
      for (std::size_t i = 0; i < d_head; ++i) dot += static_cast<double>(q[i]) * static_cast<double>(k[i]);
      all[s] = dot * a.scale;
      if (a.options.softcap > 0) all[s] = a.options.softcap * std::tanh(all[s] / a.options.softcap);
    }
    return all;
  }
};

}  // namespace

AttentionSeen look_at(const AttentionScores& scores, std::span<const std::size_t> query_lengths) {
  if (scores.options.mask || scores.options.key_mask || scores.options.bias.defined()) return {kNotMeasured, kNotMeasured};
  const Looker looker{scores};
  const std::size_t batch = scores.q.shape()[0];
  const std::size_t sequences = std::min(batch, kMostSequences);
  double sum = 0, counted = 0, largest = 0;
  bool finite = true;
  dispatch(scores.q.dtype(), [&](auto zero) {
    for (std::size_t i = 0; i < sequences; ++i) {
      const std::size_t sequence = spread_over(i, sequences, batch);
      const std::size_t there = query_lengths.empty() ? looker.queries : std::min(looker.queries, query_lengths[sequence]);
      const std::size_t queries = std::min(there, kMostQueries);
      for (std::size_t h = 0; h < scores.options.heads; ++h)
        for (std::size_t j = 0; j < queries; ++j) {
          const auto row = looker.scores<decltype(zero)>(sequence, h, spread_over(j, queries, there));
          for (const double s : row) {
            finite = finite && std::isfinite(s);  // a maximum would pass over NaN
            largest = std::max(largest, std::abs(s));
          }
          if (row.size() < 2) continue;
          sum += entropy_share(row);
          ++counted;
        }
    }
  });
  if (!finite) return {kNotMeasured, kNotMeasured};
  return {counted > 0 ? sum / counted : kNotMeasured, largest, counted};
}

}  // namespace addnorm
