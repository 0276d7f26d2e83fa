// Stacks whose computation is compared with what is printed about them: they run, their formula is read back, their diagram is
// followed.
#pragma once

#include <algorithm>
#include <map>

#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "support/modules.h"
#include "support/streams/formula_reader.h"

namespace addnorm::test {

constexpr std::size_t kExplainedWidth = 6;

inline StackShape language_model(std::size_t layers) { return {.width = kExplainedWidth, .layers = layers}; }
inline StackShape decoder(std::size_t layers) {
  return {.width = kExplainedWidth,
          .layers = layers,
          .sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn},
          .kind = StackKind::decoder,
          .other_layers = 3};
}

inline Var vector(std::uint64_t seed) { return Var(normal_tensor({kExplainedWidth}, seed, DType::f64)); }

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A row without any norm refuses to be given another kind.
inline bool has_norm(const Arrangement& row) {
  const auto any = [](const UnitSlots& slots) { return slots.in || slots.mid || slots.out || slots.post; };
  return !row.is_row() || row.entry || row.exit || any(row.unit) || std::ranges::any_of(row.overrides, any, &Override::slots);
}

/// Whether a line with this label is for the unit: read from its words alone.
inline bool is_for(const std::string& label, const Unit& unit, const StackShape& shape) {
  const bool first_quarter = 4 * (unit.layer + 1) <= shape.layers;
  if (has(label, "first ¼ of the layers") && !first_quarter) return false;
  if (has(label, "other layers") && first_quarter) return false;
  const bool names_any = has(label, "attention") || has(label, "feed-forward");
  if (!names_any) return true;
  if (unit.sub_layer == SubLayer::ffn) return has(label, "feed-forward");
  if (has(label, "self-attention") || has(label, "cross-attention"))
    return has(label, unit.sub_layer == SubLayer::self ? "self-attention" : "cross-attention");
  return has(label, "attention");
}

/// A residual with parameters away from their start, and branches that honour what it asks of them:
/// F(u) = w u, or w_2 N(g w_1 u) where the arrangement puts a norm or head gains inside.
class Executed {
 public:
  Executed(const std::string& name, const StackShape& shape, const NormKindOptions& norm, const ArrangementChoices& choices = {})
      : residual(make_residual(name, shape, {.norm = norm, .choices = choices})) {
    scramble(*residual);
    convert(*residual, DType::f64);
    for_each_parameter(*residual, [&](Parameter& p) { parameters[p.path] = p.value; });
    for (std::size_t i = 0; i < shape.units(); ++i) {
      inner.emplace_back(residual->branch(shape.unit(i)).inner_norm, kExplainedWidth);
      scramble(inner.back(), i);
      convert(inner.back(), DType::f64);
    }
  }

  Var branch(const Unit& unit, const Var& u) const {
    const BranchOptions options = residual->branch(unit);
    if (options.head_gain == HeadGain::none && inner[unit.index].is_identity()) return mul_row(u, w(unit, 0));
    Var heads = mul_row(u, w(unit, 0));
    if (options.head_gain == HeadGain::before_out) heads = mul_row(heads, w(unit, 1));
    const Var out = mul_row(inner[unit.index](heads, {}), w(unit, 2));
    return options.head_gain == HeadGain::after_out ? mul_row(out, w(unit, 1)) : out;
  }
  Var run(const Var& x) const {
    const auto stream = residual->open(x, {});
    for (std::size_t i = 0; i < residual->shape().units(); ++i) {
      const Unit unit = residual->shape().unit(i);
      if (unit.first_in_layer) stream->enter(unit.layer);
      stream->write(unit, branch(unit, stream->read(unit)));
      if (unit.last_in_layer) stream->leave(unit.layer);
    }
    return stream->close();
  }
  Var w(const Unit& unit, std::size_t which) const { return vector(100 + 10 * unit.index + which); }
  Var at(const std::string& path) const {
    const auto found = parameters.find(path);
    return found == parameters.end() ? Var() : found->second;
  }
  /// The norm at `path`, by its op.
  Var norm(const std::string& path, const Var& x) const {
    const bool rms = residual->options().norm.formula == NormFormula::rms;
    EXPECT_TRUE(at(path + ".weight").defined()) << path << " has no norm";
    return rms ? rms_norm(x, at(path + ".weight")) : layer_norm(x, at(path + ".weight"), at(path + ".bias"));
  }

  std::unique_ptr<Residual> residual;
  std::vector<Norm> inner;
  std::map<std::string, Var> parameters;
};

inline std::string path_of(const Unit& unit) { return concat("layers.", unit.layer, ".", unit.sub_layer); }

/// What the letters of one unit stand for. Norms are met in the order in, inside, out, post.
inline FormulaWorld world_of(const Executed& executed, const Unit& unit, const Var& x) {
  const StackShape& shape = executed.residual->shape();
  const UnitSlots& slots = executed.residual->arrangement().slots(shape, unit);
  FormulaWorld world;
  world.values = {{"x", x},
                  {"l", static_cast<double>(unit.layer + 1)},
                  {"n", static_cast<double>(shape.units())},
                  {"W₁", executed.w(unit, 0)},
                  {"h", executed.w(unit, 1)},
                  {"W₂", executed.w(unit, 2)},
                  {"Wₒ", executed.w(unit, 2)}};
  const auto coefficient = [&](const CoefficientRule& rule, const char* name) {
    Var learned = executed.at(path_of(unit) + "." + name);
    if (!learned.defined()) learned = executed.at(concat("layers.", unit.layer, ".", name));
    if (!learned.defined())
      world.values[rule.symbol] = value_of(rule.start, shape, unit);
    else if (learned.shape()[0] == 1)
      world.values[rule.symbol] = learned.value().data<double>()[0];
    else
      world.values[rule.symbol] = learned;
  };
  coefficient(slots.a, "a");
  coefficient(slots.b, "b");
  std::vector<std::string> norms;
  if (slots.in) norms.push_back("in");
  if (slots.mid) norms.push_back("inner");
  if (slots.out) norms.push_back("out");
  if (slots.post) norms.push_back("post");
  world.call = [&executed, unit, norms, next = std::size_t{0}](const std::string& function,
                                                               const FormulaValue& value) mutable -> FormulaValue {
    const Var& in = std::get<Var>(value);
    if (function == "F" || function == "heads") return mul_row(in, executed.w(unit, 0));
    if (function == "φ") return in;
    EXPECT_EQ(function, symbol_of(executed.residual->options().norm));
    if (next >= norms.size()) throw std::invalid_argument("the formula has a norm that the row has not");
    const std::string slot = norms[next++];
    return slot == "inner" ? executed.inner[unit.index](in, {}) : executed.norm(path_of(unit) + "." + slot, in);
  };
  return world;
}

inline Var read_back(const Executed& executed, const Formula& formula, const Var& embedding) {
  const StackShape& shape = executed.residual->shape();
  const auto ends = [&](const std::string& text, const char* from, const char* to, const std::string& path, const Var& value) {
    FormulaWorld world{.values = {{from, value}},
                       .call = [&](const std::string& function, const FormulaValue& x) -> FormulaValue {
                         EXPECT_EQ(function, symbol_of(executed.residual->options().norm));
                         return executed.norm(path, std::get<Var>(x));
                       }};
    FormulaReader(text, world).run();
    return std::get<Var>(world.values.at(to));
  };
  Var x = ends(formula.entry, "e", "x₀", "entry", embedding);
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    std::size_t lines = 0;
    for (const FormulaLine& line : formula.units) {
      if (!is_for(line.where, unit, shape)) continue;
      ++lines;
      FormulaWorld world = world_of(executed, unit, x);
      FormulaReader(line.text, world).run();
      x = std::get<Var>(world.values.at("x'"));
    }
    EXPECT_EQ(lines, 1u) << "lines for unit " << i << " of " << units_text(formula);
  }
  return ends(formula.exit, "x", "y", "exit", x);
}

/// Norms as they start, so that all of one width are the same function.
inline void reset_norms(Module& module) {
  for_each_parameter(module, [](Parameter& p) {
    if (p.role == Role::norm_gain) p.value = Var(Tensor::full(p.value.shape(), 1, DType::f64));
    if (p.role == Role::norm_bias) p.value = Var(Tensor::zeros(p.value.shape(), DType::f64));
  });
}

/// Computes a diagram node by node. Its norms are all the same function; the number of sums so far gives the unit.
inline Var follow(const DiagramGraph& graph, const Executed& executed, const Var& x0) {
  std::map<std::string, Var> values;
  std::size_t sums = 0;
  Var last;
  for (const DiagramNode& node : graph.nodes) {
    Var in;
    for (const DiagramEdge& edge : graph.edges)
      if (edge.to == node.id) in = in.defined() ? add(in, values.at(edge.from)) : values.at(edge.from);
    const StackShape& shape = executed.residual->shape();
    if (node.kind == "input") in = x0;
    if (node.kind == "norm") in = layer_norm(in, Var(), Var());
    if (node.kind == "branch") {
      const Unit unit = shape.unit(0, node.text.starts_with("feed-forward") ? 1 : 0);
      const bool second = has(node.text, "Wₒ") || has(node.text, "W₂");
      in = mul_row(in, executed.w(unit, second ? 2 : 0));
    }
    if (node.kind == "factor") {
      FormulaWorld world = world_of(executed, shape.unit(std::min(sums, shape.units() - 1)), in);
      const std::string formula = node.text.starts_with("/") ? "x" + node.text : node.text + "x";
      in = std::get<Var>(FormulaReader(formula, world).expression());
    }
    if (node.kind == "sum") ++sums;
    values[node.id] = last = in;
  }
  return last;
}

}  // namespace addnorm::test
