// A kind of norm: its names, formula, parameters, op and frozen form in one value. Each has a file in nn/norms/, and a line in
// the list in src/nn/CMakeLists.txt.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "addnorm/nn/norm.h"

namespace addnorm {

/// What --norm accepts.
struct NamedNorm {
  const char* name;
  NormKindOptions options;
  std::vector<const char*> aliases{};
};

/// A norm with the size of its input held fixed: y = (x - mean of the row) * of_row * of_element * gain + bias.
struct FrozenForm {
  std::vector<double> gain, bias;  ///< of every feature; as the parameters say before NormKindInfo::freeze
  bool centred = false;            ///< the mean of a row is taken off
  std::vector<double> of_row;      ///< factors: of every row; empty: 1
  std::vector<double> of_element;  ///< of every element; empty: 1
};

/// The size of what a norm gives, where its gain is 1.
enum class NormSize : unsigned char { unit_variance, fixed, any };

struct NormKindInfo {
  using Options = NormKindOptions;

  NormFormula formula;
  const char* called;            ///< the name of its NormFormula
  const char* symbol;            ///< in the formulas of arrangements: "LN"
  std::vector<NamedNorm> names;  ///< the first is the usual one
  bool gain = false;             ///< has a vector gamma, where options.gain says so
  bool bias = false;             ///< has a vector beta, where options.bias says so
  std::size_t numbers = 0;       ///< parameters that are single numbers
  NormSize gives = NormSize::unit_variance;

  /// The formula in Unicode.
  std::string (*text)(const Options&);
  /// Makes what is more than a gain of 1 and a bias of 0; null: nothing.
  void (*start)(const Options&, std::size_t width, NormState&) = nullptr;
  Var (*apply)(const Options&, NormState&, const Var& x, const Pass&);
  /// a x + b dropout(f) and its norm in one pass; null where no kernel has both.
  SumAndNormed (*add)(const Options&, const NormState&, const Var& x, const Var& f, const AddNormOptions&) = nullptr;
  /// The form around y [rows, width]; null: y itself.
  void (*freeze)(const Options&, const NormState&, const std::vector<double>& y, std::size_t width, FrozenForm&) = nullptr;

  bool has_gain(const Options& o) const { return gain && o.gain; }
  bool has_bias(const Options& o) const { return bias && o.bias; }
};

/// Those of the list, in its order.
const std::vector<NormKindInfo>& norm_kinds();
/// Refuses a number that is none of NormFormula's.
const NormKindInfo& norm_kind(NormFormula formula);

// What the files of kinds share.

/// "γ⊙" and "+β" of a formula, where there are such.
std::string gain_text(const NormKindOptions& options);
std::string bias_text(const NormKindOptions& options);
NormOptions kernel_options(const NormKindOptions& options);
/// 1 / sqrt(mean_square + eps), with eps in its place.
double over_root(double mean_square, const NormKindOptions& options);
/// The form of a norm that multiplies each row by factor(row).
void freeze_rows(const std::vector<double>& y, std::size_t width, FrozenForm& form,
                 const std::function<double(const double* row)>& factor);
/// The form of a norm that divides each row by its length, or by eps.
void freeze_by_length(const NormKindOptions& options, const NormState&, const std::vector<double>& y, std::size_t width,
                      FrozenForm& form);

}  // namespace addnorm
