#include "probe/measures/token_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/linear_algebra.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostGram = 256;  // rows of a Gram matrix: beyond, of as many tokens, evenly spread

/// Rows of tokens that count, as doubles, at most `most` of them, evenly spread. [count, width]
RowMatrix sampled_rows(const Tensor& x, const RowMask& rows, std::size_t most) {
  RowMatrix some{.width = x.shape().back()};
  std::vector<std::size_t> places;
  for (std::size_t r = 0; r < x.elements() / some.width; ++r)
    if (rows.empty() || rows[r]) places.push_back(r);
  some.count = std::min(most, places.size());
  some.values.resize(some.count * some.width);
  dispatch(x.dtype(), [&](auto zero) {
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto* row = x.data<decltype(zero)>() + places[(i + 1) * places.size() / some.count - 1] * some.width;
      std::copy(row, row + some.width, some.values.begin() + static_cast<std::ptrdiff_t>(i * some.width));
    }
  });
  return some;
}

RowMatrix all_rows(const Tensor& x, const RowMask& rows) {
  return sampled_rows(x, rows, std::numeric_limits<std::size_t>::max());
}

std::vector<double> means_of(const RowMatrix& x) {
  std::vector<double> mean(x.width, 0.0);
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t i = 0; i < x.width; ++i) mean[i] += x.row(r)[i];
  for (double& m : mean) m /= static_cast<double>(x.count);
  return mean;
}

}  // namespace

double max_over_median(const Tensor& x, const RowMask& rows) {
  std::vector<double> sizes = all_rows(x, rows).values;
  for (double& v : sizes) {
    v = std::abs(v);
    if (!std::isfinite(v)) return kNotMeasured;  // NaN has no place in an order
  }
  if (sizes.empty()) return kNotMeasured;
  const double largest = *std::ranges::max_element(sizes);
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  return *middle > 0 ? largest / *middle : kNotMeasured;
}

double kurtosis(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  if (all.count == 0) return kNotMeasured;
  const std::vector<double> mean = means_of(all);
  std::vector<double> second(all.width, 0.0), fourth(all.width, 0.0);
  for (std::size_t r = 0; r < all.count; ++r)
    for (std::size_t i = 0; i < all.width; ++i) {
      const double c = all.row(r)[i] - mean[i], square = c * c;
      second[i] += square;
      fourth[i] += square * square;
    }
  double sum = 0, counted = 0;
  for (std::size_t i = 0; i < all.width; ++i) {
    // Equal values have a mean that is off by a rounding.
    const double least = std::pow(mean[i] * 1e-12, 2) * static_cast<double>(all.count);
    if (second[i] <= least) continue;
    sum += fourth[i] * static_cast<double>(all.count) / (second[i] * second[i]);
    ++counted;
  }
  return counted > 0 ? sum / counted : kNotMeasured;
}

double token_similarity(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  std::vector<double> sum(all.width, 0.0);
  double n = 0;
  for (std::size_t r = 0; r < all.count; ++r) {
    double squares = 0;
    for (std::size_t i = 0; i < all.width; ++i) squares += all.row(r)[i] * all.row(r)[i];
    if (squares == 0) continue;
    const double over = 1 / std::sqrt(squares);
    for (std::size_t i = 0; i < all.width; ++i) sum[i] += all.row(r)[i] * over;
    ++n;
  }
  if (n < 2) return kNotMeasured;
  double squares = 0;
  for (const double s : sum) squares += s * s;
  return (squares - n) / (n * (n - 1));
}

FeatureMoments feature_moments(const Tensor& x, const RowMask& rows) {
  const RowMatrix all = all_rows(x, rows);
  FeatureMoments m{means_of(all), std::vector<double>(all.width, 0.0)};
  for (std::size_t r = 0; r < all.count; ++r)
    for (std::size_t i = 0; i < all.width; ++i) m.deviation[i] += std::pow(all.row(r)[i] - m.mean[i], 2);
  for (double& v : m.deviation) v = std::sqrt(v / static_cast<double>(all.count));
  return m;
}

Ranks ranks(const Tensor& x, const RowMask& rows) {
  const std::size_t width = x.shape().back();
  const RowMatrix some = sampled_rows(x, rows, width > kMostGram ? kMostGram : std::numeric_limits<std::size_t>::max());
  const std::vector<double> squares = symmetric_eigenvalues(smaller_gram(some), std::min(width, some.count));
  if (squares.empty() || !(squares.back() > 0)) return {kNotMeasured, kNotMeasured};
  // Rounding of the Gram matrix: what is below it is nothing, and its root would look like something.
  const double least = squares.back() * static_cast<double>(squares.size()) * std::numeric_limits<double>::epsilon();
  double frobenius = 0, sum = 0;
  std::vector<double> values;
  for (const double s : squares) {
    if (s < least) continue;
    frobenius += s;
    values.push_back(std::sqrt(s));
    sum += values.back();
  }
  double entropy = 0;
  for (const double v : values) entropy -= v / sum * std::log(v / sum);
  return {.stable = frobenius / squares.back(), .effective = std::exp(entropy)};
}

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
