// Gradients of the fused Add & Norm: while one row is written the next is measured; sums over rows by blocks of 64.
#include <algorithm>

#include "addnorm/core/parallel.h"
#include "kernels/norm/add_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/add_norm_backward.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/norm/add_norm_backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The same where float would overflow on the way, or where nothing arrives at y. Rare, so a plain loop.
template <bool kLayer>
void row_in_double(const AddNormGrad& n, size_t r, float* dgamma, float* dbeta, float* out) {
  const float* dy = n.dy ? n.dy + r * reference::stride_or(n.dy_stride, n.width) : nullptr;
  const float* dsum = n.dsum ? n.dsum + r * reference::stride_or(n.dsum_stride, n.width) : nullptr;
  const float* s = n.sum ? n.sum + r * reference::stride_or(n.sum_stride, n.width) : nullptr;
  const auto xhat = [&](size_t i) {
    return (static_cast<double>(s[i]) - (kLayer ? n.mean[r] : 0.0)) * static_cast<double>(n.rstd[r]);
  };
  const auto g = [&](size_t i) { return static_cast<double>(dy[i] * reference::gain_at(n.gamma, n.gain_is_one_plus_gamma, i)); };
  double mean_g = 0, mean_gx = 0;
  for (size_t i = 0; dy && i < n.width; ++i) {
    mean_g += kLayer ? g(i) : 0.0;
    mean_gx += g(i) * xhat(i);
    if (dgamma) dgamma[i] += static_cast<float>(static_cast<double>(dy[i]) * xhat(i));
    if (dbeta) dbeta[i] += dy[i];
  }
  mean_g /= static_cast<double>(n.width);
  mean_gx *= outside_root_factor(kLayer, n, r) / static_cast<double>(n.width);
  for (size_t i = 0; i < n.width; ++i) {
    const double norm = dy ? static_cast<double>(n.rstd[r]) * (g(i) - mean_g - xhat(i) * mean_gx) : 0.0;
    out[i] = static_cast<float>(norm) + (dsum ? dsum[i] : 0.0f);
  }
}

/// dx = a * total, df = keep * (b * total), da += total * x, db += total * keep * f for one row.
void spread_row(const AddNormGrad& n, const DropoutKeys& keys, size_t r, const float* total, float* da, float* db) {
  const auto row_of = [&](auto* p, size_t stride) { return p ? p + r * reference::stride_or(stride, n.width) : nullptr; };
  const float* x = row_of(n.x, n.x_stride);
  const float* f = row_of(n.f, n.f_stride);
  float* dx = row_of(n.dx, n.dx_stride);
  float* df = row_of(n.df, n.df_stride);
  const Keep keep{keys, n.dropout.p != 0.0f, n.dropout.first_row + r};
  for_each_vector(n.width, [&](auto tag, size_t i) HWY_ATTR {
    const auto t = hn::LoadU(tag, total + i);
    if (da) hn::StoreU(hn::MulAdd(t, hn::LoadU(tag, x + i), hn::LoadU(tag, da + i)), tag, da + i);
    if (db) hn::StoreU(hn::MulAdd(t, keep.apply(tag, hn::LoadU(tag, f + i), i), hn::LoadU(tag, db + i)), tag, db + i);
    if (df) hn::StoreU(keep.apply(tag, hn::Mul(coefficient_at(tag, n.b, i), t), i), tag, df + i);
    if (dx) hn::StoreU(hn::Mul(coefficient_at(tag, n.a, i), t), tag, dx + i);
  });
}

/// The rows of a call, and the single stages of one of them.
template <bool kLayer, bool kStream, bool kFull>
class GradRows {
 public:
  HWY_INLINE GradRows(const AddNormGrad& n, bool spread, const GradPartials& partial)
      : n_(n), spread_(spread), partial_(partial) {}

  HWY_INLINE bool in_float(size_t r) const {
    return n_.dy && !near_float_limits(kLayer ? n_.mean[r] : 0.0, static_cast<double>(n_.rstd[r]));
  }
  HWY_INLINE GradRow<kLayer, kFull> at(size_t r) const {
    return {n_.dy + r * dy_stride_,
            n_.dsum ? n_.dsum + r * dsum_stride_ : nullptr,
            n_.sum + r * sum_stride_,
            Normaliser<kLayer>(kLayer ? n_.mean[r] : 0.0, n_.rstd[r]),
            {n_.gamma, nullptr, n_.gain_is_one_plus_gamma}};
  }
  HWY_INLINE GradMeasure<kLayer, kFull> measure(const GradRow<kLayer, kFull>& row) const {
    return {row, partial_.dgamma, partial_.dbeta};
  }
  HWY_INLINE Averages averages(GradMeasure<kLayer, kFull>& measured, size_t r) const {
    Averages mean = measured.result(per_element_);
    if (!kLayer) mean.gx = static_cast<float>(static_cast<double>(mean.gx) * outside_root_factor(kLayer, n_, r));
    return mean;
  }
  HWY_INLINE GradWrite<kLayer, kStream, kFull> write(const GradRow<kLayer, kFull>& row, Averages mean, size_t r) const {
    return {row, mean, kStream && ahead_ > 1 ? ahead_of(r) : RowAhead{}, total(r)};
  }
  HWY_INLINE float* total(size_t r) const { return spread_ ? partial_.row : n_.dx + r * dx_stride_; }
  HWY_INLINE void spread(size_t r) const {
    if (spread_) spread_row(n_, keys_, r, total(r), partial_.da, partial_.db);
  }

 private:
  HWY_INLINE RowAhead ahead_of(size_t r) const {
    const size_t later = r + ahead_ < n_.rows ? r + ahead_ : r;
    return {n_.dy + later * dy_stride_, n_.dsum + later * dsum_stride_, n_.sum + later * sum_stride_};
  }

  const AddNormGrad& n_;
  bool spread_;
  GradPartials partial_;
  size_t dy_stride_ = reference::stride_or(n_.dy_stride, n_.width);
  size_t dsum_stride_ = reference::stride_or(n_.dsum_stride, n_.width);
  size_t sum_stride_ = reference::stride_or(n_.sum_stride, n_.width);
  size_t dx_stride_ = reference::stride_or(n_.dx_stride, n_.width);
  size_t ahead_ = rows_ahead(n_.width);
  double per_element_ = 1.0 / static_cast<double>(n_.width);
  DropoutKeys keys_{n_.dropout.key, n_.dropout.p};
};

template <bool kLayer, bool kStream, bool kFull>
HWY_INLINE void block_of_kind(const AddNormGrad& n, bool spread, size_t begin, size_t end, const GradPartials& partial) {
  const GradRows<kLayer, kStream, kFull> rows(n, spread, partial);
  const auto measured = [&](size_t r) HWY_ATTR {
    auto measure = rows.measure(rows.at(r));
    sweep(n.width, measure);
    return rows.averages(measure, r);
  };
  const auto write = [&](size_t r, Averages mean) HWY_ATTR {
    auto alone = rows.write(rows.at(r), mean, r);
    sweep(n.width, alone);
  };
  bool all_in_float = true;
  for (size_t r = begin; r < end; ++r) all_in_float = all_in_float && rows.in_float(r);
  if (!all_in_float) {
    for (size_t r = begin; r < end; ++r) {
      rows.in_float(r) ? write(r, measured(r)) : row_in_double<kLayer>(n, r, partial.dgamma, partial.dbeta, rows.total(r));
      rows.spread(r);
    }
    return;
  }
  // While a row is written, the one below it is measured.
  auto row = rows.at(begin);
  Averages mean = measured(begin);
  for (size_t r = begin; r + 1 < end; ++r) {
    const auto below = rows.at(r + 1);
    auto measure = rows.measure(below);
    const auto writing = rows.write(row, mean, r);
    sweep(n.width, measure, writing);
    mean = rows.averages(measure, r + 1);
    row = below;
    rows.spread(r);
  }
  write(end - 1, mean);
  rows.spread(end - 1);
}

void backward_block(NormKind kind, bool stream, bool spread, const AddNormGrad& n, size_t begin, size_t end,
                    const GradPartials& partial) {
  const bool layer = kind == NormKind::layer;
  const bool full = n.dy && n.dsum && n.gamma && !n.gain_is_one_plus_gamma && partial.dgamma && partial.dbeta;
  if (stream && full && layer) {
    block_of_kind<true, true, true>(n, spread, begin, end, partial);
    hwy::FlushStream();
  } else if (full) {
    layer ? block_of_kind<true, false, true>(n, spread, begin, end, partial)
          : block_of_kind<false, false, true>(n, spread, begin, end, partial);
  } else {
    layer ? block_of_kind<true, false, false>(n, spread, begin, end, partial)
          : block_of_kind<false, false, false>(n, spread, begin, end, partial);
  }
}

}  // namespace
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm::kernels {
namespace {
HWY_EXPORT(backward_block);

/// out[i] = sum over blocks of partials[block][i], in block order, in double.
void combine_columns(const float* partials, std::size_t blocks, std::size_t block_stride, std::size_t width, float* out) {
  constexpr std::size_t kColumns = 256;
  parallel_ranges(width, kColumns, [=](std::size_t begin, std::size_t end) {
    double total[kColumns] = {};
    for (std::size_t block = 0; block < blocks; ++block) {
      const float* part = partials + block * block_stride + begin;
      for (std::size_t i = 0; i < end - begin; ++i) total[i] += static_cast<double>(part[i]);
    }
    for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<float>(total[i - begin]);
  });
}

/// The same for a coefficient that is one number: over blocks, then over features.
void combine_all(const float* partials, std::size_t blocks, std::size_t block_stride, std::size_t width, float* out) {
  double total = 0;
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t i = 0; i < width; ++i) total += static_cast<double>(partials[block * block_stride + i]);
  *out = static_cast<float>(total);
}

}  // namespace

void add_norm_grad(NormKind kind, const AddNormGrad& args, float* scratch) {
  if (args.rows == 0 || args.width == 0) {
    reference::add_norm_grad(kind, args);  // nothing to add up: the sums over rows are 0
    return;
  }
  const GradLayout layout(args);
  const bool stream = use_streaming(args);
  parallel_ranges(args.rows, kBlockRows, [&](std::size_t begin, std::size_t end) {
    const GradPartials partial = layout.block(scratch, begin / kBlockRows);
    for (float* sums : {partial.dgamma, partial.dbeta, partial.da, partial.db})
      if (sums) std::fill_n(sums, args.width, 0.0f);
    HWY_DYNAMIC_DISPATCH(backward_block)(kind, stream, layout.spread, args, begin, end, partial);
  });

  const GradPartials first = layout.block(scratch, 0);
  const auto combine = [&](const float* partials, bool per_feature, float* out) {
    if (!out) return;
    per_feature ? combine_columns(partials, layout.blocks, layout.block_floats, args.width, out)
                : combine_all(partials, layout.blocks, layout.block_floats, args.width, out);
  };
  combine(first.dgamma, true, args.dgamma);
  combine(first.dbeta, true, args.dbeta);
  combine(first.da, args.a.per_feature != nullptr, args.da);
  combine(first.db, args.b.per_feature != nullptr, args.db);
}

}  // namespace addnorm::kernels
#endif
