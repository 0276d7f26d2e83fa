#include "kernels/optimizer/updates.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/adafactor.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/doubles-inl.h"
#include "kernels/simd/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

double squares_block(const float* x, size_t n) {
  return doubles::sum_of(n, [=](auto d, size_t i) HWY_ATTR {
    const auto v = doubles::load(d, x + i);
    return hn::Mul(v, v);
  });
}

void square_sums_block(const float* g, size_t rows, size_t width, double* of_rows, double* of_columns) {
  std::fill_n(of_columns, width, 0.0);
  for (size_t r = 0; r < rows; ++r) of_rows[r] = squares_block(g + r * width, width);
  doubles::add_to_columns(rows, width, of_columns, [=](auto d, size_t r, size_t c, auto& total) HWY_ATTR {
    const auto x = doubles::load(d, g + r * width + c);
    total = hn::Add(total, hn::Mul(x, x));
  });
}

void follow_squares_block(const float* g, double gain, double scale, size_t n, float* v) {
  const hn::ScalableTag<float> d;
  const auto gains = hn::Set(d, static_cast<float>(gain)), scales = hn::Set(d, static_cast<float>(scale));
  const auto body = [=](const float* pg, float* pv) HWY_ATTR {
    const auto x = hn::Mul(scales, hn::LoadU(d, pg)), before = hn::LoadU(d, pv);
    hn::StoreU(hn::MulAdd(gains, hn::MulSub(x, x, before), before), d, pv);
  };
  for_each_vector(n, body, g, v);
}

double update_squares_block(const float* g, const float* row, const float* column, double least, size_t rows, size_t width) {
  double total = 0;
  for (size_t r = 0; r < rows; ++r) {
    const float* gradient = g + r * width;
    const double factor = row == nullptr ? 1 : static_cast<double>(row[r]);
    total += doubles::sum_of(width, [=](auto d, size_t i) HWY_ATTR {
      const auto x = doubles::load(d, gradient + i);
      const auto variance = hn::Mul(hn::Set(d, factor), doubles::load(d, column + i));
      return hn::Div(hn::Mul(x, x), hn::Max(variance, hn::Set(d, least)));
    });
  }
  return total;
}

void adafactor_update_block(const float* g, const float* row, const float* column, double least, double shrink, double step_size,
                            size_t rows, size_t width, float* p) {
  const hn::ScalableTag<float> d;
  const auto floor = hn::Set(d, static_cast<float>(least)), off = hn::Set(d, static_cast<float>(shrink));
  const auto step = hn::Set(d, static_cast<float>(step_size));
  for (size_t r = 0; r < rows; ++r) {
    const auto factor = hn::Set(d, row == nullptr ? 1.0f : row[r]);
    const auto body = [=](const float* pg, const float* pc, float* pp) HWY_ATTR {
      const auto before = hn::LoadU(d, pp);
      const auto root = hn::Sqrt(hn::Max(hn::Mul(factor, hn::LoadU(d, pc)), floor));
      hn::StoreU(hn::Sub(before, hn::MulAdd(step, hn::Div(hn::LoadU(d, pg), root), hn::Mul(off, before))), d, pp);
    };
    for_each_vector(width, body, g + r * width, column, p + r * width);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(squares_block);
HWY_EXPORT(square_sums_block);
HWY_EXPORT(follow_squares_block);
HWY_EXPORT(update_squares_block);
HWY_EXPORT(adafactor_update_block);
}  // namespace

double squares(const float* x, std::size_t n) { return HWY_DYNAMIC_DISPATCH(squares_block)(x, n); }
void square_sums(const float* g, std::size_t rows, std::size_t width, double* of_rows, double* of_columns) {
  HWY_DYNAMIC_DISPATCH(square_sums_block)(g, rows, width, of_rows, of_columns);
}
void follow_squares(const float* g, double gain, double scale, std::size_t n, float* v) {
  HWY_DYNAMIC_DISPATCH(follow_squares_block)(g, gain, scale, n, v);
}
double update_squares(const float* g, const float* row, const float* column, double least, std::size_t rows, std::size_t width) {
  return HWY_DYNAMIC_DISPATCH(update_squares_block)(g, row, column, least, rows, width);
}
void adafactor_update(const float* g, const float* row, const float* column, double least, double shrink, double step_size,
                      std::size_t rows, std::size_t width, float* p) {
  HWY_DYNAMIC_DISPATCH(adafactor_update_block)(g, row, column, least, shrink, step_size, rows, width, p);
}

}  // namespace addnorm::kernels
#endif
