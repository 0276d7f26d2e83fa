// C15: pure attention makes all tokens one vector; skips prevent it.
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/nn/attention.h"
#include "addnorm/nn/feed_forward.h"
#include "claims/bench/experiment.h"
#include "claims/list.h"
#include "lab/outcome/statistics.h"

namespace addnorm::lab::c15 {
namespace {

constexpr std::size_t kWidth = 32, kLayers = 8;

/// ||X - 1 mean|| / ||X|| after each layer of attention, and feed-forward units where asked for; in double.
std::vector<double> spreads(const ClaimContext& context, const char* arrangement, bool with_ffn, std::uint64_t seed) {
  const NoGrad no_grad;
  StackShape shape{.width = kWidth, .layers = kLayers, .sub_layers = {SubLayer::self}};
  if (with_ffn) shape.sub_layers.push_back(SubLayer::ffn);
  std::vector<Attention> attention;
  std::vector<FeedForward> ffn;
  for (std::size_t i = 0; i < kLayers; ++i) {
    attention.emplace_back(MultiHeadOptions{.d_model = kWidth, .heads = 4});
    ffn.emplace_back(FeedForwardOptions{.d_model = kWidth, .d_ff = 4 * kWidth});
    draw(attention.back(), context, shape, seed * 100 + i);
    draw(ffn.back(), context, shape, seed * 100 + 50 + i);
    convert(attention.back(), DType::f64);
    convert(ffn.back(), DType::f64);
  }
  const auto residual = make_residual(arrangement, shape);
  convert(*residual, DType::f64);
  Watch watch;
  run_units(
      *residual, random_var({1, 16, kWidth}, seed, DType::f64),
      [&](const Unit& u, const Var& x) {
        return u.sub_layer == SubLayer::self ? attention[u.layer](x, {}, {}) : ffn[u.layer](x, {});
      },
      {}, &watch);
  std::vector<double> all;
  for (std::size_t i = 0; i < watch.streams.size(); i += shape.sub_layers.size())
    all.push_back(token_spread(watch.streams[i].value()));
  return all;
}

Samples measure(const ClaimContext& context) {
  Samples s;
  for (const std::uint64_t seed : context.seeds) {
    const auto add = [&](const char* name, const char* arrangement, bool ffn) {
      const std::vector<double> all = spreads(context, arrangement, ffn, seed);
      s.add(name, std::log10(std::max(all[kLayers], 1e-17)));
      s.add(concat(name, ", 2 layers"), std::log10(std::max(all[2], 1e-17)));
      return all;
    };
    const std::vector<double> bare = add("attention", "plain", false);
    add("attention and norms", "plain-ln", false);
    add("attention and feed-forward", "plain", true);
    add("attention with skips", "residual", false);
    std::vector<double> layers, doubled;  // ln(-ln r) is straight where the collapse is doubly exponential
    for (std::size_t l = 1; l < bare.size() && bare[l] > 1e-13; ++l) {
      layers.push_back(static_cast<double>(l));
      doubled.push_back(std::log(-std::log(bare[l])));
    }
    const Line line = layers.size() > 2 ? fitted_line(layers, doubled) : Line{};
    s.add("slope of ln(-ln r)", line.slope);
    s.add("R2", line.r2);
  }
  return s;
}

ClaimVerdict judge(const Samples& s) {
  const std::string text = concat(
      "powers of ten of what differs between tokens, over their size, after 8 layers: attention alone ", s.text("attention"),
      ", with norms ", s.text("attention and norms"), ", with feed-forward units ", s.text("attention and feed-forward"),
      ", with skips ", s.text("attention with skips"), "; after 2 layers attention alone ", s.text("attention, 2 layers"),
      ", with feed-forward units ", s.text("attention and feed-forward, 2 layers"), "; ln(-ln r) of attention alone rises by ",
      s.text("slope of ln(-ln r)"), " per layer, R² ", s.text("R2"));
  const bool collapses = s.mean("attention") < -3;
  const bool kept = s.mean("attention with skips") > -1;
  const bool norms_nothing = s.mean("attention and norms") < -3;
  const bool slowed = s.mean("attention and feed-forward, 2 layers") > s.mean("attention, 2 layers") + 0.1;
  const bool doubly = s.mean("slope of ln(-ln r)") > 0.7 && s.mean("R2") > 0.95;
  const std::string told = concat(text, "; after 2 layers feed-forward units ", slowed ? "slow the collapse" : "do not slow it");
  if (collapses && kept && norms_nothing && slowed && doubly) return holds(told);
  return collapses && kept ? mixed(told) : fails(told);
}

}  // namespace

Claim claim() {
  return {
      .id = "C15",
      .statement =
          "Pure attention loses rank doubly exponentially with depth; skips prevent it, feed-forward units slow it, norms do "
          "nothing.",
      .source = "Dong et al. 2021, arXiv 2103.03404",
      .expected =
          "after 8 layers below 10^-3 without skips (norms or not), above 10^-1 with them; after 2 layers at least a tenth of "
          "a power of ten more with feed-forward units than without; ln(-ln r) straight (R² > 0.95) with slope above 0.7 (a "
          "bound allows ln 3). Mixed: at least the collapse, and skips that prevent it",
      .changed =
          "feed-forward units were first compared after 8 layers, where everything has collapsed to rounding; mixed before "
          "and after. Behind 2 layers the collapse had been seen to be faster with them (-2.23) than without (-1.45)",
      .compares = true,
      .measure = measure,
      .judge = judge};
}

}  // namespace addnorm::lab::c15
