#include "addnorm/train/optimizer.h"

#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "train/optimizer/optimizer_info.h"

namespace addnorm {

const OptimizerInfo& optimizer_kind(OptimizerKind kind) {
  const std::vector<OptimizerInfo>& known = optimizer_kinds();
  for (const OptimizerInfo& one : known)
    if (one.kind == kind) return one;
  std::string allowed;
  for (const OptimizerInfo& one : known) {
    const char* between = &one == &known.front() ? "OptimizerKind::" : &one == &known.back() ? " and " : ", ";
    allowed += concat(between, one.name, " (", static_cast<int>(one.kind), ")");
  }
  refuse("optimizer: kind is ", static_cast<int>(kind), "; allowed are ", allowed);
}

const char* name_of(OptimizerKind kind) { return optimizer_kind(kind).name.c_str(); }

std::span<const std::string> optimizer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OptimizerInfo& one : optimizer_kinds()) all.push_back(one.name);
    return all;
  }();
  return names;
}

OptimizerKind optimizer_named(const std::string& name) {
  for (const OptimizerInfo& one : optimizer_kinds())
    if (one.name == name) return one.kind;
  throw UsageError(unknown_name("optimizer", name, optimizer_names()));
}

void check(const OptimizerOptions& o, const FieldWords& words) {
  const auto called = [&](const char* field) { return words ? words(field) : concat("optimizer: ", field); };
  const auto require_number = [&](const char* field, double value, bool ok, const char* allowed) {
    if (!std::isfinite(value) || !ok) refuse(called(field), " is ", value, "; it must be ", allowed);
  };
  optimizer_kind(o.kind);
  require_number("beta1", o.beta1, o.beta1 >= 0 && o.beta1 < 1, "from 0 to below 1");
  require_number("beta2", o.beta2, o.beta2 >= 0 && o.beta2 < 1, "from 0 to below 1");
  require_number("eps", o.eps, o.eps >= 1e-37, "at least 1e-37: a float 0 would divide 0 by 0");
  require_number("momentum", o.momentum, o.momentum >= 0 && o.momentum < 1, "from 0 to below 1");
  if (o.nesterov && o.kind == OptimizerKind::sgd && o.momentum == 0)
    refuse(called("nesterov"), " without momentum has no meaning; give a momentum between 0 and 1");
  require_number("weight_decay", o.weight_decay, o.weight_decay >= 0, "from 0 on");
  require_number("update_clip", o.update_clip, o.update_clip >= 1, "at least 1");
  require_number("beta2_power", o.beta2_power, o.beta2_power >= 0 && o.beta2_power <= 1, "from 0 to 1");
  require_number("eps1", o.eps1, o.eps1 >= 1e-18 && o.eps1 <= 1, "from 1e-18 (its square is a float) to 1");
  require_number("eps2", o.eps2, o.eps2 >= 0, "from 0 on");
}

OptimizerOptions usual_options(OptimizerKind kind) { return {.kind = kind, .weight_decay = optimizer_kind(kind).usual_decay}; }

std::string describe(std::span<const ParameterGroup> groups) {
  std::string text;
  for (const ParameterGroup& g : groups) {
    if (g.tensors == 0) continue;
    text += g.weight_decay > 0 ? concat(g.name, " by ", g.weight_decay) : g.name;
    text += concat(": ", g.tensors, g.tensors == 1 ? " tensor, " : " tensors, ", g.elements,
                   g.elements == 1 ? " element\n" : " elements\n");
  }
  return text;
}

std::unique_ptr<Optimizer> make_optimizer(Module& module, const OptimizerOptions& options) {
  check(options);
  return optimizer_kind(options.kind).make(module, options);
}

}  // namespace addnorm
