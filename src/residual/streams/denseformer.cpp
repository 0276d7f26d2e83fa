// DenseFormer (Pagliardini et al. 2024): pre-ln layers; after each, the stream becomes a weighted sum of the embedding and of all
// layers so far.
//
//   after layer l:  x <- sum over k <= l of w_lk y_k,   y_0 the input, y_k the output of layer k;   w starts one-hot: pre-ln
//
// A layer that is left out is the identity, and its mix is left out with it: y_k is the stream as it was. One that runs again
// reads what its mix made of the first run, and its output replaces the first.
#include <algorithm>

#include "residual/streams/layered.h"

namespace addnorm {
namespace {

class DenseFormerStream;

class DenseFormer final : public LayeredOf<DenseFormer, DenseFormerStream> {
 public:
  DenseFormer(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : LayeredOf(row, shape, options, "pre-ln") {
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      Tensor newest = Tensor::zeros({layer + 2});
      newest.data<float>()[layer + 1] = 1;
      weights.emplace_back(std::move(newest), true);
    }
  }
  void visit(Visitor& visitor) override {
    visitor.child("", inner);
    for (std::size_t layer = 0; layer < weights.size(); ++layer)
      visitor.parameter(concat("layers.", layer, ".mix"), weights[layer], Role::coefficient);
  }
  std::vector<Var> weights;
};

class DenseFormerStream final : public LayeredStream<DenseFormer> {
 public:
  using LayeredStream::LayeredStream;

 private:
  /// Layers below that did not run gave what they read, the stream; what stands from this one on is of an earlier run, and goes.
  void do_enter(std::size_t layer) override {
    kept_.resize(std::min(kept_.size(), layer + 1));
    while (kept_.size() <= layer) kept_.push_back(inner_.settled());
  }
  void do_leave(std::size_t layer) override {
    kept_.push_back(inner_.settled());
    go_on_from(weighted_sum(kept_, residual_.weights[layer]));
  }
};

}  // namespace

std::vector<ClassArrangement> denseformer_classes() {
  return {
      {.row = {.name = "denseformer",
               .exit = true,
               .init = init_rule_named("gpt2"),
               .source = "Pagliardini et al., arXiv 2402.02622",
               .year = 2024,
               .used_by = "its authors",
               .failure = "keeps the output of every layer: memory grows with depth",
               .aliases = {"dwa", "depth-weighted-average"},
               .text = "x' = x + F(N(x)); after layer l: x = Σ_{k≤l} w_lk y_k, y_k the output of layer k",
               .between_units = "the outputs of all layers are kept and mixed"},
       .make = class_maker<DenseFormer>,
       .said = {.symbols = "w_lk: learned, start at 1 for k = l and 0 for the others: as pre-ln; y_0 = x₀", .layer_mix = "l + 1"},
       .gain = pre_ln_gain,
       .draw = [](const Drawer& draw, const ArrangementChoices&) {
         Diagram all = draw.each_unit({.in = true});
         all.entry = {Drawer::keep()};
         all.layers[0].steps.push_back(Drawer::keep());
         all.layers[0].steps.push_back(Drawer::mix());
         all.side = "y";
         return all;
       }}};
}

}  // namespace addnorm
