// Numbers that follow from the depth of a stack: coefficients of residual sums, gains of initial weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "addnorm/residual/stack.h"

namespace addnorm {

/// A number, or one that follows from the depth of the stack: "deepnorm-alpha", "units", ...
struct DepthRule {
  const char* name = nullptr;  ///< of depth_rule_names(), where it lives; null: the constant
  double constant = 1;

  bool is_one() const { return !name && constant == 1; }
};
double value_of(const DepthRule& rule, const StackShape& shape, const Unit& unit);
std::string text_of(const DepthRule& rule);                           ///< "(2L)^¼", "1/√l", "0.5"
std::string text_of(const DepthRule& rule, const StackShape& shape);  ///< in an encoder-decoder some rules read otherwise
/// A UsageError with the nearest name and the list, if there is no such rule.
DepthRule depth_rule_named(std::string_view name);
std::vector<std::string> depth_rule_names();

}  // namespace addnorm
