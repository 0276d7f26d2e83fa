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

std::vector<ClassArrangement> b2t_classes() {
  return {{.row = {.name = "b2t",
                   .init = init_rule_named("b2t"),
                   .gains_in_formula = true,
                   .source = "Takase et al., arXiv 2206.00330",
                   .year = 2022,
                   .used_by = "its authors",
                   .failure = "one norm per layer is still crossed",
                   .aliases = {"bottom-to-top", "b2t-connection"},
                   .text = "x' = N(x + F(x)); last of a layer: x' = N(x_l + x + F(x))",
                   .between_units = "the input of the layer goes past its units to the last norm"},
           .make = class_maker<B2t>,
           .said = {.symbols = "x_l: the input of the layer"},
           .gain =
               [](const StackShape& shape, const BranchDeviation& s) {
                 StreamSum x = StreamSum::input();
                 for (std::size_t layer = 0; layer < shape.layers; ++layer) {
                   const StreamSum bottom = x;
                   for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
                     const Unit unit = shape.unit(layer, i);
                     const StreamSum skip = unit.last_in_layer ? bottom + x : x;
                     x = skip.with(unit.index + 1, s(unit)).normed();
                   }
                 }
                 return x;
               },
           .draw =
               [](const Drawer& draw, const ArrangementChoices&) {
                 Drawer::Steps inner;
                 for (const Unit& unit : draw.units()) {
                   inner = Drawer::joined(inner, Drawer::sum({{}, draw.branch(unit)}));
                   if (!unit.last_in_layer) inner = Drawer::joined(inner, draw.norm());
                 }
                 return Drawer::each_layer(Drawer::joined(Drawer::sum({{}, inner}), draw.norm()));
               }}};
}

}  // namespace addnorm
