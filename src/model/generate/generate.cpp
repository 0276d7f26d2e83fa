#include "addnorm/model/generate.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/rng.h"
#include "model/generate/logits.h"

namespace addnorm {
namespace {

void check(const SamplingOptions& o) {
  require(o.temperature >= 0 && std::isfinite(o.temperature), "generation: temperature is ", o.temperature,
          "; it must be finite and at least 0 (0: greedy)");
  require(o.top_p > 0 && o.top_p <= 1, "generation: top_p is ", o.top_p, "; it must be above 0 and at most 1 (1: no cut)");
}

std::size_t most_probable(std::span<const double> x) {  // the first of equals
  return static_cast<std::size_t>(std::ranges::max_element(x) - x.begin());
}

/// Not negative, 0 for what is cut off; not normalised.
std::vector<double> weights(std::span<const double> logits, const SamplingOptions& o) {
  const std::size_t top = most_probable(logits), n = logits.size();
  std::vector<double> w(n, 0.0);
  if (o.temperature == 0) {
    w[top] = 1;
    return w;
  }
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += w[i] = std::exp((logits[i] - logits[top]) / o.temperature);

  const std::size_t k = o.top_k == 0 ? n : std::min(o.top_k, n);
  if (k == n && o.top_p == 1) return w;  // explicitly all: rounding must not decide it
  std::vector<std::int32_t> kept;
  if (k == n) {
    kept = ranked(w, n, o.top_p * total);
  } else {
    kept = ranked(w, k);
    total = 0;
    for (const std::int32_t id : kept) total += w[static_cast<std::size_t>(id)];
    if (o.top_p < 1) kept = ranked(w, k, o.top_p * total);
  }
  std::vector<double> cut(n, 0.0);
  for (const std::int32_t id : kept) cut[static_cast<std::size_t>(id)] = w[static_cast<std::size_t>(id)];
  return cut;
}

/// Uniform in [0, 1) with all 53 bits: a token of probability 1e-9 comes once in 1e9 draws, not never.
double uniform(std::uint64_t seed, std::size_t row, std::size_t token) {
  const std::uint64_t key = RandomKey(seed).with("generate").bits();
  const auto column = static_cast<std::uint32_t>(2 * token);
  const std::uint64_t high = random_word(key, row, column), low = random_word(key, row, column + 1);
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

/// The id at which the running sum of weights passes u * total.
std::size_t drawn(std::span<const double> w, double u) {
  double total = 0;
  for (const double value : w) total += value;
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] == 0) continue;
    sum += w[i];
    last = i;
    if (sum > u * total) break;
  }
  return last;  // u * total may round up to the total: then the last one that can come
}

/// The rows that are still being written. `rows` are indices into the prompt.
struct OpenRows {
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> tokens;  // chosen in this step, one per row
};

class Writer {
 public:
  Writer(const Request& request, const GenerateOptions& options, std::size_t rows)
      : request_(request), options_(options), out_(rows) {}

  /// Chooses a token for every row. Gives the positions in `rows` that go on; nothing when the caller stopped it.
  std::optional<std::vector<std::size_t>> step(const Tensor& logits, std::size_t t, OpenRows& batch) {
    std::vector<std::size_t> going;
    batch.tokens.clear();
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const std::size_t row = batch.rows[i];
      const std::int32_t token = choose(finite_logits(logits, i, concat("row ", row, ", new token ", t)), row, t);
      if (request_.ends(token)) {
        out_[row].ended = true;
        continue;
      }
      out_[row].tokens.push_back(token);
      if (options_.on_token && !options_.on_token(row, token)) return std::nullopt;
      going.push_back(i);
      batch.tokens.push_back(token);
    }
    return going;
  }
  std::vector<Generated> result() && { return std::move(out_); }

 private:
  std::int32_t choose(const std::vector<double>& x, std::size_t row, std::size_t t) {
    const SamplingOptions& o = options_.sampling;
    const std::size_t token = o.temperature == 0 ? most_probable(x) : drawn(weights(x, o), uniform(o.seed, row, t));
    out_[row].log_probability += x[token] - log_sum_exp(x);
    out_[row].score = out_[row].log_probability;
    return static_cast<std::int32_t>(token);
  }

  const Request& request_;
  const GenerateOptions& options_;
  std::vector<Generated> out_;
};

}  // namespace

std::vector<double> next_token_probabilities(std::span<const float> logits, const SamplingOptions& options) {
  check(options);
  require(!logits.empty(), "next_token_probabilities: there are no logits");
  std::vector<double> p = weights(finite_logits(logits, "next_token_probabilities"), options);
  double total = 0;
  for (const double value : p) total += value;
  for (double& value : p) value /= total;
  return p;
}

std::vector<Generated> generate(Decoding& decoding, std::span<const std::int32_t> prompt, const GenerateOptions& options) {
  check(options.sampling);
  const Request request{"generate", prompt, options.max_tokens, options.end_tokens};
  const std::size_t length = request.checked_length(decoding), rows = decoding.rows();

  const NoGrad no_grad;
  OpenRows batch;
  for (std::size_t row = 0; row < rows; ++row) batch.rows.push_back(row);
  Writer writer(request, options, rows);
  Tensor logits = decoding.append(prompt);
  for (std::size_t t = 0;; ++t) {
    request.check(logits, batch.rows.size());
    const std::optional<std::vector<std::size_t>> going = writer.step(logits, t, batch);
    if (!going || going->empty() || t + 1 == length) break;
    if (going->size() < batch.rows.size()) {
      decoding.select(*going);
      for (std::size_t i = 0; i < going->size(); ++i) batch.rows[i] = batch.rows[(*going)[i]];
      batch.rows.resize(going->size());
    }
    logits = decoding.append(batch.tokens);
  }
  return std::move(writer).result();
}

}  // namespace addnorm
