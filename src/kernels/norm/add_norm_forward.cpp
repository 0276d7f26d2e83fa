// sum = a * x + b * drop(f);  y = norm(sum) * gain + beta: rows in flight, so that memory and arithmetic overlap.
#include "addnorm/core/parallel.h"
#include "kernels/norm/add_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/add_norm_forward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/add_norm_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {

// A stage of one row by itself, at the ends of a block. Not inlined: each occurs in many places, and one function of all
// variants takes the compiler a minute.
template <class Stage>
HWY_NOINLINE void lay_down(Stage stage, size_t n) {
  sweep(n, stage);
}
template <bool kLayer, class Row>
HWY_NOINLINE RowSums measured(const Row& row, size_t n) {
  Measure<kLayer, Row> stage(row);
  sweep(n, stage);
  return stage.result();
}

/// Rows of a block in flight, by groups: while row r is written, row r + group is measured and row r + 2 * group laid down. A
/// wide row is a group of its own; narrow ones go by eight, because the root and the division at the end of a row take longer
/// than its sums, and those of eight rows run side by side.
template <bool kLayer, bool kStream, bool kFull, class Sums, class Rows>
HWY_NOINLINE void pipeline(const AddNorm& n, size_t begin, size_t end, const Sums& sums, const Rows& rows) {
  using Row = decltype(rows.row(begin));
  using WriteRow = Write<kLayer, kStream, kFull, Sums::kLaysDown, Row>;
  const size_t group = n.width < kNarrowWidth ? GroupMoments<kLayer>::kRows : 1;
  const size_t sum_stride = reference::stride_or(n.sum_stride, n.width);
  const size_t y_stride = reference::stride_or(n.y_stride, n.width);
  const EpsPlace place = kLayer ? EpsPlace::inside_root : n.eps_place;
  const Affine<kFull> affine{n.gamma, n.beta, n.gain_is_one_plus_gamma};
  const size_t distance = rows_ahead(n.width);
  const double per_element = 1.0 / static_cast<double>(n.width);
  GroupMoments<kLayer> moments;

  const auto write_row = [&](size_t r, double mean, double rstd) HWY_ATTR {
    const RowOutputs out{n.sum ? n.sum + r * sum_stride : nullptr, n.y ? n.y + r * y_stride : nullptr};
    const bool in_float = !near_float_limits(mean, rstd);
    const WriteRow write{rows.row(r), rows.row(r + distance < n.rows ? r + distance : r), affine,
                         Normaliser<kLayer>(mean, static_cast<float>(rstd)), out};
    if (in_float && r + 2 * group < end) {
      auto lay = sums.stage(r + 2 * group);
      Measure<kLayer, Row> measure(rows.row(r + group));
      sweep(n.width, lay, measure, write);
      return measure.result();
    }
    in_float ? sweep(n.width, write) : write_in_double<Sums::kLaysDown>(rows.row(r), n.width, affine, mean, rstd, out);
    if (r + 2 * group < end) lay_down(sums.stage(r + 2 * group), n.width);
    return r + group < end ? measured<kLayer>(rows.row(r + group), n.width) : RowSums{};
  };

  for (size_t r = begin; r < HWY_MIN(end, begin + 2 * group); ++r) lay_down(sums.stage(r), n.width);
  for (size_t j = 0; j < HWY_MIN(group, end - begin); ++j) moments.put(j, measured<kLayer>(rows.row(begin + j), n.width));
  for (size_t first = begin; first < end; first += group) {
    const size_t count = HWY_MIN(group, end - first);
    moments.finish(count, per_element, static_cast<double>(n.eps), place, n.mean ? n.mean + first : nullptr,
                   n.rstd ? n.rstd + first : nullptr);
    for (size_t j = 0; j < count; ++j) moments.put(j, write_row(first + j, moments.mean(j), moments.rstd(j)));
  }
}

/// kFull where y, gain and bias are all there, so that the inner loop asks nothing.
template <bool kLayer, bool kStream, class Sums, class Rows>
HWY_INLINE void pipeline_of(const AddNorm& n, size_t begin, size_t end, const Sums& sums, const Rows& rows) {
  const bool full = n.y && n.gamma && n.beta && !n.gain_is_one_plus_gamma;
  full ? pipeline<kLayer, kStream, true>(n, begin, end, sums, rows) : pipeline<kLayer, kStream, false>(n, begin, end, sums, rows);
}

/// Streaming: a sum that is no more than x + f is computed again by each stage.
template <bool kLayer>
void streaming_block(const AddNorm& n, size_t begin, size_t end) {
  const size_t x_stride = reference::stride_or(n.x_stride, n.width);
  if (n.f) {
    const RowsOfSums rows{n.x, x_stride, n.f, reference::stride_or(n.f_stride, n.width)};
    pipeline_of<kLayer, true>(n, begin, end, NoSums{}, rows);
  } else {
    pipeline_of<kLayer, true>(n, begin, end, NoSums{}, StoredRows{n.x, x_stride});
  }
  hwy::FlushStream();
}

/// Regular stores: the sum is laid down where it is wanted, or in y's place, and the other stages find it in L1.
template <bool kLayer>
void regular_block(const AddNorm& n, bool plain, size_t begin, size_t end) {
  const size_t x_stride = reference::stride_or(n.x_stride, n.width);
  const size_t f_stride = reference::stride_or(n.f_stride, n.width);
  float* base = n.sum ? n.sum : n.y;
  const size_t stride = reference::stride_or(n.sum ? n.sum_stride : n.y_stride, n.width);
  const StoredRows laid_down{base, stride};
  if (plain && !n.f) {
    pipeline<kLayer, false, false>(n, begin, end, NoSums{}, StoredRows{n.x, x_stride});
  } else if (plain) {
    pipeline_of<kLayer, false>(n, begin, end, PlainSums{n.x, x_stride, n.f, f_stride, base, stride}, laid_down);
  } else {
    const DropoutKeys keys(n.dropout.key, n.dropout.p);
    pipeline<kLayer, false, false>(n, begin, end, CombinedSums{n, keys, x_stride, f_stride, base, stride}, laid_down);
  }
}

void forward_block(NormKind kind, bool stream, const AddNorm& n, size_t begin, size_t end) {
  const bool layer = kind == NormKind::layer;
  const bool plain = n.a.is_one() && n.b.is_one() && n.dropout.p == 0.0f;
  if (stream && plain) {
    layer ? streaming_block<true>(n, begin, end) : streaming_block<false>(n, begin, end);
  } else {
    layer ? regular_block<true>(n, plain, begin, end) : regular_block<false>(n, plain, begin, end);
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
  // Long blocks for narrow rows: a block's first and last groups are not in flight with others.
  const std::size_t block_rows = args.width < kNarrowWidth ? 4 * kBlockRows : kBlockRows;
  parallel_ranges(args.rows, block_rows, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(forward_block)(kind, stream, args, begin, end);
  });
}

}  // namespace addnorm::kernels
#endif
