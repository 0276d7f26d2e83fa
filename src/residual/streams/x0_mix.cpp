// x0-mix (modded-nanogpt 2024, nanochat 2026): pre-ln layers, each of which begins with a mix of the stream and the stack's
// input.
//
//   before layer l:  x <- a_l x + b_l x_0        a_l starts at 1, b_l at 0: as pre-ln
//
// Both sources norm x_0 first, without a gain: that is embedding_norm.
#include "residual/streams/layered.h"

namespace addnorm {
namespace {

class X0MixStream;

class X0Mix final : public LayeredOf<X0Mix, X0MixStream> {
 public:
  X0Mix(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : LayeredOf(row, shape, options, "pre-ln"), a("a", shape.layers, 1), b("b", shape.layers, 0) {}
  void visit(Visitor& visitor) override {
    for (Module* part : std::initializer_list<Module*>{&inner, &a, &b}) visitor.child("", *part);
  }
  LayerNumbers a, b;
};

class X0MixStream final : public LayeredStream<X0Mix> {
 public:
  using LayeredStream::LayeredStream;

 private:
  void do_enter(std::size_t l) override { go_on_from(residual_sum(inner_.settled(), kept_[0], residual_.a[l], residual_.b[l])); }
};

Diagram draw_x0_mix(const Drawer& draw, const ArrangementChoices&) {
  Diagram all = draw.each_unit({.in = true});
  all.entry = {Drawer::keep()};
  all.layers[0].steps.insert(all.layers[0].steps.begin(), Drawer::mix("a·x + b·x₀"));
  all.side = "x₀";
  return all;
}

}  // namespace

std::vector<ClassArrangement> x0_mix_classes() {
  return {{.row = {.name = "x0-mix",
                   .exit = true,
                   .init = init_rule_named("gpt2"),
                   .source = "modded-nanogpt, Jordan et al.; nanochat, Karpathy",
                   .year = 2024,
                   .used_by = "modded-nanogpt, nanochat",
                   .failure = "what it gains shrinks with depth",
                   .aliases = {"x0-lambdas"},
                   .text = "x' = x + F(N(x)); before layer l: x = a_l x + b_l x₀",
                   .between_units = "the stack's input goes past all units to every layer"},
           .make = class_maker<X0Mix>,
           .said = {.symbols = "a_l, b_l: learned, start at 1 and 0: as pre-ln", .layer_numbers = 2},
           .gain = pre_ln_gain,
           .draw = draw_x0_mix}};
}

}  // namespace addnorm
