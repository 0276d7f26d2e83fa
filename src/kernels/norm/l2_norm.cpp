#include "kernels/norm/l2_norm.h"

#include <cmath>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/l2_norm.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using reference::l2_divisor;
using reference::l2_quotient;

double dot_row(const float* a, const float* b, size_t n) {
  return doubles::sum_of(n, [=](auto d, size_t i) HWY_ATTR { return hn::Mul(doubles::load(d, a + i), doubles::load(d, b + i)); });
}

void l2_norm_rows(const float* x, size_t rows, size_t width, double g, double eps, float* y, double* norm) {
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x + r * width;
    float* out = y + r * width;
    const double length = std::sqrt(dot_row(row, row, width));
    const double factor = l2_quotient(g, l2_divisor(length, eps));
    doubles::for_each(width, [=](auto d, size_t i) HWY_ATTR {
      doubles::store(hn::Mul(doubles::load(d, row + i), hn::Set(d, factor)), d, out + i);
    });
    if (norm != nullptr) norm[r] = length;
  }
}

void l2_norm_grad_rows(const float* dy, const float* x, const double* norm, size_t rows, size_t width, double g, double eps,
                       float* dx, double* row_dg) {
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x + r * width;
    const float* up = dy + r * width;
    const double m = l2_divisor(norm[r], eps);
    const double share = l2_quotient(dot_row(row, up, width), m);
    if (row_dg != nullptr) row_dg[r] = share;
    if (dx == nullptr) continue;
    float* out = dx + r * width;
    const double factor = l2_quotient(g, m);
    const double along = norm[r] < eps ? 0.0 : l2_quotient(share, m);
    doubles::for_each(width, [=](auto d, size_t i) HWY_ATTR {
      const auto across = hn::NegMulAdd(doubles::load(d, row + i), hn::Set(d, along), doubles::load(d, up + i));
      doubles::store(hn::Mul(across, hn::Set(d, factor)), d, out + i);
    });
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(l2_norm_rows);
HWY_EXPORT(l2_norm_grad_rows);

constexpr std::size_t kRowsBlock = 32768;  // elements: long against the cost of a fork
}  // namespace

void l2_norm(const float* x, std::size_t rows, std::size_t width, double g, double eps, float* y, double* norm) {
  parallel_ranges(rows, rows_per_block(width, kRowsBlock), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(l2_norm_rows)
    (x + begin * width, end - begin, width, g, eps, y + begin * width, norm == nullptr ? nullptr : norm + begin);
  });
}

void l2_norm_grad(const float* dy, const float* x, const double* norm, std::size_t rows, std::size_t width, double g, double eps,
                  float* dx, double* row_dg) {
  parallel_ranges(rows, rows_per_block(width, kRowsBlock), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(l2_norm_grad_rows)
    (dy + begin * width, x + begin * width, norm + begin, end - begin, width, g, eps,
     dx == nullptr ? nullptr : dx + begin * width, row_dg == nullptr ? nullptr : row_dg + begin);
  });
}

}  // namespace addnorm::kernels
#endif
