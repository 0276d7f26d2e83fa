#include "probe/measures/position_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "probe/measures/spectrum.h"

namespace addnorm {
namespace {

constexpr double kRidge = 0.01;  // of the mean eigenvalue

/// L L^T = a + ridge I, in place; false: it is not finite.
bool cholesky(std::vector<double>& a, std::size_t n, double ridge) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] += ridge;
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (j < i)
        a[i * n + j] = sum / a[j * n + j];
      else if (sum > 0 && std::isfinite(sum))
        a[i * n + i] = std::sqrt(sum);
      else
        return false;
    }
  }
  return true;
}

/// b [n, columns] becomes (L L^T)^-1 b.
void solve(const std::vector<double>& l, std::size_t n, std::vector<double>& b, std::size_t columns) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = b[i * columns + c];
      for (std::size_t k = 0; k < i; ++k) sum -= l[i * n + k] * b[k * columns + c];
      b[i * columns + c] = sum / l[i * n + i];
    }
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = b[i * columns + c];
      for (std::size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * b[k * columns + c];
      b[i * columns + c] = sum / l[i * n + i];
    }
}

/// Tokens of every second sequence, each with its block.
struct PlacedTokens {
  TokenRows x;
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

void take_mean_off(TokenRows& x, const std::vector<double>& mean) {
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

/// X^T y, [width, columns].
std::vector<double> projected(const TokenRows& x, const std::vector<double>& y, std::size_t columns) {
  std::vector<double> out(x.width * columns, 0.0);
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t i = 0; i < x.width; ++i)
      for (std::size_t c = 0; c < columns; ++c) out[i * columns + c] += x.row(r)[i] * y[r * columns + c];
  return out;
}

/// W [width, blocks]. Over tokens it is X^T (X X^T + ridge)^-1 Y, the same. Empty: not finite.
std::vector<double> fitted(const PlacedTokens& train, std::size_t blocks) {
  const bool by_features = train.x.width <= train.x.count;
  const std::size_t n = by_features ? train.x.width : train.x.count;
  std::vector<double> gram = by_features ? gram_of_features(train.x) : gram_of_tokens(train.x);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += gram[i * n + i];
  if (trace == 0) return std::vector<double>(train.x.width * blocks, 0.0);  // all tokens are alike
  if (!cholesky(gram, n, kRidge * trace / static_cast<double>(n))) return {};
  std::vector<double> y = targets_of(train, blocks);
  if (by_features) y = projected(train.x, y, blocks);
  solve(gram, n, y, blocks);
  return by_features ? y : projected(train.x, y, blocks);
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
  double right = 0;
  for (std::size_t r = 0; r < test.x.count; ++r) {
    std::vector<double> score = shift;
    for (std::size_t i = 0; i < test.x.width; ++i)
      for (std::size_t c = 0; c < blocks; ++c) score[c] += test.x.row(r)[i] * w[i * blocks + c];
    right += static_cast<std::size_t>(std::ranges::max_element(score) - score.begin()) == test.block[r];
  }
  return right / static_cast<double>(test.x.count);
}

}  // namespace addnorm
