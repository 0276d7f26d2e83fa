// Batch norm beside layer norm: what depends on the other sequences of a batch.
#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab {

// ---- S33: statistics of each instance by itself: the batch does not matter.

namespace s33 {
namespace {

constexpr std::size_t kWidth = 64, kMost = 32;

/// Row 0 normed in a batch of so many rows.
Tensor first_row(const Tensor& rows, std::size_t count, bool batch) {
  const std::span<const float> values = rows.values<float>().first(count * kWidth);
  const Var x(Tensor::of({count, kWidth}, values));
  Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
  const Var y = batch ? batch_norm(x, Var(), Var(), mean, var) : normed(x);
  return Tensor::of({kWidth}, y.value().values<float>().first(kWidth));
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const Tensor rows = random_tensor({kMost, kWidth}, seed);
    double same = 0, sizes = 0, batch = 0;
    for (const std::size_t count : {2u, 3u, 8u, 32u}) {
      same += same_bits(first_row(rows, count, false), first_row(rows, 1, false)) ? 1 : 0;
      batch = std::max(batch, relative_distance(first_row(rows, count, true), first_row(rows, kMost, true)));
      ++sizes;
    }
    s.add("layer norm, batch sizes with the same bits", same / sizes);
    s.add("batch norm, change", batch);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "one vector in batches of 1, 2, 3, 8 and 32: share of sizes at which layer norm gives the same bits ",
      s.text("layer norm, batch sizes with the same bits"), "; largest change by batch norm ", s.text("batch norm, change"));
  return s.least("layer norm, batch sizes with the same bits") == 1 && s.least("batch norm, change") > 0.01 ? holds(text)
                                                                                                            : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S33",
          .statement = "Layer norm takes its statistics from each instance by itself, so that any batch size will do.",
          .source = concat(kClassicalTransformer, ", first paragraph"),
          .expected = "the same bits in every batch; batch norm changes by more than 1 %",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace s33

// ---- S63: batch norm takes features across the batch, and so depends on its size.

namespace s63 {
namespace {

constexpr std::size_t kWidth = 32, kBatches = 40;

/// Standard deviation of one vector's normed features over the batches it could be in.
double wobble(std::size_t size, bool batch, std::uint64_t seed) {
  const Tensor x = random_tensor({kWidth}, seed);
  std::vector<std::vector<double>> seen(kWidth);
  for (std::size_t b = 0; b < kBatches; ++b) {
    Tensor rows = random_tensor({size, kWidth}, seed * 1000 + b + 1);
    std::ranges::copy(x.values<float>(), rows.values<float>().begin());
    Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
    const Tensor y = batch ? batch_norm(Var(rows), Var(), Var(), mean, var).value() : normed(Var(rows)).value();
    for (std::size_t c = 0; c < kWidth; ++c) seen[c].push_back(static_cast<double>(y.values<float>()[c]));
  }
  double squares = 0;
  for (const auto& values : seen) squares += std::pow(deviation_of(values), 2) / kWidth;
  return std::sqrt(squares);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    std::vector<double> sizes, wobbles;
    for (const std::size_t size : {4u, 16u, 64u}) {
      sizes.push_back(static_cast<double>(size));
      wobbles.push_back(wobble(size, true, seed));
    }
    s.add("batch norm, batch of 4", wobbles.front());
    s.add("batch norm, batch of 64", wobbles.back());
    s.add("batch norm, power of the size", fitted_power(sizes, wobbles));
    s.add("layer norm, batch of 4", wobble(4, false, seed));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("standard deviation of one vector's output over the batches it may be in: batch norm ",
                                  s.text("batch norm, batch of 4"), " in batches of 4, ", s.text("batch norm, batch of 64"),
                                  " in batches of 64 (power ", s.text("batch norm, power of the size"),
                                  " of the size); layer norm ", s.text("layer norm, batch of 4"));
  const bool depends = s.most("batch norm, power of the size") < -0.3 && s.least("batch norm, batch of 4") > 0.1;
  return depends && s.most("layer norm, batch of 4") == 0 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S63",
          .statement = "Batch norm normalises each feature across the batch, which makes what it does depend on the batch size.",
          .source = concat(kLecture, ", Layer Normalization"),
          .expected =
              "its output wobbles with the batch, above 0.1 in batches of 4, less in larger ones (power below -0.3); layer "
              "norm's not at all",
          .start = "no weights: norms of made-up vectors",
          .measure = measure,
          .judge = judge};
}

}  // namespace s63

// ---- S64: sequences of different lengths in one batch.

namespace s64 {
namespace {

constexpr std::size_t kTokens = 8, kWidth = 32;

/// The first sequence, normed beside a second one of so many tokens; padding is zeros, and said to be padding or not.
Tensor first_sequence(std::size_t other, bool batch, bool masked, std::uint64_t seed) {
  Tensor x = random_tensor({2, kTokens, kWidth}, seed);
  std::vector<unsigned char> padding(2 * kTokens);
  for (std::size_t t = other; t < kTokens; ++t) {
    padding[kTokens + t] = 1;
    for (std::size_t c = 0; c < kWidth; ++c) x.data<float>()[(kTokens + t) * kWidth + c] = 0;
  }
  Tensor mean = Tensor::zeros({kWidth}), var = Tensor::full({kWidth}, 1);
  const Var y =
      batch ? batch_norm(Var(x), Var(), Var(), mean, var, {}, masked ? padding : std::vector<unsigned char>()) : normed(Var(x));
  return Tensor::of({kTokens, kWidth}, y.value().values<float>().first(kTokens * kWidth));
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const auto change = [&](bool batch, bool masked) {
      return relative_distance(first_sequence(2, batch, masked, seed), first_sequence(kTokens, batch, masked, seed));
    };
    s.add("batch norm", change(true, false));
    s.add("batch norm that knows the padding", change(true, true));
    s.add("layer norm", change(false, false));
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text =
      concat("change of a sequence's normed vectors when its neighbour in the batch has 2 tokens instead of 8: batch norm ",
             s.text("batch norm"), ", batch norm that leaves out padding ", s.text("batch norm that knows the padding"),
             ", layer norm ", s.text("layer norm"));
  return s.least("batch norm") > 0.01 && s.least("batch norm that knows the padding") > 0.01 && s.most("layer norm") == 0
             ? holds(text)
             : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "S64",
      .statement = "Batch norm suits sequences of variable length less than layer norm does.",
      .source = concat(kLecture, ", Layer Normalization, and question 3"),
      .expected =
          "lengths of other sequences change its output by more than 1 %, with padding left out too; layer norm's not by a bit",
      .start = "no weights: norms of made-up sequences",
      .measure = measure,
      .judge = judge};
}

}  // namespace s64

// ---- S65: the same of a whole model: does a sequence's output depend on what else is in the batch?

namespace s65 {
namespace {

double change(const ClaimContext& context, const char* norm, std::uint64_t seed) {
  ModelConfig config = bench_model(context, "pre-ln", 2);
  config.d_model = 32;
  config.norm = norm;
  const auto model = started(config, seed);
  const NoGrad no_grad;
  Batch all = random_batch(config, 8, seed), one = all;
  one.sequences = 1;
  one.ids.resize(config.seq_len);
  one.labels.resize(config.seq_len);
  const Tensor together = batch_logits(*model, all, {.train = true}).value(),
               alone = batch_logits(*model, one, {.train = true}).value();
  return relative_distance(Tensor::of(alone.shape(), together.values<float>().first(alone.elements())), alone);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds)
    for (const char* norm : {"layernorm", "batchnorm"}) s.add(norm, change(context, norm, seed));
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat("change of a sequence's logits in training when seven others join its batch: layer norm ",
                                  s.text("layernorm"), ", batch norm ", s.text("batchnorm"));
  return s.most("layernorm") < 1e-5 && s.least("batchnorm") > 0.01 ? holds(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {.id = "S65",
          .statement = "Layer norm works within a single training example and is independent of the batch size.",
          .source = concat(kLecture, ", Layer Normalization"),
          .expected =
              "logits of a 2-layer decoder change by less than 1e-5 (rounding of products) with layer norm, more than 1 % with "
              "batch norm",
          .start = "Xavier's weights, the same with both norms",
          .measure = measure,
          .judge = judge};
}

}  // namespace s65

}  // namespace addnorm::lab
