// B2T (Takase et al. 2022): post-ln, with the layer's input added once more before the last norm of the layer, so that a
// gradient crosses one norm per layer.
//
//   x <- N(x + f);   last unit of a layer that began with x_l:   x <- N(x_l + x + f)
#include "residual/streams/classes.h"

namespace addnorm {
namespace {

class B2tStream;

class B2t final : public NormedResidualOf<B2t, B2tStream> {
 public:
  B2t(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : NormedResidualOf(row, shape, options, UnitNorms(options.norm, shape)) {}
};

class B2tStream final : public Stream {
 public:
  B2tStream(const B2t& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass) {}
  State state() const override { return {{x_}, std::nullopt}; }  // between layers, where the bottom is x itself
  void restore(const State& state) override { x_ = bottom_ = state.vars.at(0); }

 private:
  void do_begin(const Var& x0) override {
    x_ = bottom_ = residual_.entry(x0, pass_);
    announce_stream(nullptr, x_);
  }
  void do_enter(std::size_t) override { bottom_ = x_; }
  Var do_read(const Unit& unit) override {
    check(residual_.shape(), unit);
    const Parted part = parted(unit, x_);
    x_ = part.skip;
    if (unit.first_in_layer) bottom_ = x_;  // it too passes the branch by
    return part.branch;
  }
  void do_write(const Unit& unit, const Var& f) override {
    check(residual_.shape(), unit);
    const Var added = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, added);
    const Var skip = unit.last_in_layer ? add(bottom_, x_) : x_;
    x_ = residual_.norms(unit).add(skip, added, {}, {}, {}, pass_).y;
    announce_stream(&unit, x_);
  }
  Var do_close() override { return residual_.exit(x_, pass_); }

  const B2t& residual_;
  Pass pass_;
  Var x_, bottom_;
};

}  // namespace

std::unique_ptr<Residual> make_b2t(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<B2t>(row, shape, options);
}

}  // namespace addnorm
