// Dynamic linear combination of layers (Wang et al. 2019): a layer reads a learned mix of the input and of all layers below it.
//
//   pre:   layer l reads  sum over k < l of w_lk N_k(y_k),  N_0 the identity
//   post:  layer l reads  N_l( sum over k < l of w_lk y_k ),  without a norm for the first
//
// y_0 is the input, y_k the output of layer k, whose units are those of pre-ln or post-ln. One more mix after the last layer
// takes the place of the final norm. Each w_l starts uniform. A layer that is left out is the identity: y_k is what it would have
// read. One that runs again reads the same once more, since it sees only those below, and its output replaces the first.
#include <algorithm>

#include "addnorm/residual/catalogue.h"
#include "residual/streams/classes.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {
namespace {

class DlclStream;

ResidualOptions without_exit(ResidualOptions options) {
  options.final_norm = false;
  return options;
}

class Dlcl final : public ResidualOf<Dlcl, DlclStream> {
 public:
  Dlcl(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, bool norm_first)
      : ResidualOf(row, shape, options),
        pre(norm_first),
        inner(with_options(arrangement_named(norm_first ? "pre-ln" : "post-ln"), without_exit(options)), shape, options) {
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
  SlotResidual inner;
  std::vector<Var> weights;  // [l]: of the mix that layer l reads; the last one makes the exit
  std::vector<Norm> norms;   // [l - 1]: N_l
};

class DlclStream final : public Stream {
 public:
  DlclStream(const Dlcl& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass), inner_(residual.inner, pass, observer) {}
  State state() const override { return {outputs_, std::nullopt}; }  // between layers nothing else is alive
  void restore(const State& state) override { outputs_ = state.vars; }

 private:
  void do_begin(const Var& x0) override {
    inner_.begin(x0);
    outputs_ = {inner_.settled()};
  }
  void do_enter(std::size_t layer) override { inner_.restore({{mix_below(layer)}, std::nullopt}); }
  Var do_read(const Unit& unit) override { return inner_.read(unit); }
  void do_write(const Unit& unit, const Var& f) override { inner_.write(unit, f); }
  void do_leave(std::size_t layer) override { keep(layer, inner_.settled()); }
  Var do_close() override { return mix_below(residual_.shape().layers); }

  void keep(std::size_t layer, const Var& y) { outputs_.push_back(residual_.pre ? residual_.norms[layer](y, pass_) : y); }
  /// What `layer` reads. Layers below that did not run give what they would have read; what stands from this one on is of an
  /// earlier run, and goes.
  Var mix_below(std::size_t layer) {
    outputs_.resize(std::min(outputs_.size(), layer + 1));
    while (outputs_.size() <= layer) keep(outputs_.size() - 1, mix(outputs_.size() - 1));
    return mix(layer);
  }

  Var mix(std::size_t row) const {
    const Var x = weighted_sum(outputs_, residual_.weights[row]);
    return residual_.pre || row == 0 ? x : residual_.norms[row - 1](x, pass_);
  }

  const Dlcl& residual_;
  Pass pass_;
  SlotStream inner_;
  std::vector<Var> outputs_;  // y_0, y_1, ...; pre: normed
};

}  // namespace

std::unique_ptr<Residual> make_dlcl_pre(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<Dlcl>(row, shape, options, true);
}
std::unique_ptr<Residual> make_dlcl_post(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<Dlcl>(row, shape, options, false);
}

}  // namespace addnorm
