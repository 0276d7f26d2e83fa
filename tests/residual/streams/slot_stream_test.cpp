// Arrangements that are rows: the formula of each by hand with F(x) = w * x, what they are when F = 0, and that fusion, probes
// and recompute change no bit.
#include <cmath>
#include <set>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::input;
using test::kWidth;
using test::normal_tensor;
using test::row_branches;
using test::run_stack;
using test::shape_of;
using test::throws_saying;

const auto* const kOneThread = testing::AddGlobalTestEnvironment(new test::OneThread);

class EveryRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryRow, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(EveryRow, HasTheGradientsOfFiniteDifferences) {
  const auto residual = make_residual(GetParam(), shape_of(2));
  test::scramble(*residual);
  const auto f = [&](const std::vector<Var>& in) { return run_stack(*residual, in[0], {in.begin() + 1, in.end()}); };
  std::vector<Tensor> inputs{input({2, 3, kWidth}, 1)};
  for (const Var& w : row_branches(residual->shape(), DType::f64)) inputs.push_back(w.value());
  EXPECT_TRUE(test::gradients_hold(*residual, f, inputs));
}

/// The same unit written from the row, one op at a time.
Var by_hand(const Residual& residual, Var x, const std::vector<Var>& w, const Pass& pass,
            const std::function<Var(const Var&)>& norm) {
  const Arrangement& row = residual.arrangement();
  if (row.entry) x = norm(x);
  for (std::size_t i = 0; i < residual.shape().units(); ++i) {
    const Unit unit = residual.shape().unit(i);
    const UnitSlots& slots = row.slots(residual.shape(), unit);
    const Var u = slots.in ? norm(x) : x;
    const Var f = mul_row(scale(u, value_of(slots.in_scale, residual.shape(), unit)), w[i]);
    const Var g = dropped(slots.out ? norm(f) : f, residual.dropout(unit, pass));
    const double a = value_of(slots.a.start, residual.shape(), unit), b = value_of(slots.b.start, residual.shape(), unit);
    const Var y = slots.skip == Skip::none ? scale(g, b) : add(scale(slots.skip == Skip::normed ? u : x, a), scale(g, b));
    x = slots.post ? norm(y) : y;
  }
  return row.exit ? norm(x) : x;
}

TEST_P(EveryRow, IsItsRowBitForBit) {
  if (!arrangement_named(GetParam()).is_row()) return;  // a class: pinned in classes_test.cpp
  const auto residual = make_residual(GetParam(), shape_of(4), {.dropout = 0.3f});
  std::vector<Var> w = row_branches(residual->shape());
  const Pass pass{.train = true, .step = 3};
  const Var gamma(Tensor::full({kWidth}, 1)), beta(Tensor::zeros({kWidth}));
  Var x(normal_tensor({2, 3, kWidth}, 1), true);
  // y, then the gradients of x and of every branch.
  const auto results = [&](const std::function<Var()>& run) {
    for (Var& each : w) each.clear_grad();
    x.clear_grad();
    const Var y = run();
    backward(y, normal_tensor(y.shape(), 9));
    std::vector<Tensor> all{y.value(), x.grad().clone()};
    for (const Var& each : w) all.push_back(each.grad().clone());
    return all;
  };
  const auto norm = [&](const Var& v) { return layer_norm(v, gamma, beta); };
  const std::vector<Tensor> fused = results([&] { return run_stack(*residual, x, w, pass); });
  const std::vector<Tensor> ops = results([&] { return by_hand(*residual, x, w, pass, norm); });
  for (std::size_t i = 0; i < fused.size(); ++i) EXPECT_SAME_BITS(fused[i].values<float>(), ops[i].values<float>()) << i;
}

TEST_P(EveryRow, GivesTheSameBitsWhenWatched) {
  const auto residual = make_residual(GetParam(), shape_of(3), {.dropout = 0.3f});
  test::scramble(*residual);
  const std::vector<Var> w = row_branches(residual->shape());
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const Pass pass{.train = true, .step = 3};
  // y, then the gradients of x, of every branch and of every parameter.
  const auto results = [&](StreamObserver* observer) {
    Var leaf(x.value(), true);
    std::vector<Var> leaves{leaf};
    leaves.insert(leaves.end(), w.begin(), w.end());
    for_each_parameter(*residual, [&](Parameter& p) { leaves.push_back(p.value); });
    for (Var& each : leaves) each.clear_grad();
    const Var y = run_stack(*residual, leaf, w, pass, observer);
    backward(y, normal_tensor(y.shape(), 9));
    std::vector<Tensor> all{y.value()};
    for (const Var& each : leaves) all.push_back(each.grad().clone());
    return all;
  };
  test::Listener listener;
  const std::vector<Tensor> alone = results(nullptr), watched = results(&listener);
  ASSERT_EQ(watched.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_SAME_BITS(watched[i].values<float>(), alone[i].values<float>()) << i;
  EXPECT_EQ(listener.branches.size(), residual->shape().units());
  EXPECT_EQ(listener.streams.size(), residual->shape().units() + 1);
}

TEST_P(EveryRow, GivesTheSameBitsWhenLayersAreRecomputed) {
  const auto residual = make_residual(GetParam(), shape_of(3), {.dropout = 0.3f});
  test::scramble(*residual);
  const std::vector<Var> w = row_branches(residual->shape());
  const Pass pass{.train = true, .step = 3};
  const auto run_layer = [&](Stream& stream, std::size_t layer) {
    stream.enter(layer);
    for (std::size_t i = 0; i < 2; ++i) {
      const Unit unit = residual->shape().unit(layer, i);
      stream.write(unit, mul_row(stream.read(unit), w[unit.index]));
    }
    stream.leave(layer);
  };
  test::Listener listener;
  const auto result = [&](bool again, StreamObserver* observer = nullptr) {
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const auto stream = residual->open(x, pass, observer);
    for (std::size_t layer = 0; layer < 3; ++layer) {
      if (!again) {
        run_layer(*stream, layer);
        continue;
      }
      const Stream::State before = stream->state();
      const std::vector<Var> vars = recompute(
          [&run_layer, &stream = *stream, pending = before.pending, layer](const std::vector<Var>& in) {
            stream.restore({in, pending});
            run_layer(stream, layer);
            return stream.state().vars;
          },
          before.vars);
      stream->restore({vars, stream->state().pending});
    }
    const Var y = stream->close();
    backward(y, normal_tensor(y.shape(), 9));
    return std::pair(y.value(), x.grad());
  };
  const auto [y, dx] = result(false);
  const auto [again_y, again_dx] = result(true);
  EXPECT_SAME_BITS(again_y.values<float>(), y.values<float>());
  EXPECT_SAME_BITS(again_dx.values<float>(), dx.values<float>());
  const auto [watched_y, watched_dx] = result(true, &listener);
  EXPECT_SAME_BITS(watched_y.values<float>(), y.values<float>());
  EXPECT_SAME_BITS(watched_dx.values<float>(), dx.values<float>());
  EXPECT_EQ(listener.branches.size(), residual->shape().units());  // the second run of a layer is silent
}

TEST_P(EveryRow, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto residual = make_residual(GetParam(), shape_of(1), {.dropout = 0.3f});
  test::scramble(*residual);
  const std::vector<Var> w = row_branches(residual->shape());
  const Tensor x = normal_tensor({2, 256, kWidth}, 1), dy = normal_tensor(x.shape(), 9);  // two blocks of rows
  std::vector<Tensor> first;
  test::with_every_thread_count([&] {
    std::vector<Var> leaves{Var(x, true)};
    leaves.insert(leaves.end(), w.begin(), w.end());
    for_each_parameter(*residual, [&](Parameter& p) { leaves.push_back(p.value); });
    for (Var& each : leaves) each.clear_grad();
    const Var y = run_stack(*residual, leaves[0], w, {.train = true});
    backward(y, dy);
    std::vector<Tensor> all{y.value()};
    for (const Var& each : leaves) all.push_back(each.grad().clone());
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_SAME_BITS(all[i].values<float>(), first[i].values<float>()) << i;
  });
}

TEST_P(EveryRow, RefusesUnitsOfOtherStacks) {
  const auto residual = make_residual(GetParam(), shape_of(2));
  const auto stream = residual->open(Var(normal_tensor({2, 3, kWidth}, 1)), {});
  const Var f(normal_tensor({2, 3, kWidth}, 2));
  stream->enter(0);
  stream->read(shape_of(2).unit(0));
  for (const Unit& unit : {Unit{.layer = 1}, Unit{.sub_layer = SubLayer::ffn}, shape_of(3).unit(5), Unit{.layer = 3, .index = 6}})
    for (const bool read : {true, false})
      EXPECT_TRUE(throws_saying<UsageError>(
          [&] {
            if (read)
              stream->read(unit);
            else
              stream->write(unit, f);
          },
          {"stack 'stack'", "2 layers of 2 units", "StackShape::unit"}));
}

TEST(NormSkip, RefusesToWriteWhatWasNotRead) {
  const auto residual = make_residual("norm-skip", shape_of(2));
  const auto stream = residual->open(Var(normal_tensor({2, 3, kWidth}, 1)), {});
  const Var f(normal_tensor({2, 3, kWidth}, 2));
  EXPECT_TRUE(throws_saying<UsageError>([&] { stream->write(shape_of(2).unit(0), f); }, {"unit 0", "call read(unit) before"}));
}

TEST_P(EveryRow, CountsSubLayersThatALayerHasTwice) {
  const StackShape twice{.width = kWidth, .layers = 2, .sub_layers = {SubLayer::ffn, SubLayer::self, SubLayer::ffn}};
  const auto residual = make_residual(GetParam(), twice, {.dropout = 0.5f});
  std::set<std::string> paths;
  for_each_parameter(*residual, [&](Parameter& p) { EXPECT_TRUE(paths.insert(p.path).second) << p.path << " twice"; });
  const Pass pass{.train = true};
  EXPECT_NE(residual->dropout(twice.unit(0, 0), pass).key, residual->dropout(twice.unit(0, 2), pass).key);
  EXPECT_EQ(residual->dropout(twice.unit(0, 0), pass).key,
            make_residual(GetParam(), shape_of(2), {.dropout = 0.5f})->dropout(shape_of(2).unit(0, 1), pass).key);
}

TEST_P(EveryRow, IsFoundByItsNameAndAliases) {
  const Arrangement& row = arrangement_named(GetParam());
  EXPECT_EQ(row.name, GetParam());
  for (const std::string& alias : row.aliases) EXPECT_EQ(arrangement_named(alias).name, row.name) << alias;
  EXPECT_FALSE(row.source.empty());
  EXPECT_GE(row.year, 2015);
}

TEST(ArrangementNames, ResolveAsPeopleWriteThem) {
  EXPECT_EQ(arrangement_named("PreLN").name, "pre-ln");
  EXPECT_EQ(arrangement_named("PostLN").name, "post-ln");
  EXPECT_EQ(arrangement_named("RESIDUAL").name, "residual");
  EXPECT_EQ(arrangement_named("encoder_normalize_before").name, "pre-ln");
  EXPECT_EQ(arrangement_named("do_stable_layer_norm").name, "pre-ln");
  EXPECT_EQ(arrangement_named("is_post_ln").name, "post-ln");
  EXPECT_EQ(arrangement_named("use_parallel_residual").name, "parallel-2ln");  // GPT-NeoX has two norms
  EXPECT_EQ(arrangement_named("parallel_attn").name, "parallel");
  EXPECT_EQ(arrangement_named("ResiDual").name, "resi-dual");
  EXPECT_EQ(arrangement_named("resi_dual").name, "resi-dual");
  EXPECT_EQ(arrangement_named("pre-norm").name, "pre-ln");
  EXPECT_EQ(arrangement_named("norm_first=true").name, "pre-ln");
  EXPECT_EQ(arrangement_named("normalize_before").name, "pre-ln");
  EXPECT_EQ(arrangement_named("post layer normalization").name, "post-ln");
  EXPECT_TRUE(throws_saying<UsageError>([] { arrangement_named("prelm"); },
                                        {"unknown arrangement 'prelm'", "did you mean pre-ln", "deepnorm"}));
}

TEST(ZeroBranches, LeaveTheStreamAloneOrItsNorm) {
  const auto through = [](const char* name, bool final_norm) {
    const bool normed = std::string_view(name) != "residual" && std::string_view(name) != "rezero";  // these have no norm
    const auto residual = make_residual(name, shape_of(2),
                                        {.norm = norm_named(normed ? "layernorm-noeps" : "layernorm"), .final_norm = final_norm});
    const std::vector<Var> zero(4, Var(Tensor::zeros({kWidth})));
    return run_stack(*residual, Var(normal_tensor({1, 3, kWidth}, 1)), zero).value();
  };
  const Tensor x = normal_tensor({1, 3, kWidth}, 1);
  const Tensor normed = layer_norm(Var(x), Var(), Var(), {.eps = 0}).value();
  for (const char* name : {"residual", "pre-ln", "pre-ln-nofinal", "sub-ln", "layerscale", "rezero", "lns"})
    EXPECT_SAME_BITS(through(name, false).values<float>(), x.values<float>()) << name;
  for (const char* name : {"post-ln", "deepnorm", "admin", "admin-const", "keel", "norm-skip"})
    EXPECT_NEAR_ALL(through(name, false), normed, test::two_norms_tolerance()) << name;
}

TEST(ZeroBranches, AreZeroAfterAnOutputNormOnlyWithEps) {
  for (const char* name : {"sandwich", "res-post"}) {
    const auto residual = make_residual(name, shape_of(2), {.final_norm = false});
    const Tensor x = normal_tensor({1, 3, kWidth}, 1);
    const std::vector<Var> zero(4, Var(Tensor::zeros({kWidth})));
    EXPECT_SAME_BITS(run_stack(*residual, Var(x), zero).value().values<float>(), x.values<float>()) << name;
  }
}

TEST(NormSkip, IsPostLnShiftedByOneNorm) {
  const auto shifted = make_residual("norm-skip", shape_of(3));
  const auto post = make_residual("post-ln", shape_of(3), {.embedding_norm = true});
  test::scramble(*shifted);
  std::vector<Var> values;
  for_each_parameter(*shifted, [&](Parameter& p) { values.push_back(p.value); });
  std::size_t next = 0;
  for_each_parameter(*post, [&](Parameter& p) { p.value.value() = values[next++].value(); });
  EXPECT_EQ(next, values.size());
  const std::vector<Var> w = row_branches(post->shape());
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  EXPECT_SAME_BITS(run_stack(*shifted, x, w).value().values<float>(), run_stack(*post, x, w).value().values<float>());
}

TEST(DepthRules, HaveThePublishedValues) {
  const auto value = [](const char* rule, StackShape shape) { return value_of({.name = rule}, shape, shape.unit(0)); };
  const auto rounded = [](double v) { return std::round(v * 1e4) / 1e4; };
  const StackShape encoder12{.width = 8, .layers = 12, .kind = StackKind::encoder_only};
  EXPECT_EQ(rounded(value("deepnorm-alpha", encoder12)), 2.2134);
  EXPECT_EQ(rounded(value("deepnorm-beta", encoder12)), 0.3195);
  const StackShape encoder18{.width = 8, .layers = 18, .kind = StackKind::encoder, .other_layers = 18};
  const StackShape decoder18{.width = 8, .layers = 18, .kind = StackKind::decoder, .other_layers = 18};
  EXPECT_EQ(rounded(value("deepnorm-alpha", encoder18)), 1.9987);
  EXPECT_EQ(rounded(value("deepnorm-beta", encoder18)), 0.3526);
  EXPECT_EQ(rounded(value("deepnorm-alpha", decoder18)), 2.7108);
  EXPECT_EQ(rounded(value("deepnorm-beta", decoder18)), 0.2608);
  EXPECT_EQ(std::round(value("sub-ln-gamma", encoder12) * 1e3), 1783);
  EXPECT_EQ(std::round(value("admin-const", {.width = 8, .layers = 6}) * 1e3), 2017);
  EXPECT_EQ(std::round(value("admin-const", {.width = 8, .layers = 18}) * 1e3), 3041);
}

}  // namespace
}  // namespace addnorm
