#include "claims/bench/probes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "tensor/linear_algebra.h"

namespace addnorm::lab {
namespace {

/// Rows [rows, width] scaled to RMS 1 over all of them, with a constant after the last column.
RowMatrix scaled_rows(const Tensor& x) {
  const std::size_t width = x.shape().back(), count = x.elements() / width;
  const std::vector<double> values = values_of(x);
  const double size = std::max(rms(x), 1e-30);
  RowMatrix rows{.count = count, .width = width + 1};
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = 0; c < width; ++c) rows.values.push_back(values[r * width + c] / size);
    rows.values.push_back(1);
  }
  return rows;
}

RowMatrix every_second(const RowMatrix& x, std::size_t first) {
  RowMatrix some{.width = x.width};
  for (std::size_t r = first; r < x.count; r += 2, ++some.count)
    some.values.insert(some.values.end(), x.row(r), x.row(r) + x.width);
  return some;
}

/// Predictions for the odd rows, fitted on the even ones.
RowMatrix predicted(const RowMatrix& x, const RowMatrix& targets) {
  const double ridge = 1e-4 * static_cast<double>(x.count);
  std::vector<double> w = ridge_solution(every_second(x, 0), every_second(targets, 0).values, targets.width, ridge);
  if (w.empty()) w.assign(x.width * targets.width, std::numeric_limits<double>::quiet_NaN());
  return product(every_second(x, 1), w, targets.width);
}

}  // namespace

double explained_share(const Tensor& x, const Tensor& targets) {
  const std::size_t k = targets.shape().back();
  const RowMatrix all_targets{.values = values_of(targets), .count = targets.elements() / k, .width = k};
  const RowMatrix want = every_second(all_targets, 1), got = predicted(scaled_rows(x), all_targets);
  double off = 0, all = 0;
  for (std::size_t j = 0; j < k; ++j) {
    double mean = 0;
    for (std::size_t r = 0; r < want.count; ++r) mean += want.row(r)[j] / static_cast<double>(want.count);
    for (std::size_t r = 0; r < want.count; ++r) {
      off += std::pow(want.row(r)[j] - got.row(r)[j], 2);
      all += std::pow(want.row(r)[j] - mean, 2);
    }
  }
  return std::max(0.0, 1 - off / all);
}

double probe_accuracy(const Tensor& x, const std::vector<std::size_t>& classes, std::size_t count) {
  RowMatrix want{.values = std::vector<double>(classes.size() * count, 0.0), .count = classes.size(), .width = count};
  for (std::size_t r = 0; r < classes.size(); ++r) want.values[r * count + classes[r]] = 1;
  const RowMatrix got = predicted(scaled_rows(x), want);
  std::size_t right = 0;
  for (std::size_t r = 0; r < got.count; ++r)
    right += static_cast<std::size_t>(std::max_element(got.row(r), got.row(r) + count) - got.row(r)) == classes[2 * r + 1];
  return static_cast<double>(right) / static_cast<double>(got.count);
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
  config.model = ModelKind::encoder;  // no causal mask that would give positions away
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
