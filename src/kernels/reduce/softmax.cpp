#include "kernels/reduce/softmax.h"

#include <cmath>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/softmax.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/reduce/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

void softmax_rows(const float* x, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    const double sum = exp_sum(x, width, row_max(x, width), y);
    const auto factor = hn::Set(d, static_cast<float>(1.0 / sum));
    for_each_vector(
        width, [=](float* p) HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, p), factor), d, p); }, y);
  }
}

void softmax_grad_rows(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, dy += width, y += width, dx += width) {
    const double mean = chunked_sum(width, [=](std::size_t i, std::size_t count) HWY_ATTR {
      return hn::Mul(load_some(d, dy + i, count, 0.0f), load_some(d, y + i, count, 0.0f));
    });
    const auto m = hn::Set(d, static_cast<float>(mean));
    const auto body = [=](const float* pdy, const float* py, float* pdx)
                          HWY_ATTR { hn::StoreU(hn::Mul(hn::LoadU(d, py), hn::Sub(hn::LoadU(d, pdy), m)), d, pdx); };
    for_each_vector(width, body, dy, y, dx);
  }
}

void log_softmax_rows(const float* x, std::size_t rows, std::size_t width, float* y) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, x += width, y += width) {
    const float max = row_max(x, width);
    const auto log_sum = hn::Set(d, static_cast<float>(std::log(exp_sum(x, width, max, nullptr))));
    const auto m = hn::Set(d, max);
    const auto body = [=](const float* px, float* py)
                          HWY_ATTR { hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, px), m), log_sum), d, py); };
    for_each_vector(width, body, x, y);
  }
}

void log_softmax_grad_rows(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  const hn::ScalableTag<float> d;
  for (std::size_t r = 0; r < rows; ++r, dy += width, y += width, dx += width) {
    const auto sum = hn::Set(d, static_cast<float>(chunked_sum(width, [=](std::size_t i, std::size_t count) HWY_ATTR {
                               return load_some(d, dy + i, count, 0.0f);
                             })));
    const auto body = [=](const float* pdy, const float* py, float* pdx) HWY_ATTR {
      hn::StoreU(hn::NegMulAdd(exp_or_zero(d, hn::LoadU(d, py)), sum, hn::LoadU(d, pdy)), d, pdx);
    };
    for_each_vector(width, body, dy, y, dx);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(softmax_rows);
HWY_EXPORT(softmax_grad_rows);
HWY_EXPORT(log_softmax_rows);
HWY_EXPORT(log_softmax_grad_rows);
}  // namespace

void softmax(const float* x, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(softmax_rows)(x + begin * width, end - begin, width, y + begin * width);
  });
}
void softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    const std::size_t at = begin * width;
    HWY_DYNAMIC_DISPATCH(softmax_grad_rows)(dy + at, y + at, end - begin, width, dx + at);
  });
}
void log_softmax(const float* x, std::size_t rows, std::size_t width, float* y) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(log_softmax_rows)(x + begin * width, end - begin, width, y + begin * width);
  });
}
void log_softmax_grad(const float* dy, const float* y, std::size_t rows, std::size_t width, float* dx) {
  parallel_ranges(rows, rows_per_block(width), [=](std::size_t begin, std::size_t end) {
    const std::size_t at = begin * width;
    HWY_DYNAMIC_DISPATCH(log_softmax_grad_rows)(dy + at, y + at, end - begin, width, dx + at);
  });
}

}  // namespace addnorm::kernels
#endif
