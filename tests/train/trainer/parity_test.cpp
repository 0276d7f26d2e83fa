// Training as PyTorch does it, in float64 from the same float32 numbers: optimizers alone, and whole models.
#include <cmath>
#include <map>

#include "addnorm/autograd/ops.h"
#include "addnorm/core/rng.h"
#include "addnorm/model/language_model.h"
#include "addnorm/train/optimizer.h"
#include "support/data.h"
#include "support/golden.h"
#include "support/models/torch_case.h"
#include "support/models/weights.h"
#include "support/near.h"

namespace addnorm {
namespace {

// Optimizers alone.

struct NamedParameters final : Module {
  std::map<std::string, Var> values;
  void visit(Visitor& visitor) override {
    for (auto& [name, value] : values) visitor.parameter(name, value, Role::weight);
  }
};

OptimizerOptions options_of(const test::Golden& g) {
  const std::string kind = g.name().substr(0, g.name().find('-'));
  const auto setting = [&](const char* name, double otherwise) { return g.contains(name) ? g.setting(name) : otherwise; };
  return {.kind = optimizer_named(kind),
          .beta1 = setting("beta1", 0.9),
          .beta2 = setting("beta2", 0.999),
          .eps = setting("eps", 1e-8),
          .momentum = setting("momentum", 0),
          .nesterov = setting("nesterov", 0) != 0,
          .weight_decay = setting("weight_decay", 0),
          .update_clip = setting("d", 1),
          .decoupled_decay = setting("decoupled_weight_decay", 0) != 0,
          .beta2_power = -setting("beta2_decay", -0.8),
          .eps1 = setting("eps1", 0x1p-23),
          .eps2 = setting("eps2", 1e-3)};
}

/// Row `step` of a tensor [steps, ...].
Tensor row_of(const Tensor& all, std::size_t step, const Shape& shape, DType dtype) {
  return Tensor::of(shape, all.values<float>().subspan(step * shape.elements(), shape.elements())).to(dtype);
}

/// Fifty steps in `dtype`; gradients are stored `scale` times as large and scaled back by the update.
void expect_steps_like_torch(const test::Golden& data, const test::Golden& g, DType dtype, double scale) {
  SCOPED_TRACE(concat(g.name(), " in ", dtype, ", gradients scaled by ", 1 / scale));
  NamedParameters all;
  for (const char* name : {"cube", "matrix", "row", "vector"})
    all.values.emplace(name, Var(data[concat("start.", name)].clone().to(dtype), true));
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(all, options_of(g));
  for (std::size_t step = 1; step <= 50; ++step) {
    for (auto& [name, value] : all.values) {
      Tensor gradient = row_of(data["g." + name], step - 1, value.shape(), dtype);
      dispatch(dtype, [&](auto zero) {
        for (auto& x : gradient.values<decltype(zero)>()) x *= static_cast<decltype(zero)>(scale * g.setting("gradients"));
      });
      value.grad() = gradient;
    }
    optimizer->step(g.setting("lr") * (1 + std::sin(static_cast<double>(step))) / 2, 1 / scale);
    for (const auto& [name, value] : all.values)
      if (const std::string now = concat("p", step, ".", name); g.contains(now)) {
        EXPECT_NEAR_ALL(value.value(), g[now], dtype == DType::f64 ? test::double_tolerance() : test::steps_tolerance(step))
            << now;
      }
  }
}

TEST(TorchOptimizers, FiftyStepsOfEveryKindInDoubleAndInFloat) {
  const std::vector<test::Golden> cases = test::goldens("optimizers");
  ASSERT_EQ(cases.size(), 12u);
  const auto data = std::find_if(cases.begin(), cases.end(), [](const test::Golden& g) { return g.name() == "data"; });
  for (const test::Golden& g : cases) {
    if (g.name() == "data") continue;
    for (const DType dtype : {DType::f64, DType::f32})
      for (const double scale : {1.0, 4.0}) expect_steps_like_torch(*data, g, dtype, scale);
  }
}

// N-17. Float32 parameters are rounded once per step; over a thousand steps that is a random walk of half units in the last
// place: sqrt(1000) 2^-25 = 1e-6 of an element as its deviation, so a bar of 1e-6 for each element cannot be held by any float32
// optimizer. Of the whole tensor it can: |p - p'| <= 1e-6 |p'| in length (measured 5e-7 to 8e-7; PyTorch's fused float32 AdamW:
// 1e-5 to 2e-5, since it multiplies by a rounded 1 - lr weight_decay). Each element is held to four deviations.

double relative_distance(const Tensor& got, const Tensor& want) {
  double squares = 0, length = 0;
  for (std::size_t i = 0; i < want.elements(); ++i) {
    const double error = static_cast<double>(got.data<float>()[i]) - want.data<double>()[i];
    squares += error * error;
    length += want.data<double>()[i] * want.data<double>()[i];
  }
  return std::sqrt(squares / length);
}

/// The same parameters in float32 and float64, and an optimizer for each.
struct Pair {
  NamedParameters single, exact;
  std::unique_ptr<Optimizer> of_single, of_exact;

  Pair(const Tensor& start, const OptimizerOptions& options) {
    single.values.emplace("p", Var(start.clone(), true));
    exact.values.emplace("p", Var(start.to(DType::f64), true));
    of_single = make_optimizer(single, options);
    of_exact = make_optimizer(exact, options);
  }
  void step(const Tensor& gradient, double lr = 1e-3) {
    single.values.at("p").grad() = gradient;
    exact.values.at("p").grad() = gradient.to(DType::f64);
    of_single->step(lr);
    of_exact->step(lr);
  }
  const Tensor& got() { return single.values.at("p").value(); }
  const Tensor& want() { return exact.values.at("p").value(); }
};

TEST(N17AdamW, FollowsDoubleForAThousandSteps) {
  for (const float size : {1.0f, 0.02f})
    for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::adam, OptimizerKind::radam}) {
      SCOPED_TRACE(concat(name_of(kind), ", parameters of size ", size));
      Pair pair(Tensor::of({500}, test::normal_values(500, 1, 0, static_cast<double>(size))), {.kind = kind});
      for (std::uint64_t step = 1; step <= 1000; ++step)
        pair.step(Tensor::of({500}, test::normal_values(500, step + 10, 0.1, 1)));
      EXPECT_LT(relative_distance(pair.got(), pair.want()), test::thousand_steps_tolerance());
      EXPECT_NEAR_ALL(pair.got(), pair.want(), test::steps_tolerance(1000));
      std::map<std::string, Tensor> exact;
      pair.of_exact->visit_state([&](const std::string& name, const Tensor& value) { exact[name] = value; });
      pair.of_single->visit_state([&](const std::string& name, const Tensor& value) {
        EXPECT_LT(relative_distance(value, exact.at(name)), test::thousand_steps_tolerance()) << name;
      });
    }
}

TEST(N17AdamW, FirstAndMillionthStepZeroAndTinyGradients) {
  const Tensor start = Tensor::of({300}, test::normal_values(300, 1));
  for (const std::int64_t step : {1, 1000000})
    for (const double size : {1.0, 1e-20, 0.0}) {
      SCOPED_TRACE(concat("step ", step, ", gradients of size ", size));
      Pair pair(start, {});
      pair.of_single->set_steps(step - 1);
      pair.of_exact->set_steps(step - 1);
      pair.step(Tensor::of({300}, test::normal_values(300, 2, 0, size)));
      EXPECT_EQ(pair.of_single->steps(), step);
      EXPECT_NEAR_ALL(pair.got(), pair.want(), test::two_ulp());
    }
  // The change itself, seen from parameters that are 0: tiny gradients are not lost.
  Pair tiny(Tensor::zeros({300}), {});
  tiny.step(Tensor::full({300}, 1e-20));
  EXPECT_NEAR_ALL(tiny.got(), tiny.want(), test::function_tolerance());
  EXPECT_LT(tiny.got().values<float>()[0], 0.0f);
}

// Whole models.

struct Batch {
  std::vector<std::int32_t> inputs, targets;
  std::size_t sequences;
};

/// What a step of training sees before it changes anything.
struct Seen {
  double loss, norm;
};

/// PyTorch divides by norm + 1e-6; in double the difference shows.
double torch_clip_scale(double norm, double max_norm) { return std::min(1.0, max_norm / (norm + 1e-6)); }

using Clip = double(double norm, double max_norm);

Seen train_step(LanguageModel& model, Optimizer& optimizer, const Batch& batch, double lr, Clip& clip = clip_scale) {
  clear_gradients(model);
  const Var loss = cross_entropy(model({.ids = batch.inputs, .batch = batch.sequences}), batch.targets);
  backward(loss);
  const double norm = gradient_norm(model);
  optimizer.step(lr, clip(norm, 1));
  return {loss.value().item(), norm};
}

/// PyTorch's name of our parameter, by what stands before "weight" and "bias".
using TorchNames = std::map<std::string, std::string>;

TorchNames encoder_layer_names(std::size_t layers, bool norm_first) {
  TorchNames names{{"tokens.embedding.", "tok."}, {"tokens.positions.", "pos."}, {"head.", "head."}, {"residual.exit.", "norm."}};
  const std::string norm = norm_first ? ".in." : ".post.";
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string ours = concat("layers.", i, "."), theirs = ours;
    names["residual." + ours + "self" + norm] = theirs + "norm1.";
    names["residual." + ours + "ffn" + norm] = theirs + "norm2.";
    names[ours + "self.qkv."] = theirs + "self_attn.in_proj_";
    names[ours + "self.out."] = theirs + "self_attn.out_proj.";
    names[ours + "ffn.in."] = theirs + "linear1.";
    names[ours + "ffn.out."] = theirs + "linear2.";
  }
  return names;
}

std::string torch_name(const TorchNames& names, const std::string& path) {
  const std::size_t last = path.rfind('.') + 1;
  return names.at(path.substr(0, last)) + path.substr(last);
}

/// The rows of q, k and v in a bias [3 d] that have a gradient: a key's bias adds the same to all scores of a query, so in exact
/// arithmetic its gradient is 0, and Adam makes steps of full size from what rounding leaves.
Tensor without_keys(const Tensor& bias) {
  const Tensor all = bias.to(DType::f64);
  const std::size_t d = all.elements() / 3;
  std::vector<double> kept(all.values<double>().begin(), all.values<double>().end());
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(d), kept.begin() + static_cast<std::ptrdiff_t>(2 * d));
  return Tensor::of({2 * d}, std::span<const double>(kept));
}

void expect_training_like_torch(const char* file, DType dtype, Clip& clip, test::Tolerance tolerance) {
  SCOPED_TRACE(concat(file, " in ", dtype));
  const SafetensorsReader torch(test::test_data() / "torch" / (std::string(file) + ".safetensors"));
  ASSERT_EQ(torch.metadata("optimizer"), "AdamW lr=3e-3 betas=(0.9,0.95) eps=1e-8 weight_decay=0.1 on all parameters");
  ASSERT_EQ(torch.metadata("clip_grad_norm"), "1.0");
  const bool norm_first = torch.metadata("norm_first") == "True";
  LanguageModel model({.vocab = 58,
                       .layers = 2,
                       .d_model = 32,
                       .heads = 4,
                       .d_ff = 64,
                       .seq_len = 16,
                       .arrangement = norm_first ? "pre-ln" : "post-ln",
                       .tied = false});
  const TorchNames names = encoder_layer_names(2, norm_first);
  for_each_parameter(model,
                     [&](Parameter& p) { p.value.value() = torch.read("init." + torch_name(names, p.path)).to(DType::f32); });
  convert(model, dtype);

  const std::unique_ptr<Optimizer> optimizer = make_optimizer(model, {.beta2 = 0.95, .weight_decay = 0.1, .decay_all = true});
  const std::vector<std::int64_t> batches = torch.read_i64("batches");  // [20, (x, y), 4, 16]
  std::vector<double> losses, norms;
  for (std::size_t step = 0; step < 20; ++step) {
    const auto x = batches.begin() + static_cast<std::ptrdiff_t>(step * 128);
    const Seen seen = train_step(model, *optimizer, {{x, x + 64}, {x + 64, x + 128}, 4}, 3e-3, clip);
    losses.push_back(seen.loss);
    norms.push_back(seen.norm);
  }
  EXPECT_NEAR_ALL(std::span<const double>(losses), torch.read("loss").values<double>(), tolerance);
  EXPECT_NEAR_ALL(std::span<const double>(norms), torch.read("grad_norm_before_clip").values<double>(), tolerance);
  for_each_parameter(model, [&](Parameter& p) {
    const Tensor got = p.value.value(), want = torch.read("final." + torch_name(names, p.path));
    const bool keys = p.path.ends_with("qkv.bias");
    EXPECT_NEAR_ALL(keys ? without_keys(got) : got, keys ? without_keys(want) : want, tolerance) << p.path;
  });
}

TEST(TorchTraining, TwentyStepsOfAdamWBeforeAndAfterNormsInFloat) {
  ADDNORM_NEEDS_DATA("torch");
  for (const char* file : {"train_pre_adamw", "train_post_adamw"})
    expect_training_like_torch(file, DType::f32, clip_scale, test::training_tolerance());
}
TEST(TorchTraining, TwentyStepsOfAdamWBeforeAndAfterNormsInDouble) {
  ADDNORM_NEEDS_DATA("torch");
  for (const char* file : {"train_pre_adamw", "train_post_adamw"})
    expect_training_like_torch(file, DType::f64, torch_clip_scale, test::training_in_double_tolerance());
}

// DeepNorm's promise (Wang 2022) with a real step: what one step of SGD on the matrices of all branches does to the logits at the
// start. (Gains and biases of norms add up with depth and are left out, as in the paper's analysis.)

double one_step_change(const char* arrangement, std::size_t layers, std::uint64_t seed) {
  LanguageModel model(
      {.vocab = 17, .layers = layers, .d_model = 32, .heads = 2, .seq_len = 8, .arrangement = arrangement, .tied = false});
  model.initialise(seed);
  Batch batch{{}, {}, 8};
  for (std::uint64_t i = 0; i < 64; ++i) {
    batch.inputs.push_back(static_cast<std::int32_t>(17 * uniform_at(RandomKey(seed), i)));
    batch.targets.push_back(static_cast<std::int32_t>(17 * uniform_at(RandomKey(seed + 100), i)));
  }
  const auto logits = [&] { return model({.ids = batch.inputs, .batch = batch.sequences}); };
  const Var before = logits();
  backward(cross_entropy(before, batch.targets));
  for_each_parameter(model, [](Parameter& p) {
    if (!p.place.layer || !is_matrix(p.role)) p.value.clear_grad();
  });
  make_optimizer(model, {.kind = OptimizerKind::sgd, .momentum = 0, .weight_decay = 0})->step(1e-2);
  const Tensor change = sub(logits(), before).value();
  double squares = 0;
  for (const float x : change.values<float>()) squares += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(squares / static_cast<double>(change.elements()));
}

/// The mean over four networks.
double one_step_change(const char* arrangement, std::size_t layers) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) sum += one_step_change(arrangement, layers, seed);
  return sum / 4;
}

TEST(DeepNorm, ChangesAsMuchInItsFirstStepAtAnyDepthWherePostLnChangesMoreAndMore) {
  const double shallow = one_step_change("deepnorm", 2);
  for (const std::size_t layers : {8u, 32u})
    EXPECT_NEAR(one_step_change("deepnorm", layers), shallow, test::one_network_tolerance().rtol * shallow)
        << layers << " layers";
  EXPECT_GT(one_step_change("post-ln", 32), 10 * one_step_change("post-ln", 2));
}

// N-18: a model of GPT-2's form.

TorchNames gpt2_names(std::size_t layers) {
  TorchNames names{{"tokens.embedding.", "wte."}, {"tokens.positions.", "wpe."}, {"residual.exit.", "ln_f."}};
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string ours = concat("layers.", i, "."), theirs = concat("h.", i, ".");
    names["residual." + ours + "self.in."] = theirs + "ln_1.";
    names["residual." + ours + "ffn.in."] = theirs + "ln_2.";
    names[ours + "self.qkv."] = theirs + "c_attn.";
    names[ours + "self.out."] = theirs + "attn_c_proj.";
    names[ours + "ffn.in."] = theirs + "c_fc.";
    names[ours + "ffn.out."] = theirs + "mlp_c_proj.";
  }
  return names;
}

/// Step `step` of text [steps, 3, tokens + 1].
Batch batch_of(const std::vector<std::int64_t>& text, std::size_t step, std::size_t tokens) {
  Batch batch{{}, {}, 3};
  for (std::size_t row = step * 3; row < step * 3 + 3; ++row)
    for (std::size_t t = 0; t < tokens; ++t) {
      batch.inputs.push_back(static_cast<std::int32_t>(text[row * (tokens + 1) + t]));
      batch.targets.push_back(static_cast<std::int32_t>(text[row * (tokens + 1) + t + 1]));
    }
  return batch;
}

TEST(TorchTraining, N18LogitsLossEveryGradientAndTenStepsOfAModelOfGpt2sForm) {
  const test::Golden g = test::goldens("gpt2_training").at(0);
  const std::size_t tokens = g["param.wpe.weight"].shape()[0];
  LanguageModel model({.vocab = g["param.wte.weight"].shape()[0],
                       .layers = 2,
                       .d_model = g["param.wte.weight"].shape()[1],
                       .heads = static_cast<std::size_t>(g.setting("heads")),
                       .seq_len = tokens,
                       .activation = Activation::gelu_tanh});
  const TorchNames names = gpt2_names(2);
  for_each_parameter(model, [&](Parameter& p) { p.value.value() = g["param." + torch_name(names, p.path)]; });
  const std::vector<std::int64_t> text = g.integers("text");

  const Batch first = batch_of(text, 0, tokens);
  const Var logits = model({.ids = first.inputs, .batch = first.sequences});
  EXPECT_NEAR_ALL(logits.value(), g["logits"], test::model_logits_tolerance());
  backward(cross_entropy(logits, first.targets));
  for_each_parameter(model, [&](Parameter& p) {
    EXPECT_NEAR_ALL(p.value.grad(), g["grad." + torch_name(names, p.path)], test::model_gradient_tolerance()) << p.path;
  });

  // Decay by PyTorch's usual rule, on what has two axes: the groups are ours.
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(model, {.beta1 = g.setting("beta1"),
                                                                      .beta2 = g.setting("beta2"),
                                                                      .eps = g.setting("eps"),
                                                                      .weight_decay = g.setting("weight_decay")});
  std::vector<double> losses, norms;
  for (std::size_t step = 0; step < 10; ++step) {
    const Seen seen = train_step(model, *optimizer, batch_of(text, step, tokens), g.setting("lr"));
    losses.push_back(seen.loss);
    norms.push_back(seen.norm);
  }
  EXPECT_NEAR_ALL(std::span<const double>(losses), g["losses"].values<double>(), test::training_tolerance());
  EXPECT_NEAR_ALL(std::span<const double>(norms), g["norms"].values<double>(), test::training_tolerance());
}

}  // namespace
}  // namespace addnorm
