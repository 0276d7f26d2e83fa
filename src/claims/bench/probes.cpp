#include "claims/bench/probes.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"

namespace addnorm::lab {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Rows scaled to RMS 1 over all of them, with a constant after them.
Rows rows_of(const Tensor& x, bool constant) {
  const std::size_t width = x.shape().back();
  const std::vector<double> values = values_of(x);
  const double size = constant ? std::max(rms(x), 1e-30) : 1;
  Rows rows;
  for (std::size_t r = 0; r * width < values.size(); ++r) {
    rows.emplace_back();
    for (std::size_t c = 0; c < width; ++c) rows.back().push_back(values[r * width + c] / size);
    if (constant) rows.back().push_back(1);
  }
  return rows;
}

/// sum += factor * row, from column `from` on. All the time here is spent in this loop, hence the pointers.
void add_multiple(std::vector<double>& sum, double factor, const std::vector<double>& row, std::size_t from = 0) {
  double* const to = sum.data();
  const double* const what = row.data();
  for (std::size_t c = from, n = sum.size(); c < n; ++c) to[c] += factor * what[c];
}

/// Solves a z = b in place for several right-hand sides, a symmetric and positive: Gauss with pivots.
void solve(Rows& a, Rows& b) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < n; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i || a[r][i] == 0) continue;
      const double factor = a[r][i] / a[i][i];
      add_multiple(a[r], -factor, a[i], i);
      add_multiple(b[r], -factor, b[i]);
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (double& v : b[i]) v /= a[i][i];
}

/// Predictions for the odd rows.
Rows predicted(const Rows& x, const Rows& targets) {
  const std::size_t n = x[0].size(), k = targets[0].size();
  Rows a(n, std::vector<double>(n)), b(n, std::vector<double>(k));
  for (std::size_t r = 0; r < x.size(); r += 2)
    for (std::size_t i = 0; i < n; ++i) {
      add_multiple(a[i], x[r][i], x[r]);
      add_multiple(b[i], x[r][i], targets[r]);
    }
  for (std::size_t i = 0; i < n; ++i) a[i][i] += 1e-4 * static_cast<double>(x.size());
  solve(a, b);
  Rows all;
  for (std::size_t r = 1; r < x.size(); r += 2) {
    all.emplace_back(k, 0.0);
    for (std::size_t i = 0; i < n; ++i) add_multiple(all.back(), x[r][i], b[i]);
  }
  return all;
}

}  // namespace

double explained_share(const Tensor& x, const Tensor& targets) {
  const Rows want = rows_of(targets, false), got = predicted(rows_of(x, true), want);
  const std::size_t k = want[0].size();
  double off = 0, all = 0;
  for (std::size_t j = 0; j < k; ++j) {
    double mean = 0;
    for (std::size_t r = 1; r < want.size(); r += 2) mean += want[r][j] / static_cast<double>(got.size());
    for (std::size_t r = 1; r < want.size(); r += 2) {
      off += std::pow(want[r][j] - got[r / 2][j], 2);
      all += std::pow(want[r][j] - mean, 2);
    }
  }
  return std::max(0.0, 1 - off / all);
}

double probe_accuracy(const Tensor& x, const std::vector<std::size_t>& classes, std::size_t count) {
  Rows want;
  for (const std::size_t c : classes) {
    want.emplace_back(count, 0.0);
    want.back()[c] = 1;
  }
  const Rows got = predicted(rows_of(x, true), want);
  std::size_t right = 0;
  for (std::size_t r = 0; r < got.size(); ++r)
    if (static_cast<std::size_t>(std::ranges::max_element(got[r]) - got[r].begin()) == classes[2 * r + 1]) ++right;
  return static_cast<double>(right) / static_cast<double>(got.size());
}

namespace {

constexpr std::size_t kSequences = 96;

/// Even rows teach and odd ones are asked: the second half of the sequences is laid between the rows of the first.
double position_accuracy(const Tensor& x) {
  const std::size_t width = x.shape().back(), rows = x.elements() / width;
  Tensor mixed(x.shape());
  std::vector<std::size_t> positions(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t from = (r % 2) * (rows / 2) + r / 2;
    positions[r] = from % kProbedPositions;
    for (std::size_t c = 0; c < width; ++c) mixed.data<float>()[r * width + c] = x.values<float>()[from * width + c];
  }
  return probe_accuracy(mixed, positions, kProbedPositions);
}

}  // namespace

std::vector<double> position_accuracy(const ClaimContext& context, std::string_view arrangement, std::size_t layers,
                                      std::uint64_t seed) {
  ModelConfig config = bench_model(context, arrangement, layers);
  config.model = ModelKind::encoder;  // no causal mask that would tell positions by itself
  config.d_model = 48;
  config.d_ff = 96;
  config.seq_len = kProbedPositions;
  config.positions = PositionKind::sinusoidal;
  config.scale_embedding = true;
  const auto model = started(config, seed);
  Watch watch;
  const NoGrad no_grad;
  batch_logits(*model, random_batch(config, kSequences, seed), {}, {.stream = &watch});
  std::vector<double> all;
  for (const Var& x : watch.streams) all.push_back(position_accuracy(x.value()));
  return all;
}

}  // namespace addnorm::lab
