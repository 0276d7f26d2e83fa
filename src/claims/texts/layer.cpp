// The residual connections of a Transformer layer: their formula, how many, where, and who introduced them.
#include <algorithm>
#include <cmath>

#include "addnorm/nn/attention.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/unit.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"

namespace addnorm::lab {

// ---- S10: "the residual formula", printed as LN(x + SubLayer(x)).

namespace s10 {
namespace {

constexpr const char* kUnits[] = {"post-ln", "residual", "pre-ln", "res-post"};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed), w = scale(random_var({32, 32}, seed + 40), 0.2);
    const auto F = [&](const Var& u) { return gelu(linear(u, w)); };
    const Tensor printed = normed(add(x, F(x))).value();
    for (const char* name : kUnits) s.add(name, relative_distance(ResidualUnit(name, 32)(x, F).value(), printed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text = "distance of one unit's output from LN(x + F(x)):";
  bool all = true;
  for (const char* name : kUnits) {
    text += concat(name == kUnits[0] ? " " : ", ", name, " ", s.text(name));
    all = all && s.most(name) < 1e-5;
  }
  if (all) return holds(text);
  if (s.most("post-ln") < 1e-5)
    return holds_if("the unit is post-LN, as in 2017; the residual connection itself is x + F(x) (question 1 of the same text)",
                    text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S10",
          .statement = "The formula of a residual connection is output = LayerNorm(x + SubLayer(x)).",
          .source = concat(kChapter23, ", The Residual Formula"),
          .expected = "units that are called residual compute it: distance below 1e-5",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s10

// ---- S17: how many residual connections a layer has.

namespace s17 {
namespace {

/// Branches that were added in one pass, per layer; of the decoder where there are two stacks.
double per_layer(const ClaimContext& context, ModelKind kind, std::uint64_t seed) {
  ModelConfig config = bench_model(context, "post-ln", 3);
  config.model = kind;
  config.d_model = 16;
  config.d_ff = 16;
  config.seq_len = 4;
  const auto model = started(config, seed);
  Batch batch = random_batch(config, 2, seed);
  if (kind == ModelKind::seq2seq) batch.target_ids = batch.ids;
  Watch watch;
  batch_logits(*model, batch, {},
               kind == ModelKind::seq2seq ? StreamObservers{.decoder = &watch} : StreamObservers{.stream = &watch});
  return static_cast<double>(watch.branches.size()) / 3;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    s.add("encoder", per_layer(context, ModelKind::encoder, seed));
    s.add("decoder only", per_layer(context, ModelKind::lm, seed));
    s.add("decoder with cross-attention", per_layer(context, ModelKind::seq2seq, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const double cross = s.mean("decoder with cross-attention");
  const std::string text =
      concat("residual sums per layer in a pass: encoder ", s.text("encoder"), ", decoder-only ", s.text("decoder only"),
             ", decoder with cross-attention ", s.text("decoder with cross-attention"));
  const bool two = s.mean("encoder") == 2 && s.mean("decoder only") == 2;
  if (two && cross == 2) return holds(text);
  if (two) return holds_if(concat("the layer has no cross-attention; with it there are ", cross), text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S17",
          .statement = "A Transformer layer has two residual connections.",
          .source = concat(kChapter23, ", In Transformers"),
          .expected = "two sums per layer in every kind of layer",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace s17

// ---- S18: the layer as the text draws it: attention, Add & Norm, feed-forward, Add & Norm.

namespace s18 {
namespace {

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    ModelConfig config = bench_model(context, "post-ln", 1);
    config.model = ModelKind::encoder;
    config.d_model = 32;
    config.d_ff = 64;
    config.seq_len = 8;
    const auto model = started(config, seed);
    Watch watch;
    batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &watch});
    // The stream before, between and after the two units, and what each of them added.
    const Var &x0 = watch.streams[0], &x1 = watch.streams[1], &x2 = watch.streams[2];
    const Var &attention = watch.branches[0], &ffn = watch.branches[1];
    const auto add_and_norm = [](const Var& x, const Var& f) { return normed(add(x.detach(), f.detach())); };
    s.add("as drawn, attention", relative_distance(add_and_norm(x0, attention).value(), x1.value()));
    s.add("as drawn, feed-forward", relative_distance(add_and_norm(x1, ffn).value(), x2.value()));
    s.add("second skip from the layer's input", relative_distance(add_and_norm(x0, ffn).value(), x2.value()));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of the stream after each unit from the drawing: attention ", s.text("as drawn, attention"),
             ", feed-forward ", s.text("as drawn, feed-forward"), "; with the second skip begun at the layer's input ",
             s.text("second skip from the layer's input"));
  const bool drawn = s.most("as drawn, attention") < 1e-5 && s.most("as drawn, feed-forward") < 1e-5;
  return drawn && s.least("second skip from the layer's input") > 1e-2 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S18",
          .statement =
              "A layer is attention with Add & Norm, then feed-forward with Add & Norm, whose skip begins after the first norm.",
          .source = concat(kChapter23, ", diagram of a layer"),
          .expected = "the original (post-LN) encoder layer computes just that: distance below 1e-5",
          .start = "Xavier's weights: the order of sums and norms is compared, which no rule changes",
          .measure = measure,
          .judge = judge};
}

}  // namespace s18

// ---- S27: question 4: where are the residual connections?

namespace s27 {
namespace {

/// Units of each kind whose output minus what was added gives the stream before: those that have a skip.
struct Count : Watch {
  void on_branch(const Unit& unit, const Var& added) override {
    Watch::on_branch(unit, added);
    kinds.push_back(unit.sub_layer);
  }
  std::vector<SubLayer> kinds;
};

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    ModelConfig config = bench_model(context, "pre-ln", 3);
    config.d_model = 32;
    const auto model = started(config, seed);
    Count count;
    batch_logits(*model, random_batch(config, 2, seed), {}, {.stream = &count});
    double attention = 0, ffn = 0;
    for (std::size_t i = 0; i < count.kinds.size(); ++i) {
      const Var before = sub(count.streams[i + 1].detach(), count.branches[i].detach());
      if (relative_distance(before.value(), count.streams[i].value()) > 1e-4) continue;
      (count.kinds[i] == SubLayer::ffn ? ffn : attention) += 1.0 / 3;
    }
    s.add("around attention", attention);
    s.add("around feed-forward", ffn);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("skips found per layer of a decoder: around attention ", s.text("around attention"),
                                  ", around the feed-forward part ", s.text("around feed-forward"));
  const auto one = [&](const char* name) { return std::abs(s.least(name) - 1) < 1e-9 && std::abs(s.most(name) - 1) < 1e-9; };
  return one("around attention") && one("around feed-forward") ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S27",
          .statement = "Question 4: residual connections stand after both attention and feed-forward part (answer C).",
          .source = concat(kChapter23, ", question 4"),
          .expected = "one skip per layer around each of the two",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace s27

// ---- S29: question 6: how many residual connections has a layer?

namespace s29 {
namespace {

/// The same count as S17's: a question is answered by it, not by the text.
Samples measure(const ClaimContext& context) { return s17::claim().measure(context); }

ClaimVerdict judge(const Samples& s) {
  const double encoder = s.mean("encoder"), decoder = s.mean("decoder only"), cross = s.mean("decoder with cross-attention");
  const std::string text = concat("residual sums per layer: encoder ", encoder, ", decoder-only ", decoder,
                                  ", decoder with cross-attention ", cross, cross == 3 ? " (answer C)" : "");
  if (encoder == 2 && decoder == 2 && cross == 2) return holds(text);
  if (encoder == 2 && decoder == 2) return holds_if("the layer is of an encoder or of a decoder without cross-attention", text);
  return fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S29",
          .statement = "Question 6: each Transformer layer has two residual connections (answer B).",
          .source = concat(kChapter23, ", question 6"),
          .expected = "two sums per layer in every kind of layer",
          .start = "Xavier's weights: sums are counted, which no rule changes",
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace s29

// ---- S30: question 7: which paper introduced residual connections? Looked up, not measured.

namespace s30 {
namespace {

Samples measure(const ClaimContext&) {
  Samples s;
  double earliest = 1e9;
  for (const Arrangement& row : arrangements()) {
    const bool skips = !row.is_row() || row.unit.skip != Skip::none;
    if (skips && row.name != "residual") earliest = std::min(earliest, static_cast<double>(row.year));
  }
  const Arrangement& residual = arrangement_named("residual");
  s.add("year of He et al.", residual.year);
  s.add("is arXiv 1512.03385", residual.source.find("1512.03385") != std::string::npos ? 1 : 0);
  s.add("earliest other with a skip", earliest);
  s.add("Attention Is All You Need", arrangement_named("post-ln").year);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "not a measurement: years as typed into our own catalogue: identity skip of arXiv 1512.03385 ", s.text("year of He et al."),
      ", the next arrangement with a skip ", s.text("earliest other with a skip"), ", \"Attention Is All You Need\" ",
      s.text("Attention Is All You Need"), ". Gated skips (Highway networks, arXiv 1505.00387) are some months older");
  return s.mean("is arXiv 1512.03385") == 1 && s.mean("year of He et al.") < s.mean("earliest other with a skip") ? holds(text)
                                                                                                                  : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S30",
          .statement =
              "Question 7: residual connections were introduced by \"Deep Residual Learning for Image Recognition\" (answer B).",
          .source = concat(kChapter23, ", question 7"),
          .expected = "a catalogue entry, not a measurement: no arrangement with a skip is older in the table of this program",
          .start = "no weights: years of the catalogue",
          .seeds = 1,
          .measure = measure,
          .judge = judge};
}

}  // namespace s30

// ---- S71: Add & Norm: first the sum, then the norm, after each sub-layer.

namespace s71 {
namespace {

double norms_per_layer(const char* name) {
  const auto residual = make_residual(name, {.width = 8, .layers = 4});
  double norms = 0;
  for (std::size_t i = 0; i < residual->shape().units(); ++i)
    norms += residual->arrangement().slots(residual->shape(), residual->shape().unit(i)).post ? 1 : 0;
  return norms / 4;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Var x = random_var({4, 32}, seed), w = scale(random_var({32, 32}, seed + 8), 0.2);
    const auto F = [&](const Var& u) { return gelu(linear(u, w)); };
    const Tensor unit = ResidualUnit("add-norm", 32)(x, F).value();
    s.add("add, then norm", relative_distance(normed(add(x, F(x))).value(), unit));
    s.add("norm, then add", relative_distance(add(x, normed(F(x))).value(), unit));
    s.add("norms after sums per layer", norms_per_layer("add-norm"));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("distance of Add & Norm from LN(x + F(x)) ", s.text("add, then norm"), ", from x + LN(F(x)) ",
             s.text("norm, then add"), "; norms after sums per layer ", s.text("norms after sums per layer"));
  const bool order = s.most("add, then norm") < 1e-5 && s.least("norm, then add") > 1e-2;
  return order && s.mean("norms after sums per layer") == 2 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S71",
          .statement = "Add & Norm adds a sub-layer's output to its input, then norms the sum, after each main sub-layer.",
          .source = concat(kLecture, ", section 3, and question 5"),
          .expected = "LN(x + F(x)) to 1e-5, and twice per layer",
          .start = "one made-up sub-layer for all that is compared",
          .measure = measure,
          .judge = judge};
}

}  // namespace s71

}  // namespace addnorm::lab
