// C10: how much a small change of all weights changes the output, against depth.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c10 {
namespace {

constexpr const char* kStacks[] = {"post-ln", "pre-ln", "admin", "deepnorm"};
constexpr std::size_t kWidth = 48;
constexpr double kChange = 1e-3;

/// Its β is on both matrices of a branch, of which a made-up one has only the second.
std::vector<double> deepnorm_gains(const ClaimContext& context, const StackShape& shape) {
  const double beta = value_of(depth_rule_named("deepnorm-beta"), shape, {});
  const double deviation = start_deviation(context, Role::ffn_out, shape, "deepnorm");
  return std::vector(shape.units(), beta * deviation * std::sqrt(static_cast<double>(shape.width)));
}

double output_change(const ClaimContext& context, const char* name, std::size_t units, std::uint64_t seed) {
  const NoGrad no_grad;
  const StackShape shape = units_of(units, kWidth);
  const auto residual = make_residual(name, shape);
  const std::vector<double> gains =
      std::string_view(name) == "deepnorm" ? deepnorm_gains(context, shape) : branch_gains(context, shape);
  std::vector<double> small = gains;
  for (double& gain : small) gain *= kChange;
  const LinearBranches branches(shape, seed, gains), noise(shape, seed + 500, small);
  const Var x = normed(random_var({16, kWidth}, seed));
  residual->calibrate([&](StreamObserver* observer) { run_units(*residual, x, branches, {.train = true}, observer); });
  const Var before = run_units(*residual, x, branches);
  const Var after = run_units(*residual, x, [&](const Unit& u, const Var& v) { return add(branches(u, v), noise(u, v)); });
  return std::pow(rms(sub(after, before).value()) / kChange, 2);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  const std::vector<double> depths{4, 8, 16, 32, 64};
  std::vector<double> logs;
  for (const double n : depths) logs.push_back(std::log(n));
  for (const std::uint64_t seed : context.seeds)
    for (const char* name : kStacks) {
      context.check();
      std::vector<double> changes;
      for (const double n : depths) changes.push_back(output_change(context, name, static_cast<std::size_t>(n), seed));
      s.add(concat(name, ", power"), fitted_power(depths, changes));
      s.add(concat(name, ", R2 against ln n"), fitted_line(logs, changes).r2);
    }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      "square of the output's change under a change of all weights goes with the number of units (4 to 64) to the power:";
  for (const char* name : kStacks) text += concat(name == kStacks[0] ? " " : ", ", name, " ", s.text(concat(name, ", power")));
  text += concat("; R² of a line against ln n: pre-ln ", s.text("pre-ln, R2 against ln n"), ", admin ",
                 s.text("admin, R2 against ln n"));
  const bool post = std::abs(s.mean("post-ln, power") - 1) < 0.2;
  const bool logarithm = s.mean("pre-ln, R2 against ln n") > 0.95 && s.mean("admin, R2 against ln n") > 0.95 &&
                         s.mean("pre-ln, power") < 0.6 && s.mean("admin, power") < 0.6;
  const bool flat = s.mean("deepnorm, power") < 0.1;
  if (post && logarithm && flat) return holds(text);
  return post || logarithm ? mixed(text) : fails(text);
}

}  // namespace

Claim claim() {
  return {
      .id = "C10",
      .statement = "A small change of the parameters is amplified like n in post-LN and like log n in pre-LN and Admin.",
      .source = "Liu et al. 2020, arXiv 2004.08249",
      .expected =
          "power of n: post-LN 1 ± 0.2; pre-LN and Admin below 0.6 and straight against ln n (R² > 0.95); DeepNorm does not grow",
      .earlier = {"seen at this scale",
                  "with GPT-2's weights the branches are too weak for depth to count: post-LN, pre-LN and Admin are alike"},
      .compares = true,
      .start =
          "branches are made up of one matrix each, drawn by the rule as W_2 would be; DeepNorm's times the β of its formula",
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c10
