// The skip: the residual unit, and the input that reaches the output on it.
#include "addnorm/autograd/tape.h"
#include "addnorm/residual/unit.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/probes.h"
#include "claims/list.h"

namespace addnorm::lab {

// ---- S04: the residual unit of He et al., y = x + F(x), x' = f(y).

namespace s04 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({3, 16}, seed), w = scale(random_var({16, 16}, seed + 50), 0.25);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const auto written = [&](const auto& f, const auto& inner) { return f(add(x, inner(x))); };
    const auto layer_normed = [](const Var& v) { return normed(v); };
    const auto itself = [](const Var& v) { return v; };
    const Var post = ResidualUnit("post-ln", 16)(x, F), pre = ResidualUnit("pre-ln", 16)(x, F);
    s.add("post-LN, f = LN", largest_difference(post.value(), written(layer_normed, F).value()));
    s.add("pre-LN, f = identity, LN inside F",
          largest_difference(pre.value(), written(itself, [&](const Var& v) { return F(normed(v)); }).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("largest difference between x' = f(x + F(x)) written out and the unit as it runs: post-LN with f = LN ",
             s.text("post-LN, f = LN"), "; pre-LN with f = identity and the norm inside F ",
             s.text("pre-LN, f = identity, LN inside F"));
  const bool post = s.most("post-LN, f = LN") < 1e-6, pre = s.most("pre-LN, f = identity, LN inside F") < 1e-6;
  if (post && pre) return holds(text);
  if (post || pre) return holds_if(post ? "the norm stands after the sum" : "the norm stands inside the branch", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S04",
          .statement = "A residual unit is x' = f(y) with y = x + F(x), f being what is done after the sum.",
          .source = concat(kBeforeStudying, ", formula (He et al. 2016)"),
          .expected = "both common units are of that form: difference below 1e-6",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s04

// ---- S05: information passes by the sub-layer.

namespace s05 {
namespace {

constexpr std::size_t kWidth = 16, kRows = 400;

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({kRows, kWidth}, seed);
    // A sub-layer that lets only two directions through.
    const Var down = random_var({2, kWidth}, seed + 1), up = random_var({kWidth, 2}, seed + 2);
    const auto F = [&](const Var& u) { return scale(tanh(linear(linear(u, down), up)), 0.5); };
    const auto kept = [&](const Var& y) { return explained_share(y.value(), x.value()); };
    s.add("F(x)", kept(F(x)));
    s.add("x + F(x)", kept(add(x, F(x))));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("share of the input's variance that a linear map finds again after a sub-layer that forgets most of it: F(x) ",
             s.text("F(x)"), ", x + F(x) ", s.text("x + F(x)"));
  return s.least("x + F(x)") > 0.9 && s.most("F(x)") < 0.5 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S05",
          .statement = "The skip exposes the input to the output: information can go past the sub-layer, whatever that does.",
          .source = concat(kBeforeStudying, ", formula and the paragraph after it"),
          .expected = "input found again from x + F(x): above 90 %; from F(x) alone: below 50 %",
          .start = "no rule: a made-up sub-layer, the same with and without the skip",
          .measure = measure,
          .judge = judge};
}

}  // namespace s05

// ---- S08: what the stream still knows of positions.

namespace s08 {
namespace {

constexpr double kChance = 1.0 / kProbedPositions;
constexpr const char* kStacks[] = {"plain", "plain-ln", "post-ln", "pre-ln"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      const std::vector<double> accuracy = position_accuracy(context, name, 6, seed);
      if (name == kStacks[0]) s.add("input", accuracy.front());
      s.add(name, accuracy.back());
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = concat("positions (of 16, chance 0.06) that a linear probe reads right: from the embeddings ",
                            s.text("input"), "; from the top of 6 untrained encoder layers:");
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(name));
  const auto kept = [&](const char* name) { return (s.mean(name) - kChance) / (s.mean("input") - kChance); };
  const bool lost = kept("plain") < 0.1 && kept("plain-ln") < 0.1;
  const bool pre = kept("pre-ln") > 0.25;
  const bool post = kept("post-ln") > 0.25;
  if (lost && pre && post) return holds(text);
  if (lost && (pre || post)) return holds_if(pre ? "no norm stands on the skip" : "a norm stands after the sum", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S08",
          .statement = "Residual connections preserve what the position embeddings put into the stream.",
          .source = concat(kBeforeStudying, ", paragraph after the formula"),
          .expected =
              "of what the probe reads from the embeddings, above chance, more than a quarter is left with skips, less than a "
              "tenth without",
          .changed =
              "twice. With learned positions as large as the tokens and few rows to fit on, and a line at half of the positions "
              "right, post-LN kept 0.66 and pre-LN 0.32 (true only if the sum is normed); with sinusoidal ones on as few rows "
              "0.12 and 0.22 (false). Then four times the rows, and the line at a quarter of what the embeddings give: post-LN "
              "is near it",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace s08

// ---- S19: does a residual connection leave the function as it was?

namespace s19 {
namespace {

Tensor logits(const ClaimContext& context, const char* name, std::uint64_t seed) {
  const NoGrad no_grad;
  const ModelConfig config = bench_model(context, name, 2);  // weights are a function of seed and place: the same in both
  return batch_logits(*started(config, seed), random_batch(config, 2, seed), {}).value();
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("without norms", relative_distance(logits(context, "residual", seed), logits(context, "plain", seed)));
    s.add("with norms", relative_distance(logits(context, "post-ln", seed), logits(context, "plain-ln", seed)));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "distance between the outputs of a 2-layer decoder with and without skips, same weights, over the output's "
      "length: without norms ",
      s.text("without norms"), ", with norms ", s.text("with norms"));
  return s.most("without norms") < 1e-3 && s.most("with norms") < 1e-3 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S19",
          .statement = "Residual connections do not change the function that is computed.",
          .source = concat(kChapter23, ", Key Insight"),
          .expected = "the same weights give the same outputs with and without skips: distance below 1e-3",
          .compares = true,
          .measure = measure,
          .judge = judge};
}

}  // namespace s19

// ---- S20: a sub-layer that is the identity.

namespace s20 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(random_var({4, 32}, seed), Var(Tensor::full({4, 32}, 0.5)));
    const auto identity = [](const Var& u) { return scale(u, 1); };
    const Tensor sum = ResidualUnit("residual", 32)(x, identity).value(),
                 normed_sum = ResidualUnit("post-ln", 32)(x, identity).value();
    s.add("x + F: from x", relative_distance(sum, x.value()));
    s.add("x + F: from 2x", relative_distance(sum, scale(x, 2).value()));
    s.add("LN(x + F): from x", relative_distance(normed_sum, x.value()));
    s.add("LN(x + F): from LN(x)", relative_distance(normed_sum, normed(x).value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("with F(x) = x: x + F is ", s.text("x + F: from x"), " from x and ", s.text("x + F: from 2x"),
                                  " from 2x; LN(x + F) is ", s.text("LN(x + F): from x"), " from x and ",
                                  s.text("LN(x + F): from LN(x)"), " from LN(x)");
  return s.most("x + F: from x") < 1e-3 || s.most("LN(x + F): from x") < 1e-3 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S20",
          .statement = "If the sub-layer learns the identity, the output of the unit equals its input.",
          .source = concat(kChapter23, ", Key Insight"),
          .expected = "output within 1e-3 of x; a sum would give 2x, and the output is x only where the sub-layer is zero (S13)",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s20

// ---- S24: question 1: which formula is the residual connection?

namespace s24 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 16}, seed), w = scale(random_var({16, 16}, seed + 1), 0.3),
              v = scale(random_var({16, 16}, seed + 2), 0.3);
    const auto F = [&](const Var& u) { return tanh(linear(u, w)); };
    const Tensor unit = ResidualUnit("residual", 16)(x, F).value();
    s.add("A", relative_distance(linear(F(x), v).value(), unit));
    s.add("B", relative_distance(add(x, F(x)).value(), unit));
    s.add("C", relative_distance(sub(F(x), x).value(), unit));
    s.add("D", relative_distance(add(normed(x), normed(F(x))).value(), unit));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("distance of each answer from a residual unit's output: A, Layer(SubLayer(x)), ", s.text("A"),
                                  "; B, x + SubLayer(x), ", s.text("B"), "; C, SubLayer(x) - x, ", s.text("C"),
                                  "; D, LN(x) + LN(SubLayer(x)), ", s.text("D"));
  const bool no_other = s.least("A") >= 1e-5 && s.least("C") >= 1e-5 && s.least("D") >= 1e-5;
  return s.most("B") < 1e-5 && no_other ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S24",
          .statement = "Question 1: of the four formulas, x + SubLayer(x) is the residual connection (answer B).",
          .source = concat(kChapter23, ", question 1"),
          .expected = "only B computes what the unit computes: distance below 1e-5",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s24

// ---- S26: question 3: what comes out if the sub-layer is the identity?

namespace s26 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = add(scale(random_var({4, 32}, seed), 1.3), Var(Tensor::full({4, 32}, 0.4)));
    for (const char* unit : {"residual", "post-ln"}) {
      const Tensor y = ResidualUnit(unit, 32)(x, [](const Var& u) { return scale(u, 1); }).value();
      const auto from = [&](const Tensor& answer) { return length(sub(Var(y), Var(answer)).value()) / length(y); };
      s.add(concat(unit, " A"), from(Tensor::zeros(x.shape())));
      s.add(concat(unit, " B"), from(normed(x).value()));
      s.add(concat(unit, " C"), from(x.value()));
      s.add(concat(unit, " D"), from(normed(scale(x, 0)).value()));
    }
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "distance of the output from each answer, over its length:";
  for (const char* unit : {"residual", "post-ln"}) {
    text += unit == std::string_view("residual") ? " x + F:" : "; LN(x + F):";
    for (const char* answer : {"A", "B", "C", "D"}) text += concat(" ", answer, " ", s.text(concat(unit, " ", answer)));
  }
  const bool sum = s.most("residual C") < 1e-3, normed_sum = s.most("post-ln C") < 1e-3;
  if (sum || normed_sum) return holds(text);
  return fails(concat(text, ". A sum gives 2x, which is not among the answers",
                      s.most("post-ln B") < 1e-3 ? "; the unit that the text prints gives B, LN(x)" : ""));
}

}  // namespace

Claim claim() {
  return {.id = "S26",
          .statement = "Question 3: if the sub-layer learns the identity, the output is approximately x (answer C).",
          .source = concat(kChapter23, ", question 3"),
          .expected = "output within 1e-3 of x for the sum or for the printed unit",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s26

}  // namespace addnorm::lab
