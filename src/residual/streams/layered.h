// Arrangements whose layers are those of a row, with something of their own between layers: a mix of what earlier layers gave.
#pragma once

#include <string>
#include <vector>

#include "addnorm/residual/catalogue.h"
#include "residual/streams/classes.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {

/// `inner` is the stack of a row of the catalogue.
template <class Self, class S>
class LayeredOf : public ResidualOf<Self, S> {
 public:
  SlotResidual inner;

 protected:
  LayeredOf(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, const char* layers)
      : LayeredOf(row, shape, options, layers, options) {}
  LayeredOf(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, const char* layers,
            const ResidualOptions& of_layers)
      : ResidualOf<Self, S>(row, shape, options), inner(with_options(arrangement_named(layers), of_layers), shape, options) {}
};

/// Units read and write the inner stream. What is kept of other layers begins with the stack's input.
template <class R>
class LayeredStream : public Stream {
 public:
  LayeredStream(const R& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass), inner_(residual.inner, pass, observer) {}
  /// Between layers: the stream, then all that is kept.
  State state() const override {
    State all = inner_.state();
    all.vars.insert(all.vars.end(), kept_.begin(), kept_.end());
    return all;
  }
  void restore(const State& state) override {
    go_on_from(state.vars.at(0));
    kept_.assign(state.vars.begin() + 1, state.vars.end());
  }

 protected:
  void go_on_from(const Var& x) { inner_.restore({{x}, std::nullopt}); }

  const R& residual_;
  Pass pass_;
  SlotStream inner_;
  std::vector<Var> kept_;

 private:
  void do_begin(const Var& x0) override {
    inner_.begin(x0);
    kept_ = {inner_.settled()};
  }
  Var do_read(const Unit& unit) override { return inner_.read(unit); }
  void do_write(const Unit& unit, const Var& f) override { inner_.write(unit, f); }
  void do_leave(std::size_t) override { inner_.settled(); }
  Var do_close() override { return inner_.close(); }
};

/// A learned number per layer: "layers.3.a".
class LayerNumbers : public Module {
 public:
  LayerNumbers(const char* name, std::size_t layers, double start) : name_(name) {
    for (std::size_t layer = 0; layer < layers; ++layer) numbers_.emplace_back(Tensor::full({1}, start), true);
  }
  Factor operator[](std::size_t layer) const { return {.learned = numbers_[layer]}; }
  void visit(Visitor& visitor) override {
    for (std::size_t layer = 0; layer < numbers_.size(); ++layer)
      visitor.parameter(concat("layers.", layer, ".", name_), numbers_[layer], Role::coefficient);
  }

 private:
  const char* name_;
  std::vector<Var> numbers_;
};

}  // namespace addnorm
