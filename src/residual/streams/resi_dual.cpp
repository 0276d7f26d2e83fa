// ResiDual (Xie et al. 2023): two streams. F reads the post-normed one; the other collects the branches as they are.
//
//   r_0 = s x_0;   x <- N(x + f),   r <- r + s f;   out = α x + N(r)        α = s = 1 unless chosen otherwise
#include "residual/catalogue/unit_groups.h"
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

/// Of a published text that stands for the factor 1: with the factor that was chosen.
std::string scaled(double factor, const std::string& x) { return factor == 1 ? x : concat(short_number(factor), "·", x); }

Diagram draw_resi_dual(const Drawer& draw, const ArrangementChoices& choices) {
  using Kind = DiagramStep::Kind;
  Diagram all = draw.each_unit([&](const Unit& unit) {
    Drawer::Steps steps = Drawer::sum({{}, draw.branch(unit)});
    steps.back().to_side = true;
    return Drawer::joined(steps, draw.norm());
  });
  all.entry = {Drawer::keep()};
  all.side = "r";
  const double scale = choices.second_stream_scale.value_or(1), share = choices.stream_share.value_or(1);
  // Of all that was collected at once: the same as of each.
  if (scale != 1) all.exit.push_back({.kind = Kind::side_factor, .text = short_number(scale) + "·"});
  for (DiagramStep step : draw.named_norm(true, "final")) {
    step.kind = Kind::side_norm;
    all.exit.push_back(step);
  }
  if (share != 1) all.exit.push_back({.kind = Kind::factor, .text = short_number(share) + "·"});
  all.exit.push_back({.kind = Kind::side_sum, .text = "+"});
  return all;
}

}  // namespace

std::vector<ClassArrangement> resi_dual_classes() {
  return {{.row = {.name = "resi-dual",
                   .exit = true,
                   .source = "Xie et al., arXiv 2304.14802",
                   .year = 2023,
                   .used_by = "its authors",
                   .failure = "the second stream never feeds a branch, and overflows half precision",
                   .aliases = {"ResiDual", "residual-dual"},
                   .text = "x' = N(x + F(x)), r' = r + F(x); out = x + N(r)",
                   .streams = 2,
                   .between_units = "a second stream collects the branches of all units"},
           .make = class_maker<ResiDual>,
           .said = {.exit = "y = x + N(r)", .symbols = "r: a second stream that starts as x₀"},
           .choose =
               [](ClassText& text, const ArrangementChoices& choices) {
                 const double share = choices.stream_share.value_or(1);
                 if (share != 1) text.exit = share == 0 ? "y = N(r)" : concat("y = ", scaled(share, "x"), " + N(r)");
                 if (const auto scale = choices.second_stream_scale)
                   text.symbols = concat("r: a second stream that starts as ", scaled(*scale, "x₀"));
               },
           .gain =
               [](const StackShape& shape, const BranchDeviation& s) {
                 StreamSum x = StreamSum::input(), r = x;
                 for (std::size_t i = 0; i < shape.units(); ++i) {
                   const double deviation = s(shape.unit(i));
                   r = r.with(i + 1, deviation);
                   x = x.with(i + 1, deviation).normed();
                 }
                 return x.times(s.row.choices.stream_share.value_or(1)) + r.normed();  // the scale of r goes in its norm
               },
           .draw = draw_resi_dual}};
}

}  // namespace addnorm
