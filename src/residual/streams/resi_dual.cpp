// ResiDual (Xie et al. 2023): two streams. F reads the post-normed one; the other collects the branches as they are.
//
//   r_0 = s x_0;   x <- N(x + f),   r <- r + s f;   out = α x + N(r)        α = s = 1 unless chosen otherwise
#include "residual/streams/classes.h"

namespace addnorm {
namespace {

class ResiDualStream;

class ResiDual final : public NormedResidualOf<ResiDual, ResiDualStream> {
 public:
  ResiDual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : NormedResidualOf(row, shape, options, UnitNorms(options.norm, shape)),
        alpha(row.choices.stream_share.value_or(1)),
        s(row.choices.second_stream_scale.value_or(1)) {
    require(options.final_norm.value_or(true), "arrangement 'resi-dual': it ends in x + N(r); final_norm cannot be off");
  }
  double alpha, s;
};

class ResiDualStream final : public Stream {
 public:
  ResiDualStream(const ResiDual& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass) {}
  State state() const override { return {{x_, r_}, std::nullopt}; }
  void restore(const State& state) override {
    x_ = state.vars.at(0);
    r_ = state.vars.at(1);
  }

 private:
  void do_begin(const Var& x0) override {
    x_ = residual_.entry(x0, pass_);
    r_ = times(x_, {.constant = residual_.s});
    announce_stream(nullptr, x_);
  }
  Var do_read(const Unit& unit) override {
    check(residual_.shape(), unit);
    const Parted part = parted(unit, x_);
    x_ = part.skip;
    return part.branch;
  }
  void do_write(const Unit& unit, const Var& f) override {
    check(residual_.shape(), unit);
    const Var added = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, added);
    r_ = add(r_, times(added, {.constant = residual_.s}));
    x_ = residual_.norms(unit).add(x_, added, {}, {}, {}, pass_).y;
    announce_stream(&unit, x_);
  }
  Var do_close() override { return add(times(x_, {.constant = residual_.alpha}), residual_.exit(r_, pass_)); }

  const ResiDual& residual_;
  Pass pass_;
  Var x_, r_;
};

}  // namespace

std::unique_ptr<Residual> make_resi_dual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<ResiDual>(row, shape, options);
}

}  // namespace addnorm
