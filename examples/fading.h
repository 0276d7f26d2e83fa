// An arrangement that no row can say, registered by name: the skip fades with the number of the layer.
//
//   x' = x / l + F(x)        l counts layers from 1; no norms, no parameters
#pragma once

#include "addnorm/addnorm.h"

namespace example {

using namespace addnorm;

class Fading : public Residual {
 public:
  Fading(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) : Residual(row, shape, options) {}
  void visit(Visitor&) override {}

 private:
  std::unique_ptr<Stream> do_open(const Var& x0, const Pass& pass, StreamObserver* observer) const override;
};

class FadingStream : public Stream {
 public:
  FadingStream(const Fading& residual, const Var& x0, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass), x_(x0) {
    announce_stream(nullptr, x_);
  }
  State state() const override { return {{x_}, std::nullopt}; }
  void restore(const State& state) override { x_ = state.vars.at(0); }

 private:
  Var do_read(const Unit&) override { return x_; }
  void do_write(const Unit& unit, const Var& f) override {
    const Var added = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, added);
    x_ = add(scale(x_, 1.0 / static_cast<double>(unit.layer + 1)), added);
    announce_stream(&unit, x_);
  }
  Var do_close() override { return x_; }

  const Fading& residual_;
  Pass pass_;
  Var x_;
};

inline std::unique_ptr<Stream> Fading::do_open(const Var& x0, const Pass& pass, StreamObserver* observer) const {
  return std::make_unique<FadingStream>(*this, x0, pass, observer);
}

inline void register_fading() {
  register_arrangement(
      {.name = "fading",
       .source = "docs/adding-an-arrangement.md",
       .year = 2026,
       .make = [](const Arrangement& row, const StackShape& shape, const ResidualOptions& options) -> std::unique_ptr<Residual> {
         return std::make_unique<Fading>(row, shape, options);
       },
       .text = "x' = x/l + F(x)"});
}

}  // namespace example
