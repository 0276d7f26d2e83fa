// Recursive skip (Liu F. et al. 2020): the skip is added and normed again, so that its share grows. Twice:
//
//   y_1 = N_1(x + f),   x' = N_2(x + y_1)
#include "residual/classes.h"

namespace addnorm {
namespace {

constexpr std::size_t kTimes = 2;  // lambda; 1 would be post-ln

class RskipStream;

class Rskip final : public ResidualOf<Rskip, RskipStream> {
 public:
  Rskip(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : ResidualOf(row, shape, options),
        norms(options.norm, shape, kTimes),
        entry(norm_if(options.embedding_norm.value_or(false))),
        exit(norm_if(options.final_norm.value_or(false))) {}
  void visit(Visitor& visitor) override {
    visitor.child("entry", entry);
    visitor.child("", norms);
    visitor.child("exit", exit);
  }
  UnitNorms norms;
  Norm entry, exit;
};

class RskipStream final : public Stream {
 public:
  RskipStream(const Rskip& residual, const Var& x0, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass), x_(residual.entry(x0, pass)) {
    announce_stream(nullptr, x_);
  }
  State state() const override { return {{x_}, std::nullopt}; }
  void restore(const State& state) override { x_ = state.vars.at(0); }

 private:
  Var do_read(const Unit&) override { return x_; }
  void do_write(const Unit& unit, const Var& f) override {
    Var y = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, y);
    for (std::size_t k = 0; k < kTimes; ++k) y = residual_.norms(unit, k).add(x_, y, {}, {}, {}, pass_).y;
    x_ = y;
    announce_stream(&unit, x_);
  }
  Var do_close() override { return residual_.exit(x_, pass_); }

  const Rskip& residual_;
  Pass pass_;
  Var x_;
};

}  // namespace

std::unique_ptr<Residual> make_rskip(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<Rskip>(row, shape, options);
}

}  // namespace addnorm
