// The table of initialisations. Adding one is adding a row.
#include <algorithm>
#include <cmath>
#include <map>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/init_spec.h"
#include "core/printable.h"
#include "residual/catalogue/role_groups.h"

namespace addnorm {
namespace {

using Base = InitSpec::Base;

std::vector<InitSpec> rule_table() {
  const InitGain by_sqrt_2_layers{writing_matrices(), {.name = "inv-sqrt-2-layers"}};
  const InitSpec::Draw unit_embeddings{.roles = embeddings(), .deviation = 1};
  return {
      {.name = "xavier", .source = "Glorot and Bengio 2010; embeddings as Vaswani et al., arXiv 1706.03762, and fairseq"},
      {.base = Base::normal,
       .gains = {by_sqrt_2_layers},
       .name = "gpt2",
       .source = "Radford et al. 2019 (GPT-2); nanoGPT, Megatron-LM, OLMo's full_megatron"},
      {.base = Base::normal, .name = "bert", .source = "Devlin et al., arXiv 1810.04805; Llama and most models of Hugging Face"},
      {.gains = {{{Role::q, Role::k, Role::v}, {.constant = std::sqrt(0.5)}}},
       .draws = {unit_embeddings,
                 {.roles = {Role::head, Role::weight}, .base = Base::fan_in_uniform},
                 {.roles = {Role::bias}, .base = Base::fan_in_uniform, .sub_layer = SubLayer::ffn}},
       .name = "pytorch",
       .source = "nn.Transformer: q, k and v drawn as one matrix; nn.Embedding and the head by their own defaults"},
      {.base = Base::fan_in_normal,
       .draws = {unit_embeddings, {.roles = {Role::head}, .deviation = 1}},
       .name = "t5",
       .source = "Raffel et al., arXiv 1910.10683; W_q without d_head^-1/2, which stands in the scale of our attention"},
      {.base = Base::xavier_normal,
       .gains = {{value_and_ffn(), {.name = "deepnorm-beta"}}},
       .name = "deepnorm",
       .source = "DeepNet, Wang et al., arXiv 2203.00555: β of its table 1"},
      {.gains = {{value_and_ffn(), {.name = "t-fixup"}}, {embeddings(), {.name = "t-fixup-embedding"}}},
       .name = "t-fixup",
       .source = "Huang et al., ICML 2020"},
      {.gains = {{branch_matrices(), {.name = "inv-sqrt-layer"}}},
       .name = "ds-init",
       .source = "Zhang, Titov and Sennrich, arXiv 1908.11365"},
      {.base = Base::xavier_normal,
       .gains = {{value_and_ffn(), {.name = "sub-ln-gamma"}, false}},
       .name = "magneto",
       .source = "Magneto, Wang et al., arXiv 2210.06423"},
      {.gains = {{branch_matrices(), {.name = "inv-sqrt-layers"}}},
       .name = "b2t",
       .source = "Takase et al., arXiv 2206.00330 (their code)"},
      {.base = Base::fan_in_normal,
       .gains = {{writing_matrices(), {.name = "inv-sqrt-2-layer"}}},
       .name = "mitchell",
       .source = "OLMo's mitchell: output matrices of layer l by 1/√(2l)"},
      {.base = Base::small_normal,
       .gains = {{writing_matrices(), {.name = "sqrt-10-per-layers"}}},
       .draws = {{.roles = embeddings(), .base = Base::small_normal}},
       .name = "neox",
       .source =
           "GPT-NeoX: SmallInit of Nguyen and Salazar, arXiv 1910.05895; output matrices N(0, 4/(L² d)) of Wang and Komatsuzaki"},
  };
}

/// What others call them.
const std::map<std::string, std::string>& other_names() {
  static const std::map<std::string, std::string> all{{"glorot", "xavier"},
                                                      {"xavieruniform", "xavier"},
                                                      {"fairseq", "xavier"},
                                                      {"nanogpt", "gpt2"},
                                                      {"megatron", "gpt2"},
                                                      {"fullmegatron", "gpt2"},
                                                      {"llama", "bert"},
                                                      {"normal", "bert"},
                                                      {"nn.transformer", "pytorch"},
                                                      {"torch", "pytorch"},
                                                      {"mesh", "t5"},
                                                      {"deepnet", "deepnorm"},
                                                      {"tfixup", "t-fixup"},
                                                      {"depthscaledinit", "ds-init"},
                                                      {"subln", "magneto"},
                                                      {"olmo", "mitchell"},
                                                      {"smallinit", "neox"},
                                                      {"gptneox", "neox"}};
  return all;
}

/// For names that users look for but that are not a rule here; null: of none.
const char* nearest_rules(const std::string& wanted) {
  for (const char* family : {"kaiming", "he", "lecun"})
    for (const char* kind : {"", "normal", "uniform"})
      if (wanted == std::string(family) + kind) return "nearest are mitchell and t5, which draw matrices from N(0, 1/fan_in)";
  return wanted == "default" ? "arrangement is the default here, pytorch that of nn.Transformer" : nullptr;
}

}  // namespace

bool InitGain::acts_on(Role role, std::optional<SubLayer> at) const {
  return names_role(roles, role) && (cross || at != SubLayer::cross) && (!sub_layer || sub_layer == at);
}

const InitSpec::Draw* InitSpec::draw_of(Role role, std::optional<SubLayer> sub_layer) const {
  const Draw* found = nullptr;
  for (const Draw& draw : draws)
    if (names_role(draw.roles, role) && (!draw.sub_layer || draw.sub_layer == sub_layer)) found = &draw;
  return found;
}

const std::vector<InitSpec>& init_rules() {
  static const std::vector<InitSpec> rules = rule_table();
  return rules;
}

std::vector<std::string> init_rule_names() {
  std::vector<std::string> names;
  for (const InitSpec& rule : init_rules()) names.push_back(rule.name);
  return names;
}

const InitSpec* find_init_rule(std::string_view name) {
  const auto other = other_names().find(folded(name));
  const std::string wanted = folded(other == other_names().end() ? std::string(name) : other->second);
  const auto found = std::ranges::find(init_rules(), wanted, [](const InitSpec& rule) { return folded(rule.name); });
  return found == init_rules().end() ? nullptr : &*found;
}

std::string canonical_init(std::string_view name) {
  if (folded(name) == kInitOfArrangement) return kInitOfArrangement;
  const InitSpec* rule = find_init_rule(name);
  return rule ? rule->name : "";
}

const InitSpec& init_rule_named(std::string_view name) {
  if (const InitSpec* rule = find_init_rule(name)) return *rule;
  std::vector<std::string> known{kInitOfArrangement};
  for (std::string& each : init_rule_names()) known.push_back(std::move(each));
  if (const char* instead = nearest_rules(folded(name)))
    throw UsageError(
        concat("unknown initialisation '", printable(std::string(name)), "': ", instead, "; known: ", listed(known)));
  throw UsageError(unknown_name("initialisation", name, known));
}

}  // namespace addnorm
