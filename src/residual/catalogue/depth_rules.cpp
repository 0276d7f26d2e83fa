// Numbers that follow from the depth of a stack, by name. L: layers of this stack, n: its residual units, l: the layer counted
// from 1, N and M: layers of encoder and decoder.
#include <array>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/arrangement.h"

namespace addnorm {
namespace {

struct Depth {
  double layers, units, layer, encoder, decoder;
  bool alone, is_encoder;
  Depth(const StackShape& s, const Unit& unit)
      : layers(static_cast<double>(s.layers)),
        units(static_cast<double>(s.units())),
        layer(static_cast<double>(unit.layer + 1)),
        encoder(static_cast<double>(s.kind == StackKind::decoder ? s.other_layers : s.layers)),
        decoder(static_cast<double>(s.kind == StackKind::encoder ? s.other_layers : s.layers)),
        alone(s.kind == StackKind::encoder_only || s.kind == StackKind::decoder_only),
        is_encoder(s.kind == StackKind::encoder) {}
};

// DeepNet (Wang et al. 2022), table 1 of the paper.
double deepnorm_alpha(const Depth& d) {
  if (d.alone) return std::pow(2 * d.layers, 0.25);
  return d.is_encoder ? 0.81 * std::pow(std::pow(d.encoder, 4) * d.decoder, 1.0 / 16) : std::pow(3 * d.decoder, 0.25);
}
double deepnorm_beta(const Depth& d) {
  if (d.alone) return std::pow(8 * d.layers, -0.25);
  return d.is_encoder ? 0.87 * std::pow(std::pow(d.encoder, 4) * d.decoder, -1.0 / 16) : std::pow(12 * d.decoder, -0.25);
}
// Magneto (Wang et al. 2022).
double sub_ln_gamma(const Depth& d) {
  if (d.alone) return std::sqrt(std::log(2 * d.layers));
  return d.is_encoder ? std::sqrt(std::log(3 * d.decoder) * std::log(2 * d.encoder) / 3) : std::sqrt(std::log(3 * d.decoder));
}
// Admin (Liu et al. 2020), the constant of admin-torch for an output change of O(log n).
double admin_const(const Depth& d) { return std::sqrt((d.units + 1) / std::log(d.units + 1) - 1); }
// T-Fixup (Huang et al. 2020). The paper has one N for both stacks: it scales the decoder's matrices and "input embeddings x and
// y in encoder and decoder" by (9N)^-1/4, the encoder's by 0.67 N^-1/4. Where the depths differ we read N as that of the stack in
// which a matrix stands, so that the source's embeddings go by the encoder's depth and the target's by the decoder's. Another
// reading would draw other bits than version 0.1.0.
double t_fixup(const Depth& d) {
  return d.is_encoder || d.alone ? 0.67 * std::pow(d.layers, -0.25) : std::pow(9 * d.decoder, -0.25);
}
double t_fixup_embedding(const Depth& d) { return std::pow(9 * d.layers, -0.25); }
// CaiT (Touvron et al. 2021).
double layerscale(const Depth& d) { return d.layers <= 18 ? 0.1 : d.layers <= 24 ? 1e-5 : 1e-6; }

struct NamedDepthRule {
  const char* name;
  const char* text;
  double (*value)(const Depth&);
};
constexpr std::array kRules{
    NamedDepthRule{"deepnorm-alpha", "(2L)^¼", deepnorm_alpha},
    NamedDepthRule{"deepnorm-beta", "(8L)^−¼", deepnorm_beta},
    NamedDepthRule{"sub-ln-gamma", "√(ln(2L))", sub_ln_gamma},
    NamedDepthRule{"admin-const", "√((n+1)/ln(n+1) − 1)", admin_const},
    NamedDepthRule{"t-fixup", "0.67·L^−¼", t_fixup},
    NamedDepthRule{"t-fixup-embedding", "(9L)^−¼", t_fixup_embedding},
    NamedDepthRule{"layerscale", "ε", layerscale},
    NamedDepthRule{"units", "n", [](const Depth& d) { return d.units; }},
    NamedDepthRule{"sqrt-units", "√n", [](const Depth& d) { return std::sqrt(d.units); }},
    NamedDepthRule{"inv-sqrt-units", "1/√n", [](const Depth& d) { return 1 / std::sqrt(d.units); }},
    NamedDepthRule{"inv-sqrt-layer", "1/√l", [](const Depth& d) { return 1 / std::sqrt(d.layer); }},
    NamedDepthRule{"inv-fourth-root-layer", "l^−¼", [](const Depth& d) { return std::pow(d.layer, -0.25); }},
    NamedDepthRule{"inv-sqrt-layers", "1/√L", [](const Depth& d) { return 1 / std::sqrt(d.layers); }},
    NamedDepthRule{"inv-sqrt-2-layers", "1/√(2L)", [](const Depth& d) { return 1 / std::sqrt(2 * d.layers); }},
    NamedDepthRule{"inv-sqrt-2-layer", "1/√(2l)", [](const Depth& d) { return 1 / std::sqrt(2 * d.layer); }},
    NamedDepthRule{"sqrt-10-per-layers", "√10/L", [](const Depth& d) { return std::sqrt(10.0) / d.layers; }},
};

const NamedDepthRule* find(std::string_view name) {
  for (const NamedDepthRule& rule : kRules)
    if (folded(rule.name) == folded(name)) return &rule;
  return nullptr;
}

}  // namespace

std::vector<std::string> depth_rule_names() {
  std::vector<std::string> names;
  for (const NamedDepthRule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

DepthRule depth_rule_named(std::string_view name) {
  if (const NamedDepthRule* rule = find(name)) return {.name = rule->name};
  throw UsageError(unknown_name("depth rule", name, depth_rule_names()));
}

double value_of(const DepthRule& rule, const StackShape& shape, const Unit& unit) {
  if (!rule.name) return rule.constant;
  const NamedDepthRule* found = find(rule.name);
  if (!found) throw UsageError(unknown_name("depth rule", rule.name, depth_rule_names()));
  return found->value(Depth(shape, unit));
}

std::string text_of(const DepthRule& rule) {
  if (!rule.name) return concat(rule.constant);
  const NamedDepthRule* found = find(rule.name);
  return found ? found->text : rule.name;
}

namespace {

// Rules that are others in an encoder-decoder. N: layers of the encoder, M: of the decoder.
struct PairText {
  std::string_view name;
  const char *encoder, *decoder;
};
constexpr std::array kPairTexts{
    PairText{"deepnorm-alpha", "0.81·(N^4·M)^(1/16)", "(3M)^¼"}, PairText{"deepnorm-beta", "0.87·(N^4·M)^(−1/16)", "(12M)^−¼"},
    PairText{"sub-ln-gamma", "√(ln(3M)·ln(2N)/3)", "√(ln(3M))"}, PairText{"t-fixup", "0.67·N^−¼", "(9M)^−¼"},
    PairText{"t-fixup-embedding", "(9N)^−¼", "(9M)^−¼"},
};

}  // namespace

std::string text_of(const DepthRule& rule, const StackShape& shape) {
  const bool pair = shape.kind == StackKind::encoder || shape.kind == StackKind::decoder;
  if (rule.name && pair)
    for (const PairText& text : kPairTexts)
      if (text.name == rule.name) return shape.kind == StackKind::encoder ? text.encoder : text.decoder;
  return text_of(rule);
}

CoefficientRule fixed(double value) { return {.start = {.constant = value}}; }
CoefficientRule fixed(const char* rule, const char* symbol) { return {.start = depth_rule_named(rule), .symbol = symbol}; }
CoefficientRule learned(CoefficientRule::Kind kind, DepthRule start, const char* symbol) {
  return {.kind = kind, .start = start, .symbol = symbol};
}

std::size_t Override::layers_of(const StackShape& shape) const {
  if (!first_share || *first_share >= 1) return shape.layers;
  if (!(*first_share > 0)) return 0;
  // 0.29 * 100 is 28.999999999999996 in double, and means 29.
  return static_cast<std::size_t>(std::floor(*first_share * static_cast<double>(shape.layers) + 1e-9));
}

const UnitSlots& Arrangement::slots(const StackShape& shape, const Unit& at) const {
  for (const Override& other : overrides) {
    const bool fits = (!other.sub_layer || *other.sub_layer == at.sub_layer) && at.layer < other.layers_of(shape);
    if (fits) return other.slots;
  }
  return unit;
}

}  // namespace addnorm
