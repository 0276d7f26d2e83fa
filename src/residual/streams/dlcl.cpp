// Dynamic linear combination of layers (Wang et al. 2019): a layer reads a learned mix of the input and of all layers below it.
//
//   pre:   layer l reads  sum over k < l of w_lk N_k(y_k),  N_0 the identity
//   post:  layer l reads  N_l( sum over k < l of w_lk y_k ),  without a norm for the first
//
// y_0 is the input, y_k the output of layer k, whose units are those of pre-ln or post-ln. One more mix after the last layer
// takes the place of the final norm. Each w_l starts uniform. A layer that is left out is the identity: y_k is what it would have
// read. One that runs again reads the same once more, since it sees only those below, and its output replaces the first.
#include <algorithm>

#include "residual/streams/layered.h"

namespace addnorm {
namespace {

class DlclStream;

ResidualOptions without_exit(ResidualOptions options) {
  options.final_norm = false;
  return options;
}

class Dlcl final : public LayeredOf<Dlcl, DlclStream> {
 public:
  Dlcl(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, bool norm_first)
      : LayeredOf(row, shape, options, norm_first ? "pre-ln" : "post-ln", without_exit(options)), pre(norm_first) {
    require(!options.final_norm.value_or(false), "arrangement '", row.name,
            "': the last mix of layers takes the place of the final norm; leave final_norm off");
    for (std::size_t count = 1; count <= shape.layers + 1; ++count)
      weights.emplace_back(Tensor::full({count}, 1 / static_cast<double>(count)), true);
    for (std::size_t k = 0; k < shape.layers; ++k) norms.emplace_back(options.norm, shape.width);
  }
  void visit(Visitor& visitor) override {
    visitor.child("", inner);
    for (std::size_t k = 0; k < weights.size(); ++k) visitor.parameter(concat("mix.", k), weights[k], Role::coefficient);
    for (std::size_t k = 0; k < norms.size(); ++k) visitor.child(concat("mix.", k + 1, ".norm"), norms[k]);
  }
  bool pre;
  std::vector<Var> weights;  // [l]: of the mix that layer l reads; the last one makes the exit
  std::vector<Norm> norms;   // [l - 1]: N_l
};

class DlclStream final : public LayeredStream<Dlcl> {  // kept: y_0, y_1, ...; pre: normed
 public:
  using LayeredStream::LayeredStream;
  State state() const override { return {kept_, std::nullopt}; }  // between layers nothing else is alive
  void restore(const State& state) override { kept_ = state.vars; }

 private:
  void do_enter(std::size_t layer) override { go_on_from(mix_below(layer)); }
  void do_leave(std::size_t layer) override { keep(layer, inner_.settled()); }
  Var do_close() override { return mix_below(residual_.shape().layers); }

  void keep(std::size_t layer, const Var& y) { kept_.push_back(residual_.pre ? residual_.norms[layer](y, pass_) : y); }
  /// What `layer` reads. Layers below that did not run give what they would have read; what stands from this one on is of an
  /// earlier run, and goes.
  Var mix_below(std::size_t layer) {
    kept_.resize(std::min(kept_.size(), layer + 1));
    while (kept_.size() <= layer) keep(kept_.size() - 1, mix(kept_.size() - 1));
    return mix(layer);
  }

  Var mix(std::size_t row) const {
    const Var x = weighted_sum(kept_, residual_.weights[row]);
    return residual_.pre || row == 0 ? x : residual_.norms[row - 1](x, pass_);
  }
};

template <bool pre>
StreamSum gain_of_dlcl(const StackShape& shape, const BranchDeviation& s) {
  std::vector<StreamSum> outputs{StreamSum::input()};
  const auto mix = [&] {
    StreamSum all = outputs.front();
    for (std::size_t k = 1; k < outputs.size(); ++k) all = all + outputs[k];
    all = all.times(1 / static_cast<double>(outputs.size()));
    return pre || outputs.size() == 1 ? all : all.normed();
  };
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    StreamSum x = mix();
    for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
      const Unit unit = shape.unit(layer, i);
      x = x.with(unit.index + 1, s(unit));
      if (!pre) x = x.normed();
    }
    outputs.push_back(pre ? x.normed() : x);
  }
  return mix();
}

template <bool pre>
Diagram draw_dlcl(const Drawer& draw, const ArrangementChoices&) {
  Diagram all = draw.each_unit(pre ? UnitSlots{.in = true} : UnitSlots{.post = true});
  Drawer::Steps& steps = all.layers[0].steps;
  const Drawer::Steps head = Drawer::joined({Drawer::mix()}, draw.norm(!pre));
  steps = Drawer::joined(Drawer::joined(head, steps), draw.norm(pre));
  steps.push_back(Drawer::keep());
  all.entry = {Drawer::keep()};
  all.exit = Drawer::joined({Drawer::mix()}, draw.named_norm(!pre, "last"));
  all.side = "y";
  return all;
}

}  // namespace

std::vector<ClassArrangement> dlcl_classes() {
  return {{.row = {.name = "dlcl-pre",
                   .source = "Wang et al., arXiv 1906.01787",
                   .year = 2019,
                   .used_by = "its authors, deep translation models",
                   .failure = "keeps the output of every layer: memory grows with depth",
                   .aliases = {"dlcl"},
                   .text = "x' = x + F(N(x)); layer l reads Σ_{k<l} w_lk N_k(y_k), the exit too",
                   .between_units = "the outputs of all layers are kept and mixed"},
           .make = class_maker<Dlcl, true>,
           .said = {.exit = "y = Σ_{k≤L} w_k N_k(y_k)",
                    .symbols = "w_lk: learned, start at 1/l; y_0 = x₀",
                    .norm_note = ", without a norm",
                    .layer_norms = 1,
                    .layer_mix = "l",
                    .exit_mix = "L + 1"},
           .gain = gain_of_dlcl<true>,
           .draw = draw_dlcl<true>},
          {.row = {.name = "dlcl-post",
                   .source = "Wang et al., arXiv 1906.01787",
                   .year = 2019,
                   .used_by = "its authors, deep translation models",
                   .failure = "keeps the output of every layer: memory grows with depth",
                   .text = "x' = N(x + F(x)); layer l reads N_l(Σ_{k<l} w_lk y_k), the exit too",
                   .between_units = "the outputs of all layers are kept and mixed"},
           .make = class_maker<Dlcl, false>,
           .said = {.exit = "y = N_{L+1}(Σ_{k≤L} w_k y_k)",
                    .symbols = "w_lk: learned, start at 1/l; y_0 = x₀",
                    .norm_note = "; no norm before layer 1",
                    .layer_norms = 1,
                    .layer_mix = "l",
                    .exit_mix = "L + 1"},
           .gain = gain_of_dlcl<false>,
           .draw = draw_dlcl<false>}};
}

}  // namespace addnorm
