// DenseFormer (Pagliardini et al. 2024): pre-ln layers; after each, the stream becomes a weighted sum of the embedding and of all
// layers so far.
//
//   after layer l:  x <- sum over k <= l of w_lk y_k,   y_0 the input, y_k the output of layer k;   w starts one-hot: pre-ln
//
// A layer that is left out is the identity, and its mix is left out with it: y_k is the stream as it was. One that runs again
// reads what its mix made of the first run, and its output replaces the first.
#include <algorithm>

#include "addnorm/residual/catalogue.h"
#include "residual/streams/classes.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {
namespace {

class DenseFormerStream;

class DenseFormer final : public ResidualOf<DenseFormer, DenseFormerStream> {
 public:
  DenseFormer(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : ResidualOf(row, shape, options), inner(with_options(arrangement_named("pre-ln"), options), shape, options) {
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
  SlotResidual inner;
  std::vector<Var> weights;
};

class DenseFormerStream final : public Stream {
 public:
  DenseFormerStream(const DenseFormer& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), inner_(residual.inner, pass, observer) {}
  /// Between layers: the stream, then every output so far.
  State state() const override {
    State all = inner_.state();
    all.vars.insert(all.vars.end(), outputs_.begin(), outputs_.end());
    return all;
  }
  void restore(const State& state) override {
    inner_.restore({{state.vars.at(0)}, std::nullopt});
    outputs_.assign(state.vars.begin() + 1, state.vars.end());
  }

 private:
  void do_begin(const Var& x0) override {
    inner_.begin(x0);
    outputs_ = {inner_.settled()};
  }
  /// Layers below that did not run gave what they read, the stream; what stands from this one on is of an earlier run, and goes.
  void do_enter(std::size_t layer) override {
    outputs_.resize(std::min(outputs_.size(), layer + 1));
    while (outputs_.size() <= layer) outputs_.push_back(inner_.settled());
  }
  Var do_read(const Unit& unit) override { return inner_.read(unit); }
  void do_write(const Unit& unit, const Var& f) override { inner_.write(unit, f); }
  void do_leave(std::size_t layer) override {
    outputs_.push_back(inner_.settled());
    inner_.restore({{weighted_sum(outputs_, residual_.weights[layer])}, std::nullopt});
  }
  Var do_close() override { return inner_.close(); }

  const DenseFormer& residual_;
  SlotStream inner_;
  std::vector<Var> outputs_;
};

}  // namespace

std::unique_ptr<Residual> make_denseformer(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<DenseFormer>(row, shape, options);
}

}  // namespace addnorm
