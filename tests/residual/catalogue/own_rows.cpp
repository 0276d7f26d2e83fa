// Rows in files: they come back as they were, run as they say, and what is wrong in them is named.
#include <cmath>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::kWidth;
using test::normal_tensor;
using test::row_branches;
using test::run_stack;
using test::throws_saying;

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Arrangement& row : arrangements())
    if (row.is_row()) names.push_back(row.name);
  return names;
}
class EveryRowAsJson : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryRowAsJson, testing::ValuesIn(row_names()), test::name_of_test);

TEST_P(EveryRowAsJson, ComesBackAsItWas) {
  const Arrangement& row = arrangement_named(GetParam());
  const std::string text = to_json(row);
  const Arrangement again = arrangement_from_json(text, "test");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.name, row.name);
  EXPECT_EQ(again.aliases, row.aliases);
  // What it computes and how it starts.
  const StackShape shape{.width = kWidth, .layers = 4, .sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn}};
  const auto mine = make_residual(row, shape), theirs = make_residual(again, shape);
  EXPECT_EQ(count_parameters(*theirs), count_parameters(*mine));
  EXPECT_EQ(theirs->needs_calibration(), mine->needs_calibration());
  const std::vector<Var> w = row_branches(shape);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  EXPECT_SAME_BITS(run_stack(*theirs, x, w).value().values<float>(), run_stack(*mine, x, w).value().values<float>());
  Var matrix(Tensor::zeros({4, 6}), true);
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    EXPECT_EQ(theirs->branch(unit).head_gain, mine->branch(unit).head_gain);
    EXPECT_EQ(theirs->branch(unit).inner_norm.formula, mine->branch(unit).inner_norm.formula);
    for (Role role = Role::q; role <= Role::weight; role = static_cast<Role>(static_cast<int>(role) + 1)) {
      const Parameter p{"w", matrix, role, {}, {.layer = unit.layer, .sub_layer = unit.sub_layer}};
      EXPECT_EQ(theirs->init(p, {role, 0, 4})->size, mine->init(p, {role, 0, 4})->size) << role;
      EXPECT_EQ(theirs->init(p, {role, 0, 4})->kind, mine->init(p, {role, 0, 4})->kind) << role;
    }
  }
}

TEST_P(EveryRowAsJson, KeepsTheNameOfItsInitWhileItIsThatRule) {
  Arrangement row = arrangement_named(GetParam());
  const Arrangement again = arrangement_from_json(to_json(row), "test");
  EXPECT_EQ(again.init.name, row.init.name);
  EXPECT_EQ(again.init.source, row.init.source);
  row.init.gains.push_back({.roles = {Role::head}, .gain = {.constant = 0.5}});
  EXPECT_EQ(arrangement_from_json(to_json(row), "test").init.name, "") << "it is another now";
}

TEST(RowsInFiles, MayNameTheirInit) {
  const auto named = [](const char* init) {
    return arrangement_from_json(concat(R"({"name": "x", "init": )", init, "}"), "my.json");
  };
  const Arrangement mine = named(R"({"name": "mine", "base": "normal", "deviation": 0.1})");
  EXPECT_EQ(mine.init.name, "mine");
  EXPECT_EQ(arrangement_from_json(to_json(mine), "test").init.name, "mine");
  EXPECT_EQ(named(R"({"base": "normal"})").init.name, "") << "as in files of 0.1.0";
  EXPECT_EQ(named(R"({"name": "BERT", "base": "normal"})").init.name, "bert");
  EXPECT_EQ(named(R"({"name": "llama", "base": "normal"})").init.name, "bert") << "what others call it";
  EXPECT_EQ(named(R"({"name": "xavier"})").init.source, init_rule_named("xavier").source);
  const auto refused = [&](const char* init, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { named(init); }, parts);
  };
  EXPECT_TRUE(refused(R"({"name": "gpt2"})", {"init.name is \"gpt2\"", "that rule", "another name"}));
  EXPECT_TRUE(refused(R"({"name": "nanoGPT"})", {"init.name is \"nanoGPT\"", "that rule", "another name"}));
  EXPECT_TRUE(refused(R"({"name": "arrangement"})", {"init.name is \"arrangement\"", "another name"}));
  EXPECT_TRUE(refused(R"({"name": "a\nb"})", {"init.name is", "control characters"}));
  EXPECT_TRUE(refused(R"({"name": 1})", {"init.name is 1"}));
}

TEST(RowsInFiles, MayKeepAGainToOneSubLayer) {
  const Arrangement row = arrangement_from_json(
      R"({"name": "x", "init": {"gains": [{"roles": ["v"], "gain": 2, "sub_layer": "cross"}]}})", "my.json");
  EXPECT_EQ(arrangement_from_json(to_json(row), "test").init.gains.at(0).sub_layer, SubLayer::cross);
  const auto residual = make_residual(row, {.width = 4, .layers = 1, .sub_layers = {SubLayer::self, SubLayer::cross}});
  Var matrix(Tensor::zeros({4, 4}), true);
  const auto deviation = [&](SubLayer at) {
    return residual->init({"w", matrix, Role::v, {}, {.layer = 0, .sub_layer = at}}, {Role::v, 0, 4})->deviation();
  };
  EXPECT_DOUBLE_EQ(deviation(SubLayer::cross), 2 * deviation(SubLayer::self));
}

TEST(RowsInFiles, RunAsTheySay) {
  const Arrangement row = read_arrangement(std::string(ADDNORM_SOURCE_DIR) + "/examples/halved.json");
  EXPECT_EQ(row.name, "halved-sandwich");
  const StackShape shape{.width = kWidth, .layers = 4};
  const auto N = [](const Var& v) { return layer_norm(v, Var(Tensor::full({kWidth}, 1)), Var(Tensor::zeros({kWidth}))); };
  const std::vector<Var> w = row_branches(shape);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  Var s = x;
  for (std::size_t i = 0; i < 8; ++i)
    s = i < 2 ? N(add(scale(s, std::pow(8, 0.25)), mul_row(s, w[i]))) : add(s, scale(N(mul_row(N(s), w[i])), 0.5));
  EXPECT_SAME_BITS(run_stack(*make_residual(row, shape), x, w).value().values<float>(), N(s).value().values<float>());
}

TEST(RowsInFiles, SayWhatIsWrongAndWhere) {
  const auto refused = [](const char* text, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { arrangement_from_json(text, "my.json"); }, parts);
  };
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"skip": "streem"}})",
                      {"my.json: unit.skip is \"streem\"", "none, stream, normed", "did you mean stream"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"in": 1}})", {"unit.in is 1", "true or false"}));
  EXPECT_TRUE(refused(R"({"name": "x", "exitt": true})", {"my.json: unknown field 'exitt'", "did you mean exit"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"pots": true}})", {"unknown field 'unit.pots'", "did you mean unit.post"}));
  EXPECT_TRUE(
      refused(R"({"name": "x", "unit": {"a": "deepnorm-alfa"}})", {"unit.a", "deepnorm-alfa", "did you mean deepnorm-alpha"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"a": {"kind": "learnt"}}})", {"unit.a.kind", "learnt", "learned_vector"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"a": [1]}})", {"unit.a is [1]", "a number, a depth rule"}));
  EXPECT_TRUE(
      refused(R"({"name": "x", "overrides": [{"sub_layer": "attention"}]})", {"overrides[0].sub_layer", "self, cross, ffn"}));
  EXPECT_TRUE(refused(R"({"name": "x", "overrides": [{"first_share": 2}]})", {"overrides[0].first_share is 2", "from 0 to 1"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"gains": [{"roles": ["w_o"]}]}})", {"init.gains[0].roles[0]", "attention_out"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"skip": "normed"}})", {"unit.skip", "normed", "in: true"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"b": {"kind": "learned_scalar", "profiled": true}}})", {"unit", "profiled"}));
  EXPECT_TRUE(
      refused(R"({"name": "x", "unit": {"a": {"kind": "learned_vector", "profiled": true}, "in": true, "skip": "normed"}})",
              {"unit.a is profiled", "skip: \"stream\""}));
  EXPECT_TRUE(refused(R"({"name": "x", "year": "2017"})", {"year is \"2017\"", "2017"}));
  EXPECT_TRUE(refused(R"({"exit": true})", {"my.json: name is missing"}));
  EXPECT_TRUE(refused(R"({"name": "x", "exit": true, "exit": false})", {"\"exit\" is given twice"}));
  EXPECT_TRUE(refused("[1, 2]", {"my.json: the file holds array", "an object"}));
  EXPECT_TRUE(refused("{\"name\": ", {"my.json: not JSON", "line 1"}));
  EXPECT_TRUE(refused("", {"my.json: not JSON"}));
  EXPECT_TRUE(throws_saying<DataError>([] { read_arrangement("no/such/row.json"); }, {"no/such/row.json"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { to_json(arrangement_named("b2t")); }, {"b2t", "class"}));
}

TEST(RowsInFiles, HaveNoFieldWithoutEffect) {
  const auto refused = [](const char* text, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { arrangement_from_json(text, "my.json"); }, parts);
  };
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"skip": "none", "a": {"kind": "learned_scalar"}}})", {"unit.a", "\"none\""}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"skip": "none", "a": 0.5}})", {"unit.a", "leave a out"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"in_scale": 0.5}})", {"unit.in_scale", "in: true"}));
  EXPECT_TRUE(refused(R"({"name": "x", "overrides": [{"unit": {"in_scale": 0.5}}]})", {"overrides[0].unit.in_scale"}));
  EXPECT_TRUE(refused(R"({"name": "x", "overrides": [{"sub_layer": "ffn", "unit": {"head_gain": "after_out"}}]})",
                      {"overrides[0].unit.head_gain", "attention"}));
  for (const char* role : {"bias", "norm_gain", "norm_bias", "coefficient"})
    EXPECT_TRUE(refused(concat(R"({"name": "x", "init": {"gains": [{"roles": ["v", ")", role, R"("], "gain": 2}]}})").c_str(),
                        {"init.gains[0].roles names ", role, "matrices"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"gains": [{"gain": 2}]}})", {"init.gains[0].roles is empty"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"deviation": 0.1}})", {"init.deviation", "\"normal\""}));
  for (const char* base : {"xavier_uniform", "xavier_normal", "fan_in_uniform", "fan_in_normal", "small_normal"}) {
    const std::string what = concat("is that of base \"normal\"; that of \"", base, "\" follows from the widths");
    EXPECT_TRUE(refused(concat(R"({"name": "x", "init": {"deviation": 0.1, "base": ")", base, R"("}})").c_str(),
                        {"init.deviation " + what}));
    EXPECT_TRUE(refused(
        concat(R"({"name": "x", "init": {"draws": [{"roles": ["v"], "deviation": 0.1, "base": ")", base, R"("}]}})").c_str(),
        {"init.draws[0].deviation " + what}));
  }
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"base": "normal", "deviation": -1}})", {"init.deviation is -1"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"gains": [{"roles": ["v"], "gain": 2, "cross": false, "sub_layer": "cross"}]}})",
                      {"init.gains[0].sub_layer", "cross: false"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"gains": [{"roles": ["v", "ffn_in"], "gain": 2, "sub_layer": "self"}]}})",
                      {"init.gains[0].roles names ffn_in", "self"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"draws": [{"roles": ["q"], "sub_layer": "ffn", "deviation": 5}]}})",
                      {"init.draws[0].roles names q", "ffn"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"draws": [{"roles": ["token_embedding"], "sub_layer": "self"}]}})",
                      {"init.draws[0].roles names token_embedding", "self"}));
  for (const char* deviation : {"1e99", "1e-60", "1e-39"})
    EXPECT_TRUE(refused(concat(R"({"name": "x", "init": {"draws": [{"roles": ["q"], "deviation": )", deviation, "}]}}").c_str(),
                        {"init.draws[0].deviation is 1e", "1.2e-38", "3.4e+38"}));
  EXPECT_TRUE(refused(R"({"name": "x", "init": {"base": "normal", "deviation": 1e99}})", {"init.deviation is 1e+99", "3.4e+38"}));
  EXPECT_TRUE(refused(R"({"name": "a\nb"})", {"name is", "control characters"}));
  EXPECT_TRUE(refused(R"({"name": "x", "aliases": ["y", "\u0007"]})", {"aliases[1]", "control characters"}));
  EXPECT_TRUE(refused(R"({"name": "x", "unit": {"b": {"start": 2, "symbol": "\t"}}})", {"unit.b.symbol", "control characters"}));
}

TEST(RowsInFiles, MayDrawInOneSubLayer) {
  for (const char* draw : {R"({"roles": ["q", "v"], "sub_layer": "cross"})", R"({"roles": ["ffn_in"], "sub_layer": "ffn"})",
                           R"({"roles": ["bias"], "sub_layer": "self"})", R"({"roles": ["bias"], "sub_layer": "ffn"})",
                           R"({"roles": ["q"], "deviation": 0})"})
    EXPECT_NO_THROW(arrangement_from_json(concat(R"({"name": "x", "init": {"draws": [)", draw, "]}}"), "my.json")) << draw;
}

TEST(Rows, InCodeAreHeldToTheSameRules) {
  const auto refused = [](const Arrangement& row, std::initializer_list<std::string> parts) {
    return throws_saying<UsageError>([&] { make_residual(row, {.width = kWidth, .layers = 2}); }, parts);
  };
  EXPECT_TRUE(refused({.name = "mine", .unit = {.in_scale = {.constant = 0.5}}}, {"'mine'", "unit.in_scale", "in: true"}));
  EXPECT_TRUE(refused({.name = "mine", .unit = {.skip = Skip::none, .a = fixed(0.5)}}, {"unit.a", "leave a out"}));
  for (const double share : {-1.0, 1.5, std::nan("")})
    EXPECT_TRUE(refused({.name = "mine", .overrides = {{.first_share = share}}}, {"overrides[0].first_share", "from 0 to 1"}));
}

TEST(RowsFromFiles, GiveLearnedCoefficientsALetter) {
  const Arrangement row =
      arrangement_from_json(R"({"name": "x", "unit": {"b": {"kind": "learned_per_layer", "start": 0}}})", "x.json");
  EXPECT_EQ(std::string(row.unit.b.symbol), "b");
  EXPECT_EQ(std::string(row.unit.a.symbol), "");
}

}  // namespace
}  // namespace addnorm
