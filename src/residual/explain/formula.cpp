// The formula of an arrangement as text, from its slots.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "addnorm/core/error.h"
#include "addnorm/residual/explain.h"
#include "core/figures.h"
#include "nn/norms/norm_kind_info.h"
#include "residual/catalogue/unit_groups.h"
#include "residual/class_arrangement.h"

namespace addnorm {
namespace {

/// Factors that can stand before a product or after a slash: "α·x", "λ⊙x", "x/√n".
std::string product(const std::string& factor, bool vector, const std::string& x) {
  if (factor.starts_with("1/")) return x + factor.substr(1);
  return factor + (vector ? "⊙" : "·") + x;
}

std::string factor_text(const CoefficientRule& rule, const StackShape& shape) {
  if (*rule.symbol) return rule.symbol;
  const std::string text = text_of(rule.start, shape);
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string product(const CoefficientRule& rule, const StackShape& shape, const std::string& x) {
  if (rule.is_one()) return x;
  return product(factor_text(rule, shape), rule.kind == CoefficientRule::Kind::learned_vector, x);
}

class FormulaWriter {
 public:
  FormulaWriter(const StackShape& shape, const NormKindOptions& norm) : shape_(shape), norm_(symbol_of(norm)) {}

  std::string unit(const UnitSlots& slots, const Unit& at) const {
    const bool normed_skip = slots.skip == Skip::normed && !norm_.empty();
    const std::string normed = normed_skip ? "u" : normed_if(slots.in, "x");
    const bool scaled = slots.in && !slots.in_scale.is_one();
    const std::string read = scaled ? product(text_of(slots.in_scale, shape_), false, normed) : normed;
    const std::string g = normed_if(slots.out, branch(slots, at, read));
    std::string sum = product(slots.b, shape_, g);
    if (slots.skip != Skip::none) sum = product(slots.a, shape_, normed_skip ? "u" : "x") + " + " + sum;
    return (normed_skip ? concat("u = ", norm_, "(x); ") : "") + "x' = " + normed_if(slots.post, sum);
  }
  std::string normed_if(bool there, const std::string& x) const { return there && !norm_.empty() ? norm_ + "(" + x + ")" : x; }

 private:
  /// F(x), opened where something stands inside it.
  std::string branch(const UnitSlots& slots, const Unit& at, const std::string& x) const {
    const bool mid = slots.mid && !norm_.empty();
    if (at.sub_layer == SubLayer::ffn) return mid ? concat("W₂·", norm_, "(φ(W₁·", x, "))") : "F(" + x + ")";
    std::string heads = "heads(" + x + ")";
    if (slots.head_gain == HeadGain::before_out) heads = "h⊙" + heads;
    if (mid) heads = norm_ + "(" + heads + ")";
    if (slots.head_gain == HeadGain::after_out) return "h⊙Wₒ·" + heads;
    return mid || slots.head_gain != HeadGain::none ? "Wₒ·" + heads : "F(" + x + ")";
  }

  const StackShape& shape_;
  std::string norm_;
};

/// "α = (2L)^¼ = 2.213", "ω: learned, one per feature, starts at √((n+1)/ln(n+1) − 1) = 2.017", nothing for a number.
std::string symbol_line(const CoefficientRule& rule, const StackShape& shape, const Unit& at) {
  using Kind = CoefficientRule::Kind;
  if (!*rule.symbol) return "";
  const double value = value_of(rule.start, shape, at);
  const std::string text = text_of(rule.start, shape), number = short_number(value);
  const std::string start = text == number ? number : text + " = " + number;
  if (rule.kind == Kind::fixed)
    return rule.symbol == text ? concat(rule.symbol, " = ", number) : concat(rule.symbol, " = ", start);
  const char* each = rule.kind == Kind::learned_vector   ? "one per feature of each unit"
                     : rule.kind == Kind::learned_scalar ? "one per unit"
                                                         : "one per layer";
  if (rule.profiled) return concat(rule.symbol, ": learned, ", each, ", starts where a profiling pass over one batch puts it");
  return concat(rule.symbol, ": learned, ", each, ", starts at ", start);
}

void add_once(std::vector<std::string>& lines, std::string line) {
  if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

std::vector<std::string> symbols_of(const Arrangement& row, const StackShape& shape) {
  std::vector<std::string> lines;
  for (const UnitGroup& group : unit_groups(row, shape)) {
    const UnitSlots& slots = row.slots(shape, group.units.front());
    add_once(lines, symbol_line(slots.a, shape, group.units.front()));
    add_once(lines, symbol_line(slots.b, shape, group.units.front()));
    if (slots.in && slots.in_scale.name && std::string_view(slots.in_scale.name) == "inv-sqrt-layer")
      add_once(lines, "l: the layer, counted from 1");
    if (slots.head_gain != HeadGain::none) add_once(lines, "h: learned, one per head, starts at 1");
    if (slots.mid && slots.head_gain == HeadGain::none) add_once(lines, "the inner norm is part of the branch");
  }
  return lines;
}

/// N(x), N_1(x), ... with the symbol of the chosen norm: "LN(x)", "LN_1(x)"; without any: "x".
std::string with_norm(const std::string& text, const NormKindOptions& norm) {
  const std::string symbol = symbol_of(norm);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word = i > 0 && std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;  // FFN
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] != 'N' || inside_word || (next != '(' && next != '_')) {
      out += text[i];
    } else if (!symbol.empty()) {
      out += symbol;
    } else {  // without its index, and without brackets around a single name
      const std::size_t open = text.find('(', i), close = text.find(')', i);
      const std::string inside = text.substr(open + 1, close - open - 1);
      const bool single = inside.find_first_of(" (") == std::string::npos;
      if (single) out += inside;
      i = single ? close : open - 1;
    }
  }
  return out;
}

}  // namespace

std::string symbol_of(const NormKindOptions& norm) { return norm_kind(norm.formula).symbol; }

std::string short_number(double value) { return significant(value, 4); }

Formula formula_of(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm) {
  const FormulaWriter writer(shape, norm);
  Formula formula{.entry = "x₀ = " + writer.normed_if(row.entry, "e"), .exit = "y = " + writer.normed_if(row.exit, "x")};
  if (!row.is_row()) {
    formula.units = {{"", with_norm(row.text, norm)}};
    const ClassText text = find_class(row) ? class_text(row) : ClassText{};
    if (!text.exit.empty()) formula.exit = with_norm(text.exit, norm);
    if (!text.symbols.empty()) formula.symbols = {text.symbols + (symbol_of(norm).empty() ? "" : text.norm_note)};
    return formula;
  }
  for (const UnitGroup& group : unit_groups(row, shape))
    formula.units.push_back({group.label, writer.unit(row.slots(shape, group.units.front()), group.units.front())});
  formula.symbols = symbols_of(row, shape);
  return formula;
}

std::string units_text(const Formula& formula) {
  std::string all;
  for (const FormulaLine& line : formula.units)
    all += concat(all.empty() ? "" : "; ", line.where, line.where.empty() ? "" : ": ", line.text);
  return all;
}

}  // namespace addnorm
