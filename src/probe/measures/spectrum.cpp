#include "probe/measures/spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace addnorm {
namespace {

/// A symmetric matrix with three diagonals.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> below;  // [i]: between i - 1 and i; [0] is 0
};

/// Householder reflections from the last row up (Golub and Van Loan, 8.3.1): row i keeps only what lies next to its diagonal.
Tridiagonal tridiagonal(std::vector<double> a, std::size_t n) {
  Tridiagonal t{std::vector<double>(n), std::vector<double>(n, 0.0)};
  std::vector<double> p(n);
  for (std::size_t i = n; i-- > 1;) {
    double* v = a.data() + i * n;  // its first i elements become the reflection's vector
    double squares = 0;
    for (std::size_t k = 0; k < i; ++k) squares += v[k] * v[k];
    const double length = std::sqrt(squares);
    const double head = v[i - 1], beside = head > 0 ? -length : length;
    t.below[i] = beside;
    const double h = squares - head * beside;  // |v|^2 / 2
    if (h == 0) continue;
    v[i - 1] = head - beside;
    double vp = 0;
    for (std::size_t r = 0; r < i; ++r) {  // p = A v / h, of the lower triangle
      double sum = 0;
      for (std::size_t c = 0; c <= r; ++c) sum += a[r * n + c] * v[c];
      for (std::size_t c = r + 1; c < i; ++c) sum += a[c * n + r] * v[c];
      p[r] = sum / h;
      vp += v[r] * p[r];
    }
    const double half = vp / (2 * h);
    for (std::size_t r = 0; r < i; ++r) p[r] -= half * v[r];
    for (std::size_t r = 0; r < i; ++r)
      for (std::size_t c = 0; c <= r; ++c) a[r * n + c] -= v[r] * p[c] + p[r] * v[c];
  }
  for (std::size_t i = 0; i < n; ++i) t.diagonal[i] = a[i * n + i];
  return t;
}

/// QL with implicit shifts (Golub and Van Loan, 8.3.3). False: no end was found, which only values that are no numbers do.
bool diagonalise(Tridiagonal& t) {
  constexpr int kMostTurns = 60;  // two or three are usual
  std::vector<double>&d = t.diagonal, &e = t.below;
  const std::size_t n = d.size();
  e.erase(e.begin());  // now [i]: between i and i + 1
  e.push_back(0);
  for (std::size_t l = 0; l < n; ++l)
    for (int turn = 0;; ++turn) {
      std::size_t m = l;
      while (m + 1 < n && std::abs(e[m]) > std::numeric_limits<double>::epsilon() * (std::abs(d[m]) + std::abs(d[m + 1]))) ++m;
      if (m == l) break;
      if (turn == kMostTurns) return false;
      double g = (d[l + 1] - d[l]) / (2 * e[l]);
      g = d[m] - d[l] + e[l] / (g + std::copysign(std::hypot(g, 1.0), g));
      double s = 1, c = 1, p = 0;
      std::size_t i = m;
      while (i-- > l) {
        const double f = s * e[i], b = c * e[i];
        const double r = std::hypot(f, g);
        e[i + 1] = r;
        if (r == 0) {  // two parts have come apart
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double q = (d[i] - g) * s + 2 * c * b;
        p = s * q;
        d[i + 1] = g + p;
        g = c * q - b;
      }
      if (i + 1 > l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  return true;
}

/// a . b in four sums, so that one need not wait for another.
double dot(const double* a, const double* b, std::size_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace

std::vector<double> symmetric_eigenvalues(std::vector<double> a, std::size_t n) {
  require(a.size() == n * n, "symmetric_eigenvalues: ", a.size(), " values for a matrix of ", n, " rows");
  if (n == 0) return {};
  Tridiagonal t = tridiagonal(std::move(a), n);
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!std::ranges::all_of(t.diagonal, finite) || !std::ranges::all_of(t.below, finite) || !diagonalise(t))
    return std::vector<double>(n, kNotMeasured);
  std::ranges::sort(t.diagonal);
  return t.diagonal;
}

TokenRows sampled_rows(const Tensor& x, const RowMask& rows, std::size_t most) {
  TokenRows some{.width = x.shape().back()};
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

std::vector<double> gram_of_features(const TokenRows& x) {
  std::vector<double> gram(x.width * x.width, 0.0);
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t i = 0; i < x.width; ++i) {
      const double v = x.row(r)[i];
      double* into = gram.data() + i * x.width;
      for (std::size_t j = 0; j <= i; ++j) into[j] += v * x.row(r)[j];
    }
  for (std::size_t i = 0; i < x.width; ++i)
    for (std::size_t j = 0; j < i; ++j) gram[j * x.width + i] = gram[i * x.width + j];
  return gram;
}

std::vector<double> gram_of_tokens(const TokenRows& x) {
  std::vector<double> gram(x.count * x.count);
  for (std::size_t r = 0; r < x.count; ++r)
    for (std::size_t s = 0; s <= r; ++s) gram[r * x.count + s] = gram[s * x.count + r] = dot(x.row(r), x.row(s), x.width);
  return gram;
}

Ranks ranks(const Tensor& x, const RowMask& rows) {
  const std::size_t width = x.shape().back();
  const TokenRows some = sampled_rows(x, rows, width > kMostGram ? kMostGram : std::numeric_limits<std::size_t>::max());
  const bool by_features = width <= some.count;
  const std::vector<double> squares =
      symmetric_eigenvalues(by_features ? gram_of_features(some) : gram_of_tokens(some), by_features ? width : some.count);
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

}  // namespace addnorm
