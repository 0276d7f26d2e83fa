// The table of arrangements. Adding one that fits the slots is adding a row.
#include "addnorm/residual/catalogue.h"

#include <cctype>
#include <deque>
#include <mutex>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm {
namespace {

using Kind = CoefficientRule::Kind;
const std::vector<Role> kValueAndOut{Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out};
const std::vector<Role> kOut{Role::attention_out, Role::ffn_out};
const std::vector<Role> kAll{Role::q, Role::k, Role::v, Role::attention_out, Role::ffn_in, Role::ffn_gate, Role::ffn_out};
const std::vector<Role> kEmbeddings{Role::token_embedding, Role::position_embedding};

InitSpec xavier() { return {}; }
InitSpec xavier_normal_with(const char* gain) {
  return {.base = InitSpec::Base::xavier_normal, .gains = {{kValueAndOut, {.name = gain}}}};
}
InitSpec gpt2() { return {.base = InitSpec::Base::normal, .gains = {{kOut, {.name = "inv-sqrt-2-layers"}}}}; }

const std::vector<Arrangement>& table() {
  static const std::vector<Arrangement> rows{
      {.name = "plain",
       .unit = {.skip = Skip::none, .a = fixed(0)},
       .source = "practice before 2015; the control of He et al.",
       .year = 2015,
       .used_by = "nobody on purpose",
       .failure = "degrades with depth; with attention all tokens become one vector",
       .aliases = {"none", "no-skip"}},
      {.name = "plain-ln",
       .unit = {.skip = Skip::none, .a = fixed(0), .post = true},
       .source = "the control of He et al., with a norm",
       .year = 2015,
       .used_by = "nobody on purpose",
       .failure = "degrades with depth although gradients do not vanish"},
      {.name = "residual",
       .source = "He et al., arXiv 1512.03385",
       .year = 2015,
       .used_by = "residual networks; here without a norm",
       .failure = "the variance doubles with every unit: use with a scaled initialisation only",
       .aliases = {"skip", "resnet"}},
      {.name = "xskip",
       .unit = {.a = {.start = {.constant = 2}, .symbol = "λ"}},
       .source = "Liu F. et al., arXiv 2105.07205",
       .year = 2020,
       .used_by = "ablations of its authors",
       .failure = "gradients grow (λ > 1) or shrink (λ < 1) like λ to the number of units",
       .aliases = {"expanded-skip"}},
      {.name = "xskip-ln",
       .unit = {.a = {.start = {.constant = 2}, .symbol = "λ"}, .post = true},
       .source = "Liu F. et al., arXiv 2105.07205",
       .year = 2020,
       .used_by = "ablations of its authors",
       .failure = "a large λ lets the branches hardly be heard"},
      {.name = "post-ln",
       .unit = {.post = true},
       .source = "Vaswani et al., arXiv 1706.03762",
       .year = 2017,
       .used_by = "the original Transformer, BERT, RoBERTa, BART, OPT-350m",
       .failure = "the gradient shrinks from unit to unit on its way down: needs warm-up, stalls beyond some 12 layers",
       .aliases = {"post-norm", "norm_first=false", "post layer normalization", "post layer norm", "normalize_before=false",
                   "add-norm"}},
      {.name = "pre-ln",
       .unit = {.in = true},
       .exit = true,
       .init = gpt2(),
       .source = "Xiong et al., arXiv 2002.04745; Tensor2Tensor before it",
       .year = 2018,
       .used_by = "GPT-2, GPT-3, OPT, Llama (with RMSNorm), ViT",
       .failure = "the stream grows with depth: late units change it little",
       .aliases = {"pre-norm", "norm_first", "norm_first=true", "normalize_before", "normalize_before=true",
                   "pre layer normalization", "pre layer norm", "do_layer_norm_before"}},
      {.name = "pre-ln-nofinal",
       .unit = {.in = true},
       .init = gpt2(),
       .source = "Xiong et al., arXiv 2002.04745",
       .year = 2020,
       .used_by = "nobody on purpose: OPT as first converted, fairseq models that lost their last norm",
       .failure = "logits grow with the square root of the depth"},
      {.name = "norm-skip",
       .unit = {.in = true, .skip = Skip::normed},
       .exit = true,
       .source = "BLOOM's apply_residual_connection_post_layernorm",
       .year = 2022,
       .used_by = "the FFN half of HybridNorm; texts print it under the name pre-LN",
       .failure = "it is post-ln shifted by one norm, and needs its warm-up",
       .aliases = {"apply_residual_connection_post_layernorm", "post-norm-residual"}},
      {.name = "sandwich",
       .unit = {.in = true, .out = true},
       .exit = true,
       .init = gpt2(),
       .source = "CogView, Ding et al., arXiv 2105.13290",
       .year = 2021,
       .used_by = "CogView, Gemma 2 (with RMSNorm)",
       .failure = "every branch adds a vector of fixed length, whatever it has to say",
       .aliases = {"sandwich-ln", "pre-post-norm", "gemma2"}},
      {.name = "peri-ln",
       .unit = {.in = true, .out = true},
       .entry = true,
       .exit = true,
       .init = gpt2(),
       .source = "Kim et al., arXiv 2502.02732",
       .year = 2025,
       .used_by = "Gemma 2 and 3 in kind",
       .failure = "as sandwich; the gain of the output norm must stay learnable",
       .aliases = {"peri-norm", "pre_post"}},
      {.name = "res-post",
       .unit = {.out = true},
       .exit = true,
       .init = gpt2(),
       .source = "Swin v2, Liu Z. et al.; OLMo 2",
       .year = 2022,
       .used_by = "Swin v2, OLMo 2 (RMSNorm, QK-norm)",
       .failure = "branches read a growing stream: attention logits grow unless q and k are normed",
       .aliases = {"reordered", "reordered-norm", "res-post-norm", "norm_after"}},
      {.name = "normformer",
       .unit = {.in = true, .mid = true},
       .overrides = {{.sub_layer = SubLayer::self, .slots = {.in = true, .head_gain = HeadGain::before_out, .out = true}},
                     {.sub_layer = SubLayer::cross, .slots = {.in = true, .head_gain = HeadGain::before_out, .out = true}}},
       .exit = true,
       .init = gpt2(),
       .source = "Shleifer et al., arXiv 2110.09456",
       .year = 2021,
       .used_by = "fairseq's --scale-attn --scale-fc --scale-heads",
       .failure = "more norms to compute; the gain is largest in small models"},
      {.name = "sub-ln",
       .unit = {.in = true, .mid = true},
       .overrides = {{.sub_layer = SubLayer::cross, .slots = {.in = true}}},
       .exit = true,
       .init = {.base = InitSpec::Base::xavier_normal, .gains = {{kValueAndOut, {.name = "sub-ln-gamma"}, false}}},
       .source = "Magneto, Wang et al., arXiv 2210.06423",
       .year = 2022,
       .used_by = "torchscale, BEiT-3",
       .failure = "its initial gain is above 1: without the inner norm it explodes",
       .aliases = {"magneto", "subln"}},
      {.name = "deepnorm",
       .unit = {.a = fixed("deepnorm-alpha", "α"), .post = true},
       .init = xavier_normal_with("deepnorm-beta"),
       .source = "DeepNet, Wang et al., arXiv 2203.00555",
       .year = 2022,
       .used_by = "DeepNet (1000 layers), GLM-130B",
       .failure = "learns less than post-ln late in training",
       .aliases = {"deepnet", "deep-norm"}},
      {.name = "admin",
       .unit = {.a = {.kind = Kind::learned_vector, .symbol = "ω", .profiled = true}, .post = true},
       .init = xavier(),
       .source = "Liu L. et al., arXiv 2004.08249",
       .year = 2020,
       .used_by = "its authors: 100 layers of encoder and decoder",
       .failure = "ω is measured on one batch before the first step; very large batches diverge",
       .aliases = {"adaptive", "adaptive-profiling"}},
      {.name = "admin-const",
       .unit = {.a = learned(Kind::learned_vector, {.name = "admin-const"}, "ω"), .post = true},
       .init = xavier(),
       .source = "Liu L. et al., arXiv 2004.08249; admin-torch",
       .year = 2020,
       .used_by = "admin-torch",
       .failure = "one value for all units: the bottom ones start too weak"},
      {.name = "keel",
       .unit = {.in = true, .a = fixed("units", "α"), .post = true},
       .source = "Chen and Wei, arXiv 2601.19895",
       .year = 2026,
       .used_by = "its authors",
       .failure = "starts almost as the identity: every branch has a share of 1/n"},
      {.name = "rezero",
       .unit = {.b = learned(Kind::learned_per_layer, {.constant = 0}, "α")},
       .source = "Bachlechner et al., arXiv 2003.04887",
       .year = 2020,
       .used_by = "its authors",
       .failure = "the first step moves only α; final losses are worse than pre-ln's",
       .aliases = {"re-zero", "use_rezero"}},
      {.name = "skipinit",
       .unit = {.b = learned(Kind::learned_scalar, {.constant = 0}, "α")},
       .source = "De and Smith, arXiv 2002.10444",
       .year = 2020,
       .used_by = "residual networks without batch norm",
       .failure = "as rezero",
       .aliases = {"zero_init_branch_output"}},
      {.name = "layerscale",
       .unit = {.in = true, .b = learned(Kind::learned_vector, {.name = "layerscale"}, "λ")},
       .exit = true,
       .source = "CaiT, Touvron et al., arXiv 2103.17239",
       .year = 2021,
       .used_by = "CaiT, DINOv2, ConvNeXt",
       .failure = "branches wake slowly when λ is decayed",
       .aliases = {"layer-scale", "use_layerscale", "init_values"}},
      {.name = "lns",
       .unit = {.in = true, .in_scale = {.name = "inv-sqrt-layer"}},
       .exit = true,
       .source = "The Curse of Depth, Sun et al., arXiv 2502.05795",
       .year = 2025,
       .used_by = "its authors",
       .failure = "its gain disappears together with an output initialisation of 1/√(2L)",
       .aliases = {"layernorm-scaling", "depth-scaled"}},
      {.name = "t-fixup",
       .init = {.gains = {{kValueAndOut, {.name = "t-fixup"}}, {kEmbeddings, {.name = "t-fixup-embedding"}}}},
       .source = "Huang et al., ICML",
       .year = 2020,
       .used_by = "its authors",
       .failure = "leans on Adam's first steps and a moderate learning rate",
       .aliases = {"tfixup"}},
      {.name = "ds-init",
       .unit = {.post = true},
       .init = {.gains = {{kAll, {.name = "inv-sqrt-layer"}}}},
       .source = "Zhang, Titov and Sennrich, arXiv 1908.11365",
       .year = 2019,
       .used_by = "bzhangGo/zero",
       .failure = "upper layers start almost silent",
       .aliases = {"depth-scaled-init", "transformer-depth-scaling"}},
      {.name = "scaled-res",
       .unit = {.in = true, .b = fixed("inv-sqrt-units", "1/√n")},
       .exit = true,
       .source = "Noci et al., arXiv 2206.03126",
       .year = 2022,
       .used_by = "Granite's residual_multiplier, MiniCPM's scale_depth",
       .failure = "branches stay small in deep stacks",
       .aliases = {"residual-scale", "residual_multiplier", "scale_depth", "scale_residual"}},
      {.name = "mix-ln",
       .unit = {.in = true},
       .overrides = {{.first_share = 0.25, .slots = {.post = true}}},
       .exit = true,
       .source = "Li et al., arXiv 2412.13795",
       .year = 2024,
       .used_by = "its authors",
       .failure = "the share of post-ln layers is one more number to choose"},
      {.name = "b2t",
       .init = {.gains = {{kAll, {.name = "inv-sqrt-layers"}}}},
       .source = "Takase et al., arXiv 2206.00330",
       .year = 2022,
       .used_by = "its authors",
       .failure = "one norm per layer is still crossed",
       .aliases = {"bottom-to-top", "b2t-connection"},
       .text = "x' = N(x + F(x)); last of a layer: x' = N(x_l + x + F(x))",
       .between_units = "the input of the layer goes past its units to the last norm"},
      {.name = "resi-dual",
       .exit = true,
       .source = "Xie et al., arXiv 2304.14802",
       .year = 2023,
       .used_by = "its authors",
       .failure = "the second stream never feeds a branch, and overflows half precision",
       .aliases = {"ResiDual", "residual-dual"},
       .text = "x' = N(x + F(x)), r' = r + F(x); out = x + N(r)",
       .streams = 2,
       .between_units = "a second stream collects the branches of all units"},
      {.name = "rskip",
       .source = "Liu F. et al., arXiv 2105.07205",
       .year = 2020,
       .used_by = "its authors",
       .failure = "two norms per unit",
       .aliases = {"recursive-skip"},
       .text = "x' = N_2(x + N_1(x + F(x)))"},
      {.name = "parallel",
       .exit = true,
       .init = gpt2(),
       .source = "GPT-J, Wang and Komatsuzaki",
       .year = 2021,
       .used_by = "GPT-J, PaLM, Falcon",
       .failure = "the feed-forward part cannot see what attention of the same layer found",
       .aliases = {"gpt-j-residual", "parallel_residual", "use_parallel_residual", "parallel_attn", "parallel-shared"},
       .text = "u = N(x); x' = x + Attn(u) + FFN(u)",
       .between_units = "the units of a layer all read its input; one alone is pre-ln"},
      {.name = "parallel-2ln",
       .exit = true,
       .init = gpt2(),
       .source = "GPT-NeoX, Black et al., arXiv 2204.06745",
       .year = 2022,
       .used_by = "GPT-NeoX, Pythia",
       .failure = "as parallel",
       .text = "x' = x + Attn(N_1(x)) + FFN(N_2(x))",
       .between_units = "the units of a layer all read its input; one alone is pre-ln"},
      {.name = "denseformer",
       .exit = true,
       .init = gpt2(),
       .source = "Pagliardini et al., arXiv 2402.02622",
       .year = 2024,
       .used_by = "its authors",
       .failure = "keeps the output of every layer: memory grows with depth",
       .aliases = {"dwa", "depth-weighted-average"},
       .text = "x' = x + F(N(x)); after layer l: x = Σ_{k≤l} w_lk y_k, y_k the output of layer k",
       .between_units = "the outputs of all layers are kept and mixed"},
      {.name = "dlcl-pre",
       .source = "Wang et al., arXiv 1906.01787",
       .year = 2019,
       .used_by = "its authors, deep translation models",
       .failure = "keeps the output of every layer: memory grows with depth",
       .aliases = {"dlcl"},
       .text = "x' = x + F(N(x)); layer l reads Σ_{k<l} w_lk N_k(y_k), the exit too",
       .between_units = "the outputs of all layers are kept and mixed"},
      {.name = "dlcl-post",
       .source = "Wang et al., arXiv 1906.01787",
       .year = 2019,
       .used_by = "its authors, deep translation models",
       .failure = "keeps the output of every layer: memory grows with depth",
       .text = "x' = N(x + F(x)); layer l reads N_l(Σ_{k<l} w_lk y_k), the exit too",
       .between_units = "the outputs of all layers are kept and mixed"},
  };
  return rows;
}

}  // namespace

namespace {

/// Arrangements that the program added. A deque: references to earlier ones stay good.
struct Registered {
  std::mutex guard;
  std::deque<Arrangement> rows;
};
Registered& registered() {
  static Registered all;
  return all;
}

std::string as_written(std::string_view name) { return std::string(name); }
std::string dashed(std::string_view name) {
  std::string all(name);
  for (char& c : all) c = c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}
std::string plain(std::string_view name) {
  std::string all = folded(name);
  std::erase(all, ' ');
  return all;
}

/// The row of which some name, written by `same`, equals `wanted`; null if there is none.
const Arrangement* find(const std::string& wanted, std::string (*same)(std::string_view)) {
  for (const Arrangement& row : arrangements()) {
    if (same(row.name) == wanted) return &row;
    for (const std::string& alias : row.aliases)
      if (same(alias) == wanted) return &row;
  }
  return nullptr;
}

void require_new(const Arrangement& row, const std::string& name) {
  const Arrangement* other = find(plain(name), plain);
  require(!other, "register_arrangement: '", name, "'", name == row.name ? "" : concat(", an alias of '", row.name, "',"),
          " already names ", other ? other->name : "", "; choose another name");
}

}  // namespace

std::vector<std::reference_wrapper<const Arrangement>> arrangements() {
  std::vector<std::reference_wrapper<const Arrangement>> all(table().begin(), table().end());
  const std::scoped_lock lock(registered().guard);
  all.insert(all.end(), registered().rows.begin(), registered().rows.end());
  return all;
}

std::vector<std::string> arrangement_names() {
  std::vector<std::string> names;
  for (const Arrangement& row : arrangements()) names.push_back(row.name);
  return names;
}

// From the strictest reading to the loosest: without its dash and its capital, ResiDual would be residual.
const Arrangement& arrangement_named(std::string_view name) {
  for (const auto same : {as_written, dashed, plain})
    if (const Arrangement* row = find(same(name), same)) return *row;
  throw UsageError(unknown_name("arrangement", name, arrangement_names()));
}

const Arrangement& register_arrangement(Arrangement arrangement) {
  static std::mutex one_at_a_time;  // between looking and adding nobody else adds
  const std::scoped_lock lock(one_at_a_time);
  require(!plain(arrangement.name).empty(), "register_arrangement: the arrangement has no name");
  require(!arrangement.make || !arrangement.text.empty(), "register_arrangement: '", arrangement.name,
          "' is a class without text; say its formula there");
  require_new(arrangement, arrangement.name);
  for (const std::string& alias : arrangement.aliases) require_new(arrangement, alias);
  const std::scoped_lock adding(registered().guard);
  return registered().rows.emplace_back(std::move(arrangement));
}

}  // namespace addnorm
