// sum = a * x + b * drop(f);  y = norm(sum) * gain + beta: rows in flight, so that memory and arithmetic overlap.
#include "addnorm/core/parallel.h"
#include "kernels/add_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/add_norm_forward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/add_norm_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a block in flight, by groups: while row r is written, row r + group is measured and row r + 2 * group laid down. A
/// wide row is a group of its own; narrow ones go by eight, because the root and the division of a row take longer than its
/// sums, and those of eight rows run side by side.
// Not inlined: one function of all variants takes the compiler a minute.
template <bool kLayer, bool kStream, bool kFull, class LayDown, class RowAt>
HWY_NOINLINE void pipeline(const AddNorm& n, size_t begin, size_t end, bool write_sum, LayDown lay_down, RowAt row_at) {
  using Row = decltype(row_at(begin));
  constexpr size_t kGroup = 8;
  const size_t group = n.width < 256 ? kGroup : 1;
  const size_t sum_stride = reference::stride_or(n.sum_stride, n.width);
  const size_t y_stride = reference::stride_or(n.y_stride, n.width);
  const EpsPlace place = kLayer ? EpsPlace::inside_root : n.eps_place;
  const Affine<kFull> affine{n.gamma, n.beta, n.gain_is_one_plus_gamma};
  const size_t distance = rows_ahead(n.width);
  Moments moments[kGroup];
  double rstd[kGroup];

  const auto lay_down_alone = [&](size_t r) HWY_ATTR {
    if (r >= end) return;
    auto stage = lay_down(r);
    sweep(n.width, stage);
  };
  const auto measure_alone = [&](size_t r) HWY_ATTR {
    if (r >= end) return Moments{};
    Measure<kLayer, Row> stage(row_at(r));
    sweep(n.width, stage);
    return stage.result(n.width);
  };
  const auto write_row = [&](size_t r, const Moments& m, double rstd_of_row) HWY_ATTR {
    const RowOutputs out{write_sum ? n.sum + r * sum_stride : nullptr, n.y ? n.y + r * y_stride : nullptr};
    if (near_float_limits(m.mean, rstd_of_row)) {
      write_in_double(row_at(r), n.width, affine, m.mean, rstd_of_row, out);
      lay_down_alone(r + 2 * group);
      return measure_alone(r + group);
    }
    Write<kLayer, kStream, kFull, Row> write{row_at(r), row_at(r + distance < n.rows ? r + distance : r), affine,
                                             Normaliser<kLayer>(m.mean, static_cast<float>(rstd_of_row)), out};
    if (r + 2 * group >= end) {
      sweep(n.width, write);
      return measure_alone(r + group);
    }
    auto lay = lay_down(r + 2 * group);
    Measure<kLayer, Row> measure(row_at(r + group));
    sweep(n.width, lay, measure, write);
    return measure.result(n.width);
  };

  for (size_t r = begin; r < begin + 2 * group; ++r) lay_down_alone(r);
  for (size_t j = 0; j < group; ++j) moments[j] = measure_alone(begin + j);
  for (size_t first = begin; first < end; first += group) {
    const size_t count = HWY_MIN(group, end - first);
    for (size_t j = 0; j < count; ++j) {
      rstd[j] = reference::reciprocal_root(moments[j].second, static_cast<double>(n.eps), place);
      if (n.mean) n.mean[first + j] = moments[j].mean;
      if (n.rstd) n.rstd[first + j] = static_cast<float>(rstd[j]);
    }
    for (size_t j = 0; j < count; ++j) moments[j] = write_row(first + j, moments[j], rstd[j]);
  }
}

template <bool kLayer, bool kStream>
HWY_INLINE void block_of_kind(const AddNorm& n, size_t begin, size_t end) {
  const size_t x_stride = reference::stride_or(n.x_stride, n.width);
  const size_t f_stride = reference::stride_or(n.f_stride, n.width);
  const bool plain = n.a.is_one() && n.b.is_one() && n.dropout.p == 0.0f;
  const bool full = n.y && n.gamma && n.beta && !n.gain_is_one_plus_gamma;
  const auto nothing = [](size_t) HWY_ATTR { return Nothing{}; };
  if (plain && !n.f) {
    pipeline<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, nothing, StoredRows{n.x, x_stride});
    return;
  }
  if (plain && (kStream || !n.sum)) {
    const RowsOfSums sums{n.x, x_stride, n.f, f_stride};
    full ? pipeline<kLayer, kStream, true>(n, begin, end, n.sum != nullptr, nothing, sums)
         : pipeline<kLayer, kStream, false>(n, begin, end, n.sum != nullptr, nothing, sums);
    return;
  }
  // The sum is laid down where it is wanted, or in y's place, and the other stages find it in L1.
  float* base = n.sum ? n.sum : n.y;
  const size_t stride = reference::stride_or(n.sum ? n.sum_stride : n.y_stride, n.width);
  if (plain) {
    const auto add = [&](size_t r) HWY_ATTR { return Add{n.x + r * x_stride, n.f + r * f_stride, base + r * stride}; };
    full ? pipeline<kLayer, false, true>(n, begin, end, false, add, StoredRows{base, stride})
         : pipeline<kLayer, false, false>(n, begin, end, false, add, StoredRows{base, stride});
  } else {
    const DropoutKeys keys(n.dropout.key, n.dropout.p);
    const auto combine = [&](size_t r) HWY_ATTR {
      return Combine{n, n.x + r * x_stride, n.f ? n.f + r * f_stride : nullptr,
                     Keep{keys, n.dropout.p != 0.0f, n.dropout.first_row + r}, base + r * stride};
    };
    pipeline<kLayer, false, false>(n, begin, end, false, combine, StoredRows{base, stride});
  }
}

void forward_block(NormKind kind, bool stream, const AddNorm& n, size_t begin, size_t end) {
  const bool layer = kind == NormKind::layer;
  if (stream) {
    layer ? block_of_kind<true, true>(n, begin, end) : block_of_kind<false, true>(n, begin, end);
    hwy::FlushStream();
  } else {
    layer ? block_of_kind<true, false>(n, begin, end) : block_of_kind<false, false>(n, begin, end);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(forward_block);
}  // namespace

void add_norm(NormKind kind, const AddNorm& args) {
  if (args.width == 0) return;
  const bool stream = use_streaming(args);
  parallel_ranges(args.rows, kAddNormBlockRows, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(forward_block)(kind, stream, args, begin, end);
  });
}

}  // namespace addnorm::kernels
#endif
