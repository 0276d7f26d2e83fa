#include "probe/measures/position_probe.h"

#include <algorithm>
#include <limits>

#include "probe/measures/spectrum.h"

namespace addnorm {
namespace {

constexpr double kRidge = 0.01;  // of the mean eigenvalue

/// Tokens of every second sequence, each with its block.
struct PlacedTokens {
  RowMatrix x;
  std::vector<std::size_t> block;
};
PlacedTokens placed(const Tensor& x, const RowMask& rows, bool odd, std::size_t blocks, std::size_t most) {
  const std::size_t sequences = x.shape()[0], tokens = x.shape()[1];
  RowMask mine(sequences * tokens, 0);
  for (std::size_t r = 0; r < mine.size(); ++r) mine[r] = (r / tokens % 2 == 1) == odd && (rows.empty() || rows[r]);
  std::vector<std::size_t> where;
  for (std::size_t r = 0; r < mine.size(); ++r)
    if (mine[r]) where.push_back(r % tokens);
  PlacedTokens some{.x = sampled_rows(x, mine, most), .block = {}};
  for (std::size_t i = 0; i < some.x.count; ++i)  // as sampled_rows takes them
    some.block.push_back(where[(i + 1) * where.size() / some.x.count - 1] * blocks / tokens);
  return some;
}

void take_mean_off(RowMatrix& x, const std::vector<double>& mean) {
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t i = 0; i < x.width; ++i) x.values[r * x.width + i] -= mean[i];
}

/// One-hot rows less their mean, [count, blocks].
std::vector<double> targets_of(const PlacedTokens& some, std::size_t blocks) {
  std::vector<double> y(some.x.count * blocks, 0.0), mean(blocks, 0.0);
  for (const std::size_t block : some.block) mean[block] += 1 / static_cast<double>(some.x.count);
  for (std::size_t r = 0; r < some.x.count; ++r)
    for (std::size_t c = 0; c < blocks; ++c) y[r * blocks + c] = (some.block[r] == c ? 1 : 0) - mean[c];
  return y;
}

/// W [width, blocks]. Empty: not finite.
std::vector<double> fitted(const PlacedTokens& train, std::size_t blocks) {
  double trace = 0;  // of the Gram matrix
  for (const double v : train.x.values) trace += v * v;
  if (trace == 0) return std::vector<double>(train.x.width * blocks, 0.0);  // all tokens are alike
  const double mean_eigenvalue = trace / static_cast<double>(std::min(train.x.width, train.x.count));
  return ridge_solution(train.x, targets_of(train, blocks), blocks, kRidge * mean_eigenvalue);
}

}  // namespace

double position_accuracy(const Tensor& x, const RowMask& rows) {
  if (x.shape().rank() != 3 || x.shape()[0] < 2 || x.shape()[1] < 2) return kNotMeasured;
  const std::size_t blocks = std::min(kPositionBlocks, x.shape()[1]);
  const std::size_t most = x.shape()[2] > kMostGram ? kMostGram : std::numeric_limits<std::size_t>::max();
  PlacedTokens train = placed(x, rows, false, blocks, most), test = placed(x, rows, true, blocks, most);
  if (train.x.count == 0 || test.x.count == 0) return kNotMeasured;
  std::vector<double> mean(train.x.width, 0.0);
  for (std::size_t r = 0; r < train.x.count; ++r)
    for (std::size_t i = 0; i < train.x.width; ++i) mean[i] += train.x.row(r)[i] / static_cast<double>(train.x.count);
  take_mean_off(train.x, mean);
  take_mean_off(test.x, mean);
  const std::vector<double> w = fitted(train, blocks);
  if (w.empty()) return kNotMeasured;
  std::vector<double> shift(blocks, 0.0);  // the mean that targets_of took off
  for (const std::size_t block : train.block) shift[block] += 1 / static_cast<double>(train.x.count);
  const RowMatrix scores = product(test.x, w, blocks);
  double right = 0;
  for (std::size_t r = 0; r < test.x.count; ++r) {
    std::vector<double> score = shift;
    for (std::size_t c = 0; c < blocks; ++c) score[c] += scores.row(r)[c];
    right += static_cast<std::size_t>(std::ranges::max_element(score) - score.begin()) == test.block[r];
  }
  return right / static_cast<double>(test.x.count);
}

}  // namespace addnorm
