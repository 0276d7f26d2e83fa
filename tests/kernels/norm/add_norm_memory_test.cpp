// Where the arrays of the fused Add & Norm may lie: in place, off alignment, strided, next to unreadable pages. Id: N-10.
#include <memory>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/norms/norm_case.h"

namespace addnorm {
namespace {

using test::Edge;
using test::Guarded;
using test::NormCase;

class AddNormMemory : public test::EveryTargetOnOneThread {};
ADDNORM_EVERY_TARGET(AddNormMemory);

constexpr std::size_t kInPlaceWidths[] = {5, 16, 64, 67};

TEST_P(AddNormMemory, N10_ForwardGivesTheSameBitsInPlace) {
  for (const bool layer : {true, false})
    for (const std::size_t width : kInPlaceWidths)
      for (const bool scaled : {false, true})  // a and b not 1 take another path
        for (const bool swapped : {false, true}) {
          NormCase apart(70, width), in_place(70, width);
          apart.layer = in_place.layer = layer;
          AddNorm want = apart.forward_args();
          AddNorm args = in_place.forward_args();
          args.sum = swapped ? in_place.f.data() : in_place.x.data();
          args.y = swapped ? in_place.x.data() : in_place.f.data();
          if (scaled) {
            want.a = args.a = {0.5f};
            want.b = args.b = {-1.25f};
            want.dropout = args.dropout = {.p = 0.3f, .key = 9};
          }
          apart.forward(want);
          in_place.forward(args);
          EXPECT_SAME_BITS(swapped ? in_place.f : in_place.x, apart.sum);
          EXPECT_SAME_BITS(swapped ? in_place.x : in_place.f, apart.y);
        }
}

TEST_P(AddNormMemory, N10_BackwardGivesTheSameBitsInPlace) {
  for (const bool layer : {true, false})
    for (const std::size_t width : kInPlaceWidths)
      for (const Stores stores : {Stores::regular, Stores::streaming})
        for (auto input : {&NormCase::dy, &NormCase::dsum, &NormCase::sum}) {
          NormCase apart(70, width), in_place(70, width);
          apart.layer = in_place.layer = layer;
          apart.run();
          in_place.forward(in_place.forward_args());
          AddNormGrad args = in_place.backward_args();
          args.stores = stores;
          args.dx = args.df = (in_place.*input).data();
          in_place.backward(args);
          EXPECT_SAME_BITS(in_place.*input, apart.dx);
          EXPECT_SAME_BITS(in_place.dgamma, apart.dgamma);
          EXPECT_SAME_BITS(in_place.dbeta, apart.dbeta);
        }
}

TEST_P(AddNormMemory, N10_SeparateGradientsOfBothTermsMayReplaceTheirReaders) {
  for (const std::size_t width : kInPlaceWidths) {
    NormCase c(70, width), apart(70, width);
    std::vector<float> df(70 * width);
    for (NormCase* n : {&c, &apart}) n->forward(n->forward_args());
    AddNormGrad want = apart.backward_args();
    want.a = {2.0f};
    want.dropout = {.p = 0.2f, .key = 3};
    AddNormGrad args = c.backward_args();
    args.a = want.a;
    args.dropout = want.dropout;
    want.df = df.data();
    args.dx = c.dy.data();
    args.df = c.sum.data();
    apart.backward(want);
    c.backward(args);
    EXPECT_SAME_BITS(c.dy, apart.dx);
    EXPECT_SAME_BITS(c.sum, df);
  }
}

/// A copy that starts `shift` floats into its buffer and keeps `gap` floats, set to a mark, between rows.
struct Placed {
  static constexpr float kMark = 12345.0f;
  std::vector<float> memory;
  std::size_t shift, width, stride;
  Placed(const std::vector<float>& values, std::size_t row_width, std::size_t offset, std::size_t gap)
      : memory(offset + (values.size() / row_width) * (row_width + gap) + 16, kMark),
        shift(offset),
        width(row_width),
        stride(row_width + gap) {
    for (std::size_t i = 0; i < values.size(); ++i) memory[shift + i / width * stride + i % width] = values[i];
  }
  float* data() { return memory.data() + shift; }
  std::vector<float> values(std::size_t rows) const {
    std::vector<float> out;
    for (std::size_t i = 0; i < rows * width; ++i) out.push_back(memory[shift + i / width * stride + i % width]);
    return out;
  }
  bool marks_stand(std::size_t rows) const {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool inside = i >= shift && (i - shift) / stride < rows && (i - shift) % stride < width;
      if (!inside && memory[i] != kMark) return false;
    }
    return true;
  }
};

TEST_P(AddNormMemory, N10_MisalignedPointersAndStridedRowsGiveTheSameBitsAndWriteNothingBetween) {
  constexpr std::size_t kRows = 9;
  for (const bool layer : {true, false})
    for (const std::size_t width : {1u, 6u, 16u, 32u, 75u})
      for (const std::size_t gap : {0u, 1u, 16u}) {
        NormCase c(kRows, width);
        c.layer = layer;
        c.run();
        Placed x(c.x, width, 1, gap), f(c.f, width, 3, gap + 2), gamma(c.gamma, width, 1, 0), beta(c.beta, width, 5, 0);
        Placed sum(std::vector(kRows * width, 0.0f), width, 1, gap), y(std::vector(kRows * width, 0.0f), width, 7, gap + 1);
        Placed dy(c.dy, width, 1, gap), dsum(c.dsum, width, 2, gap + 5), dx(std::vector(kRows * width, 0.0f), width, 1, gap);
        Placed dgamma(c.dgamma, width, 3, 0), dbeta(c.dbeta, width, 1, 0);
        AddNorm forward = c.forward_args();
        forward.x = x.data(), forward.f = f.data(), forward.gamma = gamma.data(), forward.beta = beta.data();
        forward.sum = sum.data(), forward.y = y.data(), forward.stores = Stores::streaming;
        forward.x_stride = x.stride, forward.f_stride = f.stride, forward.sum_stride = sum.stride, forward.y_stride = y.stride;
        c.forward(forward);
        AddNormGrad backward = c.backward_args();
        backward.dy = dy.data(), backward.dsum = dsum.data(), backward.sum = sum.data(), backward.gamma = gamma.data();
        backward.dx = backward.df = dx.data(), backward.dgamma = dgamma.data(), backward.dbeta = dbeta.data();
        backward.dy_stride = dy.stride, backward.dsum_stride = dsum.stride, backward.sum_stride = sum.stride;
        backward.dx_stride = backward.df_stride = dx.stride, backward.stores = Stores::streaming;
        c.backward(backward);
        EXPECT_SAME_BITS(sum.values(kRows), c.sum);
        EXPECT_SAME_BITS(y.values(kRows), c.y);
        EXPECT_SAME_BITS(dx.values(kRows), c.dx);
        EXPECT_SAME_BITS(dgamma.values(1), c.dgamma);
        EXPECT_SAME_BITS(dbeta.values(1), c.dbeta);
        for (const Placed* out : {&sum, &y, &dx}) EXPECT_TRUE(out->marks_stand(kRows));
        for (const Placed* out : {&dgamma, &dbeta}) EXPECT_TRUE(out->marks_stand(1));
      }
}

/// Every buffer of one problem, forward and backward with separate dx and df, between unreadable pages.
struct GuardedCase {
  Guarded<float> x, f, gamma, beta, a, b, dy, dsum;
  Guarded<float> sum, y, rstd, dx, df, dgamma, dbeta, da, db;
  Guarded<double> mean;
  GuardedCase(const NormCase& c, Edge edge)
      : x(c.x, edge),
        f(c.f, edge),
        gamma(c.gamma, edge),
        beta(c.beta, edge),
        a(c.gamma, edge),
        b(c.beta, edge),
        dy(c.dy, edge),
        dsum(c.dsum, edge),
        sum(c.x.size(), edge),
        y(c.x.size(), edge),
        rstd(c.rows, edge),
        dx(c.x.size(), edge),
        df(c.x.size(), edge),
        dgamma(c.width, edge),
        dbeta(c.width, edge),
        da(c.width, edge),
        db(c.width, edge),
        mean(c.rows, edge) {}

  void run(const NormCase& c, Stores stores, bool spread) {
    AddNorm forward{.rows = c.rows,
                    .width = c.width,
                    .x = x.data(),
                    .f = f.data(),
                    .gamma = gamma.data(),
                    .beta = beta.data(),
                    .stores = stores,
                    .sum = sum.data(),
                    .y = y.data(),
                    .mean = c.layer ? mean.data() : nullptr,
                    .rstd = rstd.data()};
    AddNormGrad backward{.rows = c.rows,
                         .width = c.width,
                         .dy = dy.data(),
                         .dsum = dsum.data(),
                         .sum = sum.data(),
                         .mean = c.layer ? mean.data() : nullptr,
                         .rstd = rstd.data(),
                         .gamma = gamma.data(),
                         .stores = stores,
                         .dx = dx.data(),
                         .df = dx.data(),
                         .dgamma = dgamma.data(),
                         .dbeta = dbeta.data()};
    if (spread) {
      forward.a.per_feature = backward.a.per_feature = a.data();
      forward.b.per_feature = backward.b.per_feature = b.data();
      forward.dropout = backward.dropout = {.p = 0.5f, .key = 1};
      backward.x = x.data(), backward.f = f.data(), backward.df = df.data(), backward.da = da.data(), backward.db = db.data();
    }
    c.forward(forward);
    c.backward(backward);
  }
};

TEST_P(AddNormMemory, N10_ReadsAndWritesNothingOutsideAnyBuffer) {
  for (const bool layer : {true, false})
    for (const std::size_t width : {1u, 3u, 4u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 33u, 48u, 129u})
      for (const Edge edge : test::kEdges)
        for (const bool spread : {false, true}) {
          NormCase c(67, width);
          c.layer = layer;
          GuardedCase regular(c, edge), streamed(c, edge);
          regular.run(c, Stores::regular, spread);
          streamed.run(c, Stores::streaming, spread);  // streams where the rows start on cache lines
          EXPECT_SAME_BITS(streamed.sum, regular.sum);
          EXPECT_SAME_BITS(streamed.y, regular.y);
          EXPECT_SAME_BITS(streamed.dx, regular.dx);
          EXPECT_SAME_BITS(streamed.dgamma, regular.dgamma);
          EXPECT_SAME_BITS(streamed.db, regular.db);
        }
}

}  // namespace
}  // namespace addnorm
