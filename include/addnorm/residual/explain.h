// What an arrangement is, in words and numbers, all of it made from the row that runs. A class (more than a row) brings its own
// text, which a test holds to what it computes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/nn/norm_kind.h"
#include "addnorm/residual/arrangement.h"

namespace addnorm {

/// How a norm is written in formulas: "LN", "RMS", ...; empty for `none`, which is left out of them.
std::string symbol_of(const NormKindOptions& norm);

/// One line of a formula: which units it is for ("" all, "attention", "first ¼ of the layers"), and what they compute.
struct FormulaLine {
  std::string where;
  std::string text;  ///< "x' = LN(α·x + F(x))"
};

/// Fixed symbols: x the stream, x' the stream after the unit, F the branch, e the embedding, x₀ the stack's input, y its
/// output. A branch with a norm or head gains inside is opened: Wₒ·LN(heads(x)), W₂·LN(φ(W₁·x)).
struct Formula {
  std::vector<FormulaLine> units{};
  std::string entry{};                 ///< "x₀ = LN(e)" or "x₀ = e"
  std::string exit{};                  ///< "y = LN(x)" or "y = x"
  std::vector<std::string> symbols{};  ///< "α = (2L)^¼ = 2.213": of this stack
};
Formula formula_of(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm = {});
/// All lines of the units in one: "attention: ...; feed-forward: ...".
std::string units_text(const Formula& formula);

/// Parameters that an arrangement adds to a unit, its branch's inner norm and head gains included.
struct ExtraParameters {
  std::size_t d = 0;     ///< vectors of the stream's width
  std::size_t d_ff = 0;  ///< vectors of the feed-forward part's inner width
  std::size_t heads = 0;
  std::size_t ones = 0;  ///< single numbers

  std::string text() const;  ///< "2d", "4d + H", "2d + 2f"; "0"
  std::size_t count(std::size_t width, std::size_t inner_width, std::size_t head_count) const;
  friend bool operator==(const ExtraParameters&, const ExtraParameters&) = default;
};
/// Of one unit; what its layer or the whole stack shares is not in it.
ExtraParameters extra_parameters(const Arrangement& row, const StackShape& shape, const Unit& unit,
                                 const NormKindOptions& norm = {});
/// "2d", or by sub-layer "attention 4d + H, feed-forward 2d + 2f"; with what layers and the stack share: "0, and 1 per layer".
std::string extra_parameters_text(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm = {});

/// From what the matrices of a stack, and those around it, are drawn.
struct InitLine {
  std::string what;  ///< "W_v, W_o, W_1, W_2"
  std::string rule;  ///< "Xavier normal, times (8L)^−¼ = 0.3195"
};
std::vector<InitLine> init_lines(const Arrangement& row, const DrawnStack& stack);

/// How much of the stack's input is left at its output on the skip path alone, at initialisation.
///
/// The input has variance 1, and each branch gives something independent of everything before it, of variance s^2 times that of
/// what it reads; s is the product of the gains of its two matrices (attention: v and out; feed-forward: in and out). A matrix
/// has that of its distribution, 1 for Xavier's and N(0, 1/fan_in), 1/sqrt(3) for U(+-1/sqrt(fan_in)), sqrt(2/5) for
/// N(0, 2/(5d)), whatever the inner width; N(0, deviation^2): see NormalInit; times those of the rule. GPT-NeoX's
/// s = sqrt(2/5) * 2/L. With v the variance of the stream and g the gain so far, a unit is
///
///   branch   b^2 s^2 c^2 v_u,   v_u = 1 after N_in, else v;   c the factor of N_in
///            b^2 s_out^2        after a norm inside the branch;   b^2 after N_out
///   skip     a g,  a^2 v;       through N_in:  a g / sqrt(v),  a^2
///   N_post   g / sqrt(v),  1,   and the final norm the same
///
/// which for post-normed units is the product of a / sqrt(a^2 + s^2), and for pre-ln with its final norm 1 / sqrt(1 + sum of
/// s^2). Admin's profiling gives a_1 = 1 and a_(i+1)^2 = a_i^2 + s_i^2, so that its product collapses to the same.
struct SkipGain {
  double gain = 1;       ///< of the input in the output
  double deviation = 1;  ///< standard deviation of the output; 1 after a norm. gain / deviation: the input's share of it
};
/// How gains of GPT-2's kind of initialisation count: N(0, 0.02^2) preserves no variance by itself, so that without them the
/// branches are taken at unit gain, as papers do.
enum class NormalInit : unsigned char { at_unit_gain, with_its_gains };
/// Nothing where there is no skip: skip_gain_reason says why.
std::optional<SkipGain> skip_gain(const Arrangement& row, const StackShape& shape, NormalInit init = NormalInit::at_unit_gain);
std::string skip_gain_reason(const Arrangement& row);
/// s above: the gain of a unit's branch at initialisation.
double branch_gain(const Arrangement& row, const StackShape& shape, const Unit& unit, NormalInit init = NormalInit::at_unit_gain);

}  // namespace addnorm
