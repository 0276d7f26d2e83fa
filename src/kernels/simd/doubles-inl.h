// Loops over float arrays in double precision. Included once per instruction set, after highway.h.
#if defined(ADDNORM_KERNELS_DOUBLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_DOUBLES_INL_H_
#undef ADDNORM_KERNELS_DOUBLES_INL_H_
#else
#define ADDNORM_KERNELS_DOUBLES_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace doubles {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

/// One rounding to float per element.
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D /*d*/, float* to) {
  const hn::Rebind<float, D> df;
  hn::StoreU(hn::DemoteTo(df, v), df, to);
}

/// body(d, i) for i = 0, lanes, 2 * lanes, ... with a whole vector, then for each element that is left with one lane.
template <class Body>
HWY_INLINE void for_each(size_t n, Body body) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(d, i);
  for (; i < n; ++i) body(one, i);
}

/// The sum of term(d, i) over [0, n). Four sums side by side: one alone would wait for the latency of each addition.
template <class Term>
HWY_INLINE double sum_of(size_t n, Term term) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, term(d, i));
    s1 = hn::Add(s1, term(d, i + lanes));
    s2 = hn::Add(s2, term(d, i + 2 * lanes));
    s3 = hn::Add(s3, term(d, i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, term(d, i));
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += hn::GetLane(term(one, i));
  return total;
}

/// Two sums per column over `rows` rows: add(d, r, j, a, b) adds what row r has at columns j.. to the vectors a and b.
/// Rows in order, so a column's sum has the same bits on every target; four at a time, to load and store the sums less often.
template <class AddTerms>
HWY_INLINE void add_to_columns(size_t rows, size_t width, double* sum_a, double* sum_b, AddTerms add) {
  for (size_t first = 0; first < rows; first += 4) {
    const size_t end = rows - first < 4 ? rows : first + 4;
    for_each(width, [=](auto d, size_t j) HWY_ATTR {
      auto a = hn::LoadU(d, sum_a + j);
      auto b = hn::LoadU(d, sum_b + j);
      for (size_t r = first; r < end; ++r) add(d, r, j, a, b);
      hn::StoreU(a, d, sum_a + j);
      hn::StoreU(b, d, sum_b + j);
    });
  }
}

/// The same with one sum per column: add(d, r, j, a).
template <class AddTerm>
HWY_INLINE void add_to_columns(size_t rows, size_t width, double* sum, AddTerm add) {
  for (size_t first = 0; first < rows; first += 4) {
    const size_t end = rows - first < 4 ? rows : first + 4;
    for_each(width, [=](auto d, size_t j) HWY_ATTR {
      auto a = hn::LoadU(d, sum + j);
      for (size_t r = first; r < end; ++r) add(d, r, j, a);
      hn::StoreU(a, d, sum + j);
    });
  }
}

}  // namespace doubles
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
