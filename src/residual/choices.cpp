// The table of choices: what each is for, what it may be, who takes it, and what it makes of a row.
#include "addnorm/residual/choices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

using Kind = CoefficientRule::Kind;

// What was given, as text; nothing where nothing was.
using Text = std::optional<std::string>;
template <class T>
Text text_of(const std::optional<T>& value) {
  return value ? Text(concat(*value)) : Text();
}
Text text_of(const std::optional<bool>& value) { return value ? Text(*value ? "true" : "false") : Text(); }
template <class Enum>
Text name_in(const std::optional<Enum>& value, std::initializer_list<const char*> names) {
  if (!value) return {};
  const auto i = static_cast<std::size_t>(*value);
  return i < names.size() ? Text(names.begin()[i]) : Text(concat("number ", i));
}

bool above_zero(const std::optional<double>& value) { return std::isfinite(*value) && *value > 0; }

// x' = N_2(x + N_1(x + F(x))); beyond four the rule instead of its result.
std::string recursive_text(std::size_t times, bool shared) {
  if (times > 4) {
    const char* norm = shared ? "N" : "N_k";
    return concat("y_0 = F(x), y_k = ", norm, "(x + y_{k-1}), x' = y_", times);
  }
  std::string y = "F(x)";
  for (std::size_t k = 1; k <= times; ++k) y = concat(shared || times == 1 ? "N" : concat("N_", k), "(x + ", y, ")");
  return "x' = " + y;
}

std::string two_streams_text(double share, double scale) {
  const std::string s = scale == 1 ? "" : concat(scale, " "), a = share == 1 ? "" : concat(share, " ");
  return concat("x' = N(x + F(x)), r' = r + ", s, "F(x), r_0 = ", s, "x_0; out = ", a, "x + N(r)");
}

struct Choice {
  const char* name;
  const char* meaning;
  const char* allowed;
  std::vector<std::string> taken_by;
  Text (*given)(const ArrangementChoices&);
  bool (*is_allowed)(const ArrangementChoices&);
  void (*apply)(Arrangement&, const ArrangementChoices&);
};
using Given = const ArrangementChoices&;

const std::vector<Choice>& table() {
  static const std::vector<Choice> choices{
      {"skip_factor",
       "the factor of the skip",
       "a number above 0",
       {"xskip", "xskip-ln", "deepnorm", "keel"},
       [](Given c) { return text_of(c.skip_factor); },
       [](Given c) { return above_zero(c.skip_factor); },
       [](Arrangement& row, Given c) { row.unit.a.start = {.constant = *c.skip_factor}; }},
      {"output_change",
       "how much of the output a change of the weights moves: it sets ω",
       "log_n, one or n",
       {"admin-const"},
       [](Given c) {
         return name_in(c.output_change, {"log_n", "one", "n"});
       },
       [](Given c) { return *c.output_change <= OutputChange::n; },
       [](Arrangement& row, Given c) {
         if (*c.output_change == OutputChange::one) row.unit.a.start = depth_rule_named("sqrt-units");
         if (*c.output_change == OutputChange::n) row.unit.a.start = {.constant = 1};
       }},
      {"learned_skip",
       "whether the factor of the skip is learned or stays as it starts",
       "true or false",
       {"admin-const", "keel"},
       [](Given c) { return text_of(c.learned_skip); },
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         const Kind learned = row.name == "keel" ? Kind::learned_scalar : Kind::learned_vector;
         row.unit.a.kind = *c.learned_skip ? learned : Kind::fixed;
       }},
      {"recursions",
       "how often the skip is added and normed",
       "a whole number from 1 on",
       {"rskip"},
       [](Given c) { return text_of(c.recursions); },
       [](Given c) { return *c.recursions >= 1; },
       [](Arrangement& row, Given c) { row.text = recursive_text(*c.recursions, c.shared_norms.value_or(false)); }},
      {"shared_norms",
       "one norm for all recursions of a unit",
       "true or false",
       {"rskip"},
       [](Given c) { return text_of(c.shared_norms); },
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         row.text = recursive_text(c.recursions.value_or(kPublishedRecursions), *c.shared_norms);
       }},
      {"post_share",
       "the share of layers, from the bottom, that are post-ln",
       "a number from 0 to 1",
       {"mix-ln"},
       [](Given c) { return text_of(c.post_share); },
       [](Given c) { return *c.post_share >= 0 && *c.post_share <= 1; },
       [](Arrangement& row, Given c) {
         for (Override& bottom : row.overrides) bottom.first_share = *c.post_share;
       }},
      {"branch_start",
       "where the learned factor of the branch starts",
       "a finite number",
       {"layerscale", "skipinit"},
       [](Given c) { return text_of(c.branch_start); },
       [](Given c) { return std::isfinite(*c.branch_start); },
       [](Arrangement& row, Given c) { row.unit.b.start = {.constant = *c.branch_start}; }},
      {"depth_power",
       "the power of the layer's number by which initial weights shrink",
       "0.5 or 0.25",
       {"ds-init"},
       [](Given c) { return text_of(c.depth_power); },
       [](Given c) { return *c.depth_power == 0.5 || *c.depth_power == 0.25; },
       [](Arrangement& row, Given c) {
         const DepthRule rule = depth_rule_named(*c.depth_power == 0.5 ? "inv-sqrt-layer" : "inv-fourth-root-layer");
         for (InitGain& gain : row.init.gains) gain.gain = rule;
       }},
      {"scale_ffn_skip",
       "a learned vector on the skip of feed-forward units (ResScale)",
       "true or false",
       {"normformer"},
       [](Given c) { return text_of(c.scale_ffn_skip); },
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         if (*c.scale_ffn_skip) row.unit.a = learned(Kind::learned_vector, {.constant = 1}, "λ");
       }},
      {"head_gain",
       "where each head is multiplied by its gain",
       "none, before_out or after_out",
       {"normformer"},
       [](Given c) {
         return name_in(c.head_gain, {"none", "before_out", "after_out"});
       },
       [](Given c) { return *c.head_gain <= HeadGain::after_out; },
       [](Arrangement& row, Given c) {
         for (Override& attention : row.overrides) attention.slots.head_gain = *c.head_gain;
       }},
      {"norm_place",
       "whether the norm stands before the branch or after the sum",
       "pre or post",
       {"scaled-res"},
       [](Given c) {
         return name_in(c.norm_place, {"pre", "post"});
       },
       [](Given c) { return *c.norm_place <= NormPlace::post; },
       [](Arrangement& row, Given c) {
         const bool pre = *c.norm_place == NormPlace::pre;
         row.unit.in = row.exit = pre;
         row.unit.post = !pre;
       }},
      {"stream_share",
       "the factor of x in out = α x + N(r)",
       "a finite number",
       {"resi-dual"},
       [](Given c) { return text_of(c.stream_share); },
       [](Given c) { return std::isfinite(*c.stream_share); },
       [](Arrangement& row, Given c) { row.text = two_streams_text(*c.stream_share, c.second_stream_scale.value_or(1)); }},
      {"second_stream_scale",
       "the factor of all that the second stream collects",
       "a number above 0",
       {"resi-dual"},
       [](Given c) { return text_of(c.second_stream_scale); },
       [](Given c) { return above_zero(c.second_stream_scale); },
       [](Arrangement& row, Given c) { row.text = two_streams_text(c.stream_share.value_or(1), *c.second_stream_scale); }},
  };
  return choices;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace

std::vector<ChoiceInfo> arrangement_choices() {
  std::vector<ChoiceInfo> infos;
  for (const Choice& choice : table()) infos.push_back({choice.name, choice.meaning, choice.allowed, choice.taken_by});
  return infos;
}

Arrangement with_choices(const Arrangement& row, const ArrangementChoices& choices) {
  Arrangement chosen = row;
  for (const Choice& choice : table()) {
    const Text given = choice.given(choices);
    if (!given) continue;
    require(std::ranges::find(choice.taken_by, row.name) != choice.taken_by.end(), "arrangement '", row.name, "' has no ",
            choice.name, " (", choice.meaning, "), but ", *given, " is given; it is for ", listed(choice.taken_by));
    require(choice.is_allowed(choices), "arrangement '", row.name, "': ", choice.name, " (", choice.meaning, ") is ", *given,
            "; it must be ", choice.allowed);
    choice.apply(chosen, choices);
  }
  return chosen;
}

}  // namespace addnorm
