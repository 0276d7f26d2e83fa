// The table of choices: what each is for, what it may be, who takes it, and what it makes of a row.
#include "addnorm/residual/choices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/arrangement.h"
#include "residual/catalogue/choice_names.h"

namespace addnorm {
namespace {

using RuleKind = CoefficientRule::Kind;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::size_t value) { return concat(value); }
std::string text_of(double value) {  // the shortest that reads back as the same number
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  const auto i = static_cast<std::size_t>(value);
  return i < names(value).size() ? names(value)[i] : concat("number ", i);
}

template <class T>
bool read(std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
    return text == "true" || text == "false";
  } else if constexpr (std::is_enum_v<T>) {
    const auto& known = names(value);
    const auto found = std::ranges::find(known, text);
    if (found == known.end()) return false;
    value = static_cast<T>(found - known.begin());
    return true;
  } else {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && end == text.data() + text.size();
  }
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
  const std::string s = scale == 1 ? "" : text_of(scale) + "·";
  const std::string x = share == 0 ? "" : share == 1 ? "x + " : text_of(share) + "·x + ";
  return concat("x' = N(x + F(x)), r' = r + ", s, "F(x)", scale == 1 ? "" : ", r₀ = " + s + "x₀", "; out = ", x, "N(r)");
}

struct Choice {
  const char* name;
  const char* meaning;
  const char* allowed;
  std::vector<std::string> taken_by;
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
       [](Given c) { return above_zero(c.skip_factor); },
       [](Arrangement& row, Given c) { row.unit.a.start = {.constant = *c.skip_factor}; }},
      {"output_change",
       "how much of the output a change of the weights moves: it sets ω",
       "log_n, one or n",
       {"admin-const"},
       [](Given c) { return *c.output_change <= OutputChange::n; },
       [](Arrangement& row, Given c) {
         if (*c.output_change == OutputChange::one) row.unit.a.start = depth_rule_named("sqrt-units");
         if (*c.output_change == OutputChange::n) row.unit.a.start = {.constant = 1};
       }},
      {"learned_skip",
       "whether the factor of the skip is learned or stays as it starts",
       "true or false",
       {"admin-const", "keel"},
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         const RuleKind learned = row.name == "keel" ? RuleKind::learned_scalar : RuleKind::learned_vector;
         row.unit.a.kind = *c.learned_skip ? learned : RuleKind::fixed;
       }},
      {"recursions",
       "how often the skip is added and normed",
       "a whole number from 1 to 1000",
       {"rskip"},
       [](Given c) { return *c.recursions >= 1 && *c.recursions <= 1000; },
       [](Arrangement& row, Given c) { row.text = recursive_text(*c.recursions, c.shared_norms.value_or(false)); }},
      {"shared_norms",
       "one norm for all recursions of a unit",
       "true or false",
       {"rskip"},
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         row.text = recursive_text(c.recursions.value_or(kPublishedRecursions), *c.shared_norms);
       }},
      {"post_share",
       "the share of layers, from the bottom, that are post-ln",
       "a number from 0 to 1",
       {"mix-ln"},
       [](Given c) { return *c.post_share >= 0 && *c.post_share <= 1; },
       [](Arrangement& row, Given c) {
         for (Override& bottom : row.overrides) bottom.first_share = *c.post_share;
       }},
      {"branch_start",
       "where the learned factor of the branch starts",
       "a finite number",
       {"layerscale", "skipinit"},
       [](Given c) { return std::isfinite(*c.branch_start); },
       [](Arrangement& row, Given c) { row.unit.b.start = {.constant = *c.branch_start}; }},
      {"depth_power",
       "the power of the layer's number by which initial weights shrink",
       "0.5 or 0.25",
       {"ds-init"},
       [](Given c) { return *c.depth_power == 0.5 || *c.depth_power == 0.25; },
       [](Arrangement& row, Given c) {
         const DepthRule rule = depth_rule_named(*c.depth_power == 0.5 ? "inv-sqrt-layer" : "inv-fourth-root-layer");
         for (InitGain& gain : row.init.gains) gain.gain = rule;
       }},
      {"scale_ffn_skip",
       "a learned vector on the skip of feed-forward units (ResScale)",
       "true or false",
       {"normformer"},
       [](Given) { return true; },
       [](Arrangement& row, Given c) {
         if (*c.scale_ffn_skip) row.unit.a = learned(RuleKind::learned_vector, {.constant = 1}, "λ");
       }},
      {"head_gain",
       "where each head is multiplied by its gain",
       "none, before_out or after_out",
       {"normformer"},
       [](Given c) { return *c.head_gain <= HeadGain::after_out; },
       [](Arrangement& row, Given c) {
         for (Override& attention : row.overrides) attention.slots.head_gain = *c.head_gain;
       }},
      {"norm_place",
       "whether the norm stands before the branch or after the sum",
       "pre or post",
       {"scaled-res"},
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
       [](Given c) { return std::isfinite(*c.stream_share); },
       [](Arrangement& row, Given c) { row.text = two_streams_text(*c.stream_share, c.second_stream_scale.value_or(1)); }},
      {"second_stream_scale",
       "the factor of all that the second stream collects",
       "a number above 0",
       {"resi-dual"},
       [](Given c) { return above_zero(c.second_stream_scale); },
       [](Arrangement& row, Given c) { row.text = two_streams_text(c.stream_share.value_or(1), *c.second_stream_scale); }},
  };
  return choices;
}

const Choice& choice_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Choice& choice : table()) {
    if (folded(choice.name) == folded(name)) return choice;
    known.emplace_back(choice.name);
  }
  throw UsageError(unknown_name("choice", name, known));
}

}  // namespace

std::vector<ChoiceInfo> arrangement_choices() {
  std::vector<ChoiceInfo> infos;
  for (const Choice& choice : table()) infos.push_back({choice.name, choice.meaning, choice.allowed, choice.taken_by});
  return infos;
}

std::vector<std::pair<std::string, std::string>> given_choices(const ArrangementChoices& choices) {
  std::vector<std::pair<std::string, std::string>> all;
  each_choice(choices, [&](const char* name, const auto& value) {
    if (value) all.emplace_back(name, text_of(*value));
  });
  return all;
}

void set_choice(ArrangementChoices& choices, std::string_view name, std::string_view value) {
  const Choice& choice = choice_named(name);
  each_choice(choices, [&](std::string_view each, auto& member) {
    if (each != choice.name) return;
    auto read_value = member.value_or(typename std::remove_reference_t<decltype(member)>::value_type{});
    require(read(value, read_value), choice.name, " (", choice.meaning, ") is '", value, "'; it must be ", choice.allowed);
    member = read_value;
  });
}

Arrangement with_choices(const Arrangement& row, const ArrangementChoices& choices) {
  Arrangement chosen = row;
  each_choice(choices, [&](std::string_view name, const auto& value) {
    each_choice(chosen.choices, [&](std::string_view mine, auto& member) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::remove_cvref_t<decltype(member)>>)
        if (mine == name && value) member = value;
    });
  });
  const auto given = given_choices(choices);
  for (const Choice& choice : table()) {
    const auto found = std::ranges::find(given, choice.name, [](const auto& pair) { return pair.first; });
    if (found == given.end()) continue;
    require(std::ranges::find(choice.taken_by, row.name) != choice.taken_by.end(), "arrangement '", row.name, "' has no ",
            choice.name, " (", choice.meaning, "), but ", found->second, " is given; it is for ", listed(choice.taken_by));
    require(choice.is_allowed(choices), "arrangement '", row.name, "': ", choice.name, " (", choice.meaning, ") is ",
            found->second, "; it must be ", choice.allowed);
    choice.apply(chosen, chosen.choices);
  }
  return chosen;
}

}  // namespace addnorm
