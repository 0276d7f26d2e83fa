#include "kernels/norm/batch_norm.h"

#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/reduce/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/batch_norm.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums of d = x - shift and of d^2 over those of the (at most 64) rows that count.
void deviation_sums(const float* x, const unsigned char* padding, const float* shift, size_t rows, size_t width, double* sum,
                    double* squares) {
  size_t counted[kBlockRows];
  size_t count = 0;
  for (size_t r = 0; r < rows; ++r)
    if (!reference::is_padding(padding, r)) counted[count++] = r;
  doubles::add_to_columns(count, width, sum, squares, [=, &counted](auto d, size_t r, size_t j, auto& s, auto& q) HWY_ATTR {
    const auto deviation = hn::Sub(doubles::load(d, x + counted[r] * width + j), doubles::load(d, shift + j));
    s = hn::Add(s, deviation);
    q = hn::Add(q, hn::Mul(deviation, deviation));
  });
}

void gradient_sums(const float* dy, const float* x, const double* mean, const double* rstd, size_t rows, size_t width,
                   double* sum_dy, double* sum_dy_xhat) {
  doubles::add_to_columns(rows, width, sum_dy, sum_dy_xhat, [=](auto d, size_t r, size_t j, auto& s, auto& q) HWY_ATTR {
    const auto up = doubles::load(d, dy + r * width + j);
    const auto centred = hn::Sub(doubles::load(d, x + r * width + j), hn::LoadU(d, mean + j));
    s = hn::Add(s, up);
    q = hn::Add(q, hn::Mul(hn::Mul(up, centred), hn::LoadU(d, rstd + j)));
  });
}

void normalise_rows(const float* x, const double* mean, const double* scale, const float* beta, size_t rows, size_t width,
                    float* y) {
  for (size_t r = 0; r < rows; ++r) {
    const float* row = x + r * width;
    float* out = y + r * width;
    doubles::for_each(width, [=](auto d, size_t j) HWY_ATTR {
      const auto centred = hn::Sub(doubles::load(d, row + j), hn::LoadU(d, mean + j));
      const auto shift = beta == nullptr ? hn::Zero(d) : doubles::load(d, beta + j);
      doubles::store(hn::MulAdd(centred, hn::LoadU(d, scale + j), shift), d, out + j);
    });
  }
}

void dx_rows(const float* dy, const float* x, const unsigned char* padding, const double* mean, const double* scale,
             const double* offset, const double* slope, size_t rows, size_t width, float* dx) {
  for (size_t r = 0; r < rows; ++r) {
    const bool counts = !reference::is_padding(padding, r);
    const float* up = dy + r * width;
    const float* row = x + r * width;
    float* out = dx + r * width;
    doubles::for_each(width, [=](auto d, size_t j) HWY_ATTR {
      auto g = doubles::load(d, up + j);
      if (counts) {
        const auto centred = hn::Sub(doubles::load(d, row + j), hn::LoadU(d, mean + j));
        g = hn::Sub(g, hn::MulAdd(centred, hn::LoadU(d, slope + j), hn::LoadU(d, offset + j)));
      }
      doubles::store(hn::Mul(g, hn::LoadU(d, scale + j)), d, out + j);
    });
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(deviation_sums);
HWY_EXPORT(gradient_sums);
HWY_EXPORT(normalise_rows);
HWY_EXPORT(dx_rows);

/// sums(begin, end, a, b) adds rows [begin, end) to two zeroed rows of partial sums; the totals go to a and b.
template <class Sums>
void two_column_sums(std::size_t rows, std::size_t width, double* scratch, double* total_a, double* total_b, Sums sums) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    double* partial = scratch + begin / kBlockRows * 2 * width;
    std::fill_n(partial, 2 * width, 0.0);
    sums(begin, end, partial, partial + width);
  });
  combine_column_blocks(scratch, row_blocks(rows), 2 * width, width, total_a);
  combine_column_blocks(scratch + width, row_blocks(rows), 2 * width, width, total_b);
}
}  // namespace

std::size_t batch_norm_scratch(std::size_t rows, std::size_t width) { return row_blocks(rows) * 2 * width; }

std::size_t batch_statistics(const float* x, const unsigned char* padding, std::size_t rows, std::size_t width, double* scratch,
                             double* mean, double* var) {
  std::size_t count = 0, first = 0;
  for (std::size_t r = rows; r-- > 0;)
    if (!reference::is_padding(padding, r)) {
      ++count;
      first = r;
    }
  std::fill_n(mean, width, 0.0);
  std::fill_n(var, width, 0.0);
  if (count == 0) return 0;

  const float* shift = x + first * width;
  two_column_sums(rows, width, scratch, mean, var, [=](std::size_t begin, std::size_t end, double* sum, double* squares) {
    HWY_DYNAMIC_DISPATCH(deviation_sums)
    (x + begin * width, padding == nullptr ? nullptr : padding + begin, shift, end - begin, width, sum, squares);
  });
  for (std::size_t j = 0; j < width; ++j) {
    const double off = mean[j] / static_cast<double>(count);  // of the mean from the shift
    const double square = var[j] / static_cast<double>(count);
    mean[j] = static_cast<double>(shift[j]) + off;
    var[j] = square < off * off ? 0.0 : square - off * off;  // rounding must not make it negative; NaN stays NaN
  }
  return count;
}

void batch_norm(const float* x, const double* mean, const double* scale, const float* beta, std::size_t rows, std::size_t width,
                float* y) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(normalise_rows)(x + begin * width, mean, scale, beta, end - begin, width, y + begin * width);
  });
}

void batch_norm_sums(const float* dy, const float* x, const double* mean, const double* rstd, std::size_t rows, std::size_t width,
                     double* scratch, double* sum_dy, double* sum_dy_xhat) {
  two_column_sums(
      rows, width, scratch, sum_dy, sum_dy_xhat, [=](std::size_t begin, std::size_t end, double* sum, double* sum_xhat) {
        HWY_DYNAMIC_DISPATCH(gradient_sums)(dy + begin * width, x + begin * width, mean, rstd, end - begin, width, sum, sum_xhat);
      });
}

void batch_norm_dx(const float* dy, const float* x, const unsigned char* padding, const double* mean, const double* scale,
                   const double* offset, const double* slope, std::size_t rows, std::size_t width, float* dx) {
  parallel_ranges(rows, kBlockRows, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(dx_rows)
    (dy + begin * width, x + begin * width, padding == nullptr ? nullptr : padding + begin, mean, scale, offset, slope,
     end - begin, width, dx + begin * width);
  });
}

}  // namespace addnorm::kernels
#endif
