// An arrangement as data: what a unit reads, what it writes, what the stack begins and ends with, and how it is initialised.
//
//   u  = N_in(x)            identity where there is none
//   f  = F(u)               F may hold a norm of its own, N_mid
//   g  = N_out(f)
//   s  = x, u, or nothing   the skip
//   y  = a s + b g
//   x' = N_post(y)
//
// What is printed about it (formula, diagram, parameters, predicted skip gain) comes from the fields that the computation uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/residual/choices.h"
#include "addnorm/residual/init_spec.h"
#include "addnorm/residual/stack.h"

namespace addnorm {

/// A factor of the residual sum.
struct CoefficientRule {
  enum class Kind : unsigned char { fixed, learned_scalar, learned_vector, learned_per_layer };
  Kind kind = Kind::fixed;
  DepthRule start{};        ///< where a learned one starts
  const char* symbol = "";  ///< in formulas: "α", "λ"; empty: the number itself
  bool profiled = false;    ///< a learned one of the skip, filled by Residual::calibrate before the first step: Admin's ω

  bool is_one() const { return kind == Kind::fixed && start.is_one(); }
  bool is_zero() const { return kind == Kind::fixed && !start.name && start.constant == 0; }
};
CoefficientRule fixed(double value);
CoefficientRule fixed(const char* rule, const char* symbol);
CoefficientRule learned(CoefficientRule::Kind kind, DepthRule start, const char* symbol);

enum class Skip : unsigned char {
  none,    ///< x' = F(x)
  stream,  ///< x
  normed,  ///< N_in(x), the very tensor that the branch reads
};

/// The slots of one unit.
struct UnitSlots {
  bool in = false;
  DepthRule in_scale{};  ///< times N_in(x), for the branch only
  bool mid = false;      ///< a norm inside the branch: before W_o, before W_2
  HeadGain head_gain = HeadGain::none;
  bool out = false;
  Skip skip = Skip::stream;
  CoefficientRule a{};
  CoefficientRule b{};
  bool post = false;
};

/// Other slots for some units; the first that fits holds.
struct Override {
  std::optional<SubLayer> sub_layer{};  ///< only these
  std::optional<double> first_share{};  ///< only this share of the layers, from the bottom: 0 to 1
  UnitSlots slots{};

  /// How many layers of these it is for: the first floor(share * layers), or all.
  std::size_t layers_of(const StackShape& shape) const;
};

class Residual;
struct Arrangement;
struct ResidualOptions;
/// Makes the Residual of an arrangement that is more than a row.
using ResidualFactory = std::unique_ptr<Residual> (*)(const Arrangement&, const StackShape&, const ResidualOptions&);

struct Arrangement {
  std::string name;
  UnitSlots unit{};
  std::vector<Override> overrides{};
  bool entry = false;             ///< a norm of the stack's input
  bool exit = false;              ///< the final norm
  InitSpec init{};                ///< what its source prescribes
  bool gains_in_formula = false;  ///< the gains of `init` are part of the arrangement: another rule changes only the rest
  // What the catalogue says of it.
  std::string source{};
  int year = 0;
  std::string used_by{};
  std::string failure{};
  std::vector<std::string> aliases{};
  // More than a row: slots are not read; the text says what is computed, and a test pins it.
  ResidualFactory make = nullptr;  ///< null for those of the catalogue: ClassArrangement has theirs
  std::string text{};
  std::size_t streams = 1;
  std::string between_units{};   ///< what passes from unit to unit besides the stream: why one unit cannot stand alone
  ArrangementChoices choices{};  ///< those that with_choices applied: slots show them already, classes and their texts read them

  bool is_row() const { return text.empty() && !make; }
  const UnitSlots& slots(const StackShape& shape, const Unit& unit) const;
};

}  // namespace addnorm
