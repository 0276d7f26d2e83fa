// Every argument that the public fused Add & Norm refuses, and what it says.
#include <limits>

#include "addnorm/core/error.h"
#include "support/norms/norm_case.h"

namespace addnorm {
namespace {

using test::NormCase;
using test::throws_saying;

const char* name_of(const NormCase& c, bool grad) {
  if (grad) return c.layer ? "add_layer_norm_grad" : "add_rms_norm_grad";
  return c.layer ? "add_layer_norm" : "add_rms_norm";
}

/// Changes one good problem and expects the refusal to name the function and the given parts, for both norms.
template <class Change>
void expect_refused(const Change& change, std::initializer_list<std::string> parts) {
  for (const bool layer : {true, false}) {
    NormCase c(3, 8);
    c.layer = layer;
    constexpr bool kGrad = std::is_invocable_v<Change, NormCase&, AddNormGrad&>;
    const auto call = [&] {
      if constexpr (kGrad) {
        AddNormGrad args = c.backward_args();
        change(c, args);
        c.backward(args);
      } else {
        AddNorm args = c.forward_args();
        change(c, args);
        c.forward(args);
      }
    };
    EXPECT_TRUE(throws_saying<UsageError>(call, {std::string(name_of(c, kGrad)) + ":"}));
    EXPECT_TRUE(throws_saying<UsageError>(call, parts));
  }
}

TEST(AddNormChecks, NullPointersThatAreNeeded) {
  expect_refused([](NormCase&, AddNorm& n) { n.x = nullptr; }, {"x is null", "[3, 8]"});
  expect_refused([](NormCase&, AddNorm& n) { n.sum = n.y = nullptr; }, {"both sum and y are null", "[3, 8]"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dy = n.dsum = nullptr; }, {"both dy and dsum are null", "[3, 8]"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.sum = nullptr; }, {"sum is null", "[3, 8]"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.rstd = nullptr; }, {"rstd is null", "[3]"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.da = c.y.data(); }, {"x (da needs it) is null", "[3, 8]"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.db = c.y.data(); }, {"f (db needs it) is null", "[3, 8]"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dx = n.df = n.dgamma = n.dbeta = nullptr; },
                 {"nothing to compute", "dx, df, dgamma"});

  NormCase c(3, 8);
  AddNormGrad no_mean = c.backward_args();
  no_mean.mean = nullptr;
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_layer_norm_grad(no_mean); }, {"add_layer_norm_grad: mean is null", "[3]"}));
  AddNorm rms_mean = c.forward_args();
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_rms_norm(rms_mean); }, {"add_rms_norm: RMS norm has no mean"}));
}

TEST(AddNormChecks, StridesShorterThanARow) {
  expect_refused([](NormCase&, AddNorm& n) { n.x_stride = 7; }, {"x_stride is 7", "8 elements"});
  expect_refused([](NormCase&, AddNorm& n) { n.f_stride = 1; }, {"f_stride is 1"});
  expect_refused([](NormCase&, AddNorm& n) { n.sum_stride = 5; }, {"sum_stride is 5"});
  expect_refused([](NormCase&, AddNorm& n) { n.y_stride = 2; }, {"y_stride is 2"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dy_stride = 7; }, {"dy_stride is 7"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dsum_stride = 7; }, {"dsum_stride is 7"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.sum_stride = 7; }, {"sum_stride is 7"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dx_stride = n.df_stride = 7; }, {"dx_stride is 7"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.df = c.y.data(), n.df_stride = 7; }, {"df_stride is 7"});
  expect_refused([](NormCase&, AddNorm& n) { n.x_stride = std::size_t{1} << 62; },
                 {"x with 3 rows of stride 4611686018427387904, 48 EiB, does not fit in memory"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dx_stride = 8, n.df_stride = 16; }, {"dx and df are one array", "8", "16"});
}

TEST(AddNormChecks, NumbersOutOfRange) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  expect_refused([](NormCase&, AddNorm& n) { n.eps = kNaN; }, {"eps is nan", "at least 0"});
  expect_refused([](NormCase&, AddNorm& n) { n.eps = -1e-5f; }, {"eps is -1e-05"});
  expect_refused([](NormCase&, AddNorm& n) { n.eps = kInf; }, {"eps is inf"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.eps = kNaN; }, {"eps is nan"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.eps = -kInf; }, {"eps is -inf"});
  for (const float p : {1.0f, -0.1f, 2.0f, kNaN}) {
    const std::string said = concat("dropout p is ", p, "; it must be in [0, 1)");
    expect_refused([p](NormCase&, AddNorm& n) { n.dropout.p = p; }, {said});
    expect_refused([p](NormCase&, AddNormGrad& n) { n.dropout.p = p; }, {said});
  }
  expect_refused([](NormCase&, AddNorm& n) { n.f = nullptr, n.dropout.p = 0.1f; }, {"dropout acts on f, and f is null"});
  for (const float factor : {kNaN, kInf, -kInf}) {
    const std::string said = concat(" is ", factor, "; it must be finite");
    expect_refused([=](NormCase&, AddNorm& n) { n.a.scalar = factor; }, {"the factor a" + said});
    expect_refused([=](NormCase&, AddNorm& n) { n.b.scalar = factor; }, {"the factor b" + said});
    expect_refused([=](NormCase&, AddNormGrad& n) { n.a.scalar = factor, n.df = nullptr; }, {"the factor a" + said});
    expect_refused([=](NormCase&, AddNormGrad& n) { n.b.scalar = factor, n.df = nullptr; }, {"the factor b" + said});
  }
}

TEST(AddNormChecks, AScalarFactorBesideOnePerFeatureIsIgnoredAndMayBeAnything) {
  NormCase c(3, 8);
  AddNorm n = c.forward_args();
  n.a = {std::numeric_limits<float>::quiet_NaN(), c.gamma.data()};
  EXPECT_NO_THROW(c.forward(n));
}

TEST(AddNormChecks, EnumValuesThatAreNone) {
  const std::string places = "eps_place is 99; allowed are EpsPlace::inside_root (0) and outside_root (1)";
  const std::string stores = "stores is -1; allowed are Stores::automatic (0), regular (1) and streaming (2)";
  expect_refused([](NormCase&, AddNorm& n) { n.eps_place = static_cast<EpsPlace>(99); }, {places});
  expect_refused([](NormCase&, AddNormGrad& n) { n.eps_place = static_cast<EpsPlace>(99); }, {places});
  expect_refused([](NormCase&, AddNorm& n) { n.stores = static_cast<Stores>(-1); }, {stores});
  expect_refused([](NormCase&, AddNormGrad& n) { n.stores = static_cast<Stores>(-1); }, {stores});
}

TEST(AddNormChecks, OneArrayForTwoDifferentGradients) {
  expect_refused([](NormCase&, AddNormGrad& n) { n.a.scalar = 2; }, {"dx and df are one array", "a = b = 1"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.b.per_feature = c.beta.data(); }, {"dx and df are one array"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.dropout.p = 0.5f; }, {"dx and df are one array"});
}

TEST(AddNormChecks, N10_OverlappingArrays) {
  // Beside the same array of the same stride nothing may share memory with an output.
  expect_refused([](NormCase& c, AddNorm& n) { n.rows = 2, n.y = c.x.data() + 1; }, {"y overlaps x"});
  expect_refused([](NormCase& c, AddNorm& n) { n.rows = 2, n.sum = c.f.data() + 8; }, {"sum overlaps f"});
  expect_refused([](NormCase&, AddNorm& n) { n.y = n.sum; },
                 {"the outputs", "sum", "y", "overlap", "leave the one that is not wanted null"});
  expect_refused([](NormCase& c, AddNorm& n) { n.rows = 1, n.y = c.gamma.data(); }, {"y overlaps gamma"});
  expect_refused([](NormCase& c, AddNorm& n) { n.rows = 1, n.sum = c.beta.data(); }, {"sum overlaps beta"});
  expect_refused([](NormCase& c, AddNorm& n) { n.rstd = c.y.data() + 23; }, {"the outputs", "rstd", "y"});
  expect_refused([](NormCase& c, AddNorm& n) { n.rows = 2, n.x_stride = 12, n.sum = c.x.data(), n.sum_stride = 8; },
                 {"sum overlaps x"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.rows = 2, n.dx = n.df = c.dy.data() + 1; }, {"dx overlaps dy"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.dgamma = c.gamma.data(); }, {"dgamma overlaps gamma"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.dbeta = c.dgamma.data(); }, {"the outputs", "dgamma", "dbeta"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.dbeta = c.dx.data() + 16; }, {"the outputs", "dx", "dbeta"});
  expect_refused([](NormCase& c, AddNormGrad& n) { n.dgamma = c.rstd.data(); }, {"dgamma overlaps rstd"});
}

TEST(AddNormChecks, OptionsThatThisNormDoesNotHave) {
  NormCase c(3, 8);
  AddNorm outside = c.forward_args();
  outside.eps_place = EpsPlace::outside_root;
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_layer_norm(outside); }, {"add_layer_norm: eps_place", "only RMS norm"}));
  AddNormGrad outside_grad = c.backward_args();
  outside_grad.eps_place = EpsPlace::outside_root;
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_layer_norm_grad(outside_grad); }, {"add_layer_norm_grad: eps_place"}));
  AddNormGrad rms_mean = c.backward_args();
  EXPECT_TRUE(throws_saying<UsageError>([&] { add_rms_norm_grad(rms_mean); }, {"add_rms_norm_grad: RMS norm has no mean"}));
  expect_refused([](NormCase&, AddNorm& n) { n.f = nullptr, n.b.scalar = 2; }, {"b is a factor on f, and f is null"});
  expect_refused([](NormCase& d, AddNorm& n) { n.f = nullptr, n.b.per_feature = d.gamma.data(); }, {"b is a factor on f"});
}

TEST(AddNormChecks, SizesThatDoNotFitInMemoryNameTheFunction) {
  constexpr std::size_t kHuge = std::size_t{1} << 62;
  const std::string said = "4611686018427387904 rows of 8 elements, 128 EiB per array, do not fit in memory";
  expect_refused([](NormCase&, AddNorm& n) { n.rows = kHuge; }, {said});
  expect_refused([](NormCase&, AddNormGrad& n) { n.rows = kHuge; }, {said});
  // No columns, so the matrices are empty; one number per row is not.
  expect_refused([](NormCase&, AddNorm& n) { n.rows = kHuge, n.width = 0; }, {"does not fit in memory"});
  expect_refused([](NormCase&, AddNormGrad& n) { n.rows = kHuge, n.width = 0; }, {"does not fit in memory"});
}

TEST(AddNormChecks, ColumnsOfOneMatrixThatMeet) {
  // Rows of 8 in rows of 12: the second begins before the first ends, or runs into the next row of the first.
  std::vector<float> packed(3 * 16);
  for (const std::size_t at : {1u, 7u, 11u, 13u}) {
    const auto meet = [&packed, at](NormCase&, AddNorm& n) {
      n.x = packed.data(), n.y = packed.data() + at, n.x_stride = n.y_stride = 12, n.sum = nullptr;
    };
    expect_refused(meet, {"y overlaps x"});
  }
  const auto other_strides = [&packed](NormCase&, AddNorm& n) {
    n.rows = 2, n.x = packed.data(), n.y = packed.data() + 8, n.x_stride = 16, n.y_stride = 17, n.sum = nullptr;
  };
  expect_refused(other_strides, {"y overlaps x"});
}

/// Copies [rows, width] from or to the columns `at` of rows of `stride`.
void pack(const std::vector<float>& from, std::size_t width, std::vector<float>& packed, std::size_t at, std::size_t stride) {
  for (std::size_t i = 0; i < from.size(); ++i) packed[i / width * stride + at + i % width] = from[i];
}
std::vector<float> unpack(const std::vector<float>& packed, std::size_t rows, std::size_t width, std::size_t at,
                          std::size_t stride) {
  std::vector<float> to(rows * width);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = packed[i / width * stride + at + i % width];
  return to;
}

TEST(AddNormChecks, ColumnsOfOneMatrixThatDoNotMeetGiveTheSameBits) {
  for (const std::size_t width : {8u, 21u, 64u, 320u})
    for (const Stores stores : {Stores::regular, Stores::streaming})
      for (const bool layer : {true, false}) {
        constexpr std::size_t kRows = 70;
        const std::size_t stride = 4 * width;
        NormCase c(kRows, width);
        c.layer = layer;
        c.run();
        std::vector<float> forward(kRows * stride), backward(kRows * stride);
        pack(c.x, width, forward, 0, stride);
        pack(c.f, width, forward, 2 * width, stride);
        AddNorm n = c.forward_args();
        n.stores = stores;
        n.x_stride = n.f_stride = n.sum_stride = n.y_stride = stride;
        n.x = forward.data(), n.y = forward.data() + width, n.f = forward.data() + 2 * width, n.sum = forward.data() + 3 * width;
        c.forward(n);
        EXPECT_SAME_BITS(unpack(forward, kRows, width, width, stride), c.y);
        EXPECT_SAME_BITS(unpack(forward, kRows, width, 3 * width, stride), c.sum);
        EXPECT_SAME_BITS(unpack(forward, kRows, width, 0, stride), c.x);
        EXPECT_SAME_BITS(unpack(forward, kRows, width, 2 * width, stride), c.f);

        pack(c.dy, width, backward, 0, stride);
        pack(c.dsum, width, backward, width, stride);
        const std::vector<float> dgamma = c.dgamma;
        AddNormGrad g = c.backward_args();
        g.stores = stores;
        g.dy_stride = g.dsum_stride = g.dx_stride = g.df_stride = stride;
        g.dy = backward.data(), g.dsum = backward.data() + width, g.dx = backward.data() + 2 * width;
        g.df = backward.data() + 3 * width;
        c.backward(g);
        EXPECT_SAME_BITS(unpack(backward, kRows, width, 2 * width, stride), c.dx);
        EXPECT_SAME_BITS(unpack(backward, kRows, width, 3 * width, stride), c.dx);
        EXPECT_SAME_BITS(c.dgamma, dgamma);
      }
}

TEST(AddNormChecks, TwoHalvesOfOneMatrixAreInputAndOutput) {
  NormCase c(5, 12);
  c.run();
  std::vector<float> packed(5 * 24);
  pack(c.x, 12, packed, 12, 24);
  AddNorm n = c.forward_args();
  n.x = packed.data() + 12, n.y = packed.data(), n.x_stride = n.y_stride = 24;
  c.forward(n);
  EXPECT_SAME_BITS(unpack(packed, 5, 12, 0, 24), c.y);
}

TEST(AddNormChecks, ARefusedCallWritesNothing) {
  NormCase c(3, 8);
  std::fill(c.y.begin(), c.y.end(), 5.0f);
  AddNorm args = c.forward_args();
  args.eps = -1;
  EXPECT_THROW(add_layer_norm(args), UsageError);
  EXPECT_EQ(c.y, std::vector(24, 5.0f));
  EXPECT_EQ(c.sum, std::vector(24, 0.0f));
}

}  // namespace
}  // namespace addnorm
