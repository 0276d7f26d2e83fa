#include "kernels/elementwise/embedding.h"

#include <cstring>

#include "addnorm/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/embedding.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// dtable[id, begin..end) += dy[i, begin..end) for every position i, in order.
void scatter_add_columns(const float* dy, const std::int32_t* ids, std::size_t count, std::size_t width, std::size_t begin,
                         std::size_t end, float* dtable) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; ++i) {
    const float* from = dy + i * width;
    float* to = dtable + static_cast<std::size_t>(ids[i]) * width;
    std::size_t c = begin;
    for (; c + lanes <= end; c += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + c), hn::LoadU(d, from + c)), d, to + c);
    for (; c < end; ++c) to[c] += from[c];
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(scatter_add_columns);
constexpr std::size_t kTableColumns = 32;  // of one task: two cache lines, so a narrow table still gives several tasks
constexpr std::size_t kFloats = 65536;     // copied or cleared per task
}  // namespace

void embedding(const float* table, const std::int32_t* ids, std::size_t count, std::size_t width, float* y) {
  parallel_ranges(count, rows_per_block(width, kFloats), [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      std::memcpy(y + i * width, table + static_cast<std::size_t>(ids[i]) * width, width * sizeof(float));
  });
}

void embedding_grad(const float* dy, const std::int32_t* ids, std::size_t count, std::size_t width, std::size_t vocabulary,
                    float* dtable) {
  parallel_ranges(vocabulary * width, kFloats,
                  [=](std::size_t begin, std::size_t end) { std::memset(dtable + begin, 0, (end - begin) * sizeof(float)); });
  parallel_ranges(width, kTableColumns, [=](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(scatter_add_columns)(dy, ids, count, width, begin, end, dtable);
  });
}

}  // namespace addnorm::kernels
#endif
