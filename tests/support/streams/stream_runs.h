// Stacks in tests: branches F(x) = w * x element by element. The elements of w differ: norms remove a common factor, and with it
// the difference between one place of a norm and another.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/residual.h"
#include "support/near.h"

namespace addnorm::test {

constexpr std::size_t kWidth = 6;
inline StackShape shape_of(std::size_t layers, std::size_t width = kWidth) { return {.width = width, .layers = layers}; }

inline std::vector<Var> row_branches(const StackShape& shape, DType dtype = DType::f32) {
  std::vector<Var> w;
  for (std::size_t i = 0; i < shape.units(); ++i) w.emplace_back(normal_tensor({shape.width}, 50 + i, dtype), true);
  return w;
}

/// Between layers the stream becomes a mix with what is kept of others.
inline bool mixes_layers(const std::string& arrangement) {
  const Diagram diagram = diagram_of(arrangement_named(arrangement), {.width = 8, .layers = 2});
  const auto& steps = diagram.layers.at(0).steps;
  return std::ranges::any_of(steps, [](const DiagramStep& step) { return step.kind == DiagramStep::Kind::mix; });
}

/// The whole stack with branch(unit, u) as the sub-layers.
template <class Branch>
Var run_units(const Residual& residual, const Var& x, Branch&& branch, const Pass& pass = {},
              StreamObserver* observer = nullptr) {
  const auto stream = residual.open(x, pass, observer);
  for (std::size_t layer = 0; layer < residual.shape().layers; ++layer) {
    stream->enter(layer);
    for (std::size_t i = 0; i < residual.shape().sub_layers.size(); ++i) {
      const Unit unit = residual.shape().unit(layer, i);
      stream->write(unit, branch(unit, stream->read(unit)));
    }
    stream->leave(layer);
  }
  return stream->close();
}

inline Var run_stack(const Residual& residual, const Var& x, const std::vector<Var>& w, const Pass& pass = {},
                     StreamObserver* observer = nullptr) {
  return run_units(
      residual, x, [&](const Unit& unit, const Var& u) { return mul_row(u, w[unit.index]); }, pass, observer);
}

/// Keeps what a stream announces.
struct Listener : StreamObserver {
  std::vector<Var> branches, streams;
  void on_branch(const Unit&, const Var& added) override { branches.push_back(added); }
  void on_stream(const Unit*, const Var& x) override {
    streams.push_back(x);
    if (retain) streams.back().retain_grad();
  }
  void on_parting(const Unit& unit, const Var& whole, const Var& skip, const Var& branch) override {
    partings.push_back({unit, whole, skip, branch});
    if (!retain) return;
    for (Var* part : {&partings.back().whole, &partings.back().skip, &partings.back().branch}) part->retain_grad();
  }
  struct Parting {
    Unit unit;
    Var whole, skip, branch;
  };
  std::vector<Parting> partings;
  bool retain = false;
};

}  // namespace addnorm::test
