// Parallel layers: every sub-layer of a layer reads the layer's input, and all are added at once.
//
//   x' = x + Attn(u) + FFN(u),  u = N(x)                  parallel (GPT-J, PaLM)
//   x' = x + Attn(N_1(x)) + FFN(N_2(x))                   parallel-2ln (GPT-NeoX)
#include <array>

#include "residual/streams/classes.h"

namespace addnorm {
namespace {

class ParallelStream;

class Parallel final : public NormedResidualOf<Parallel, ParallelStream> {
 public:
  Parallel(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, bool shared_norm)
      : NormedResidualOf(row, shape, options, UnitNorms(options.norm, shared_norm ? one_per_layer(shape) : shape)),
        shared(shared_norm) {}
  /// The norm through which this unit reads.
  const Norm& norm(const Unit& unit) const {
    if (!shared) return norms(unit);
    check(shape(), unit);
    return norms({.layer = unit.layer, .sub_layer = shape().sub_layers[0], .index = unit.layer});
  }
  bool shared;

 private:
  static StackShape one_per_layer(const StackShape& shape) {
    return {.width = shape.width, .layers = shape.layers, .sub_layers = {shape.sub_layers[0]}};
  }
};

class ParallelStream final : public Stream {
 public:
  ParallelStream(const Parallel& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass) {}
  State state() const override { return {{sum_}, std::nullopt}; }  // between layers; within one nothing is recomputed
  void restore(const State& state) override { sum_ = state.vars.at(0); }

 private:
  void do_begin(const Var& x0) override {
    sum_ = residual_.entry(x0, pass_);
    announce_stream(nullptr, sum_);
  }
  Var do_read(const Unit& unit) override {
    check(residual_.shape(), unit);
    if (!unit.first_in_layer) return residual_.shared ? normed_ : residual_.norm(unit)(x_, pass_);
    const Parted part = parted(unit, sum_);  // later units of the layer belong to what passes this one by
    x_ = sum_ = part.skip;
    normed_ = residual_.norm(unit)(part.branch, pass_);
    return normed_;
  }
  void do_write(const Unit& unit, const Var& f) override {
    check(residual_.shape(), unit);
    const Var added = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, added);
    sum_ = add(sum_, added);
    announce_stream(&unit, sum_);
  }
  Var do_close() override { return residual_.exit(sum_, pass_); }

  const Parallel& residual_;
  Pass pass_;
  Var x_;       // what the layer began with
  Var sum_;     // that and what its units have written
  Var normed_;  // of the layer's first unit; shared by all of them
};

}  // namespace

std::vector<ClassArrangement> parallel_classes() {
  return {{.row = {.name = "parallel",
                   .exit = true,
                   .init = init_rule_named("gpt2"),
                   .source = "GPT-J, Wang and Komatsuzaki",
                   .year = 2021,
                   .used_by = "GPT-J, PaLM, Falcon",
                   .failure = "the feed-forward part cannot see what attention of the same layer found",
                   .aliases = {"GPT-J", "parallel_attn", "parallel_attn_mlp", "parallel-shared"},
                   .text = "u = N(x); x' = x + Attn(u) + FFN(u)",
                   .between_units = "the units of a layer all read its input; one alone is pre-ln"},
           .make = class_maker<Parallel, true>,
           .said = {.norms = 0, .layer_norms = 1},
           .gain = pre_ln_gain,
           .draw =
               [](const Drawer& draw, const ArrangementChoices&) {
                 std::vector<Drawer::Steps> ways;
                 for (const Unit& unit : draw.units()) ways.push_back(draw.branch(unit));
                 return Drawer::each_layer(Drawer::sum({{}, Drawer::joined(draw.norm(), Drawer::sum(ways))}));
               }},
          {.row = {.name = "parallel-2ln",
                   .exit = true,
                   .init = init_rule_named("gpt2"),
                   .source = "GPT-NeoX, Black et al., arXiv 2204.06745",
                   .year = 2022,
                   .used_by = "GPT-NeoX, Pythia",
                   .failure = "as parallel",
                   .aliases = {"GPT-NeoX", "use_parallel_residual", "parallel_residual", "gpt_j_residual"},
                   .text = "x' = x + Attn(N_1(x)) + FFN(N_2(x))",
                   .between_units = "the units of a layer all read its input; one alone is pre-ln"},
           .make = class_maker<Parallel, false>,
           .gain = pre_ln_gain,
           .draw = [](const Drawer& draw, const ArrangementChoices&) {
             constexpr std::array kIndex{"₁", "₂", "₃"};
             std::vector<Drawer::Steps> ways{{}};
             for (const Unit& unit : draw.units())
               ways.push_back(Drawer::joined(draw.norm(true, kIndex.at(unit.index % kIndex.size())), draw.branch(unit)));
             return Drawer::each_layer(Drawer::sum(ways));
           }}};
}

}  // namespace addnorm
