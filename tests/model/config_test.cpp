// ModelConfig: what is written is read back, and what makes no model is refused by the name of its field.
#include "addnorm/model/config.h"

#include <cmath>

#include "addnorm/model/model.h"
#include "addnorm/residual/catalogue.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

using test::small;
using test::throws_saying;

void expect_refused(const std::function<void(ModelConfig&)>& change, std::initializer_list<std::string> parts,
                    ModelKind kind = ModelKind::lm) {
  ModelConfig config = small(kind);
  change(config);
  EXPECT_TRUE(throws_saying<UsageError>([&] { make_model(config); }, parts));
}

TEST(ModelConfigJson, ReadsBackWhatItWrote) {
  ModelConfig config{.model = ModelKind::seq2seq,
                     .vocab = 100,
                     .target_vocab = 100,
                     .layers = 3,
                     .decoder_layers = 4,
                     .d_model = 48,
                     .heads = 6,
                     .kv_heads = 2,
                     .d_head = 8,
                     .d_ff = 96,
                     .seq_len = 77,
                     .arrangement = "xskip-ln",
                     .choices = {.skip_factor = 1.5},
                     .norm = "rmsnorm",
                     .norm_eps = 1e-6,
                     .norm_bias = false,
                     .final_norm = true,
                     .embedding_norm = true,
                     .qk_norm = "l2norm",
                     .qk_norm_span = QkNormSpan::projection,
                     .dropout = 0.1,
                     .layer = LayerKind::attention,
                     .activation = Activation::swiglu,
                     .bias = false,
                     .positions = PositionKind::sinusoidal_halves,
                     .position_offset = 1,
                     .rope_base = 5000,
                     .scale_embedding = true,
                     .tied = false,
                     .head_bias = true,
                     .shared_vocab = true,
                     .pooling = Pooling::first};
  const std::string text = to_json(config);
  const ModelConfig back = model_config_from_json(text, "test");
  EXPECT_EQ(to_json(back), text);
  for (const char* name :
       {"model",    "vocab",      "target_vocab", "layers",         "decoder_layers",  "d_model",      "heads",
        "kv_heads", "d_head",     "d_ff",         "seq_len",        "arrangement",     "choices",      "norm",
        "norm_eps", "norm_bias",  "final_norm",   "embedding_norm", "qk_norm",         "qk_norm_span", "dropout",
        "layer",    "activation", "bias",         "positions",      "position_offset", "rope_base",    "scale_embedding",
        "tied",     "head_bias",  "shared_vocab", "pooling"})
    EXPECT_NE(text.find(concat("\"", name, "\":")), std::string::npos) << name;
  EXPECT_EQ(back.kv_heads, 2u);
  EXPECT_EQ(back.choices.skip_factor, 1.5);
  EXPECT_EQ(back.positions, PositionKind::sinusoidal_halves);
  EXPECT_EQ(count_parameters(*make_model(back)), count_parameters(*make_model(config)));
}

TEST(ModelConfigJson, OfAnEmptyObjectIsTheDefault) {
  EXPECT_EQ(to_json(model_config_from_json("{}", "test")), to_json(ModelConfig{}));
  EXPECT_EQ(to_json(ModelConfig{}), "{}\n");
}

TEST(ModelConfigJson, CarriesARowOfOnesOwn) {
  ModelConfig config = small(ModelKind::lm);
  config.own_arrangement = arrangement_from_json(R"({"name": "mine", "unit": {"in": true, "b": 0.5}, "exit": true})", "row");
  const ModelConfig back = model_config_from_json(to_json(config), "test");
  EXPECT_EQ(completed(back).arrangement, "mine");
  EXPECT_EQ(to_json(*back.own_arrangement), to_json(*config.own_arrangement));
  EXPECT_EQ(count_parameters(*make_model(back)), count_parameters(*make_model(small(ModelKind::lm, "scaled-res"))));
}

TEST(ModelConfigJson, KnowsTheWordsOfHuggingFace) {
  const ModelConfig config = model_config_from_json(
      R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 256, "vocab_size": 50,
          "max_position_embeddings": 128, "layer_norm_eps": 1e-12, "num_key_value_heads": 2})",
      "config.json");
  EXPECT_EQ(config.d_model, 64u);
  EXPECT_EQ(config.layers, 2u);
  EXPECT_EQ(config.heads, 8u);
  EXPECT_EQ(config.kv_heads, 2u);
  EXPECT_EQ(config.seq_len, 128u);
  EXPECT_EQ(config.norm_eps, 1e-12);
  EXPECT_EQ(model_config_from_json(R"({"positions": "rope", "activation": "gelu_new"})", "x").positions, PositionKind::rotary);
  EXPECT_EQ(model_config_from_json(R"({"head": false})", "x").head, false);
}

TEST(ModelConfigJson, NamesTheFieldThatIsWrong) {
  const auto refused = [](const char* text, std::initializer_list<std::string> parts) {
    return throws_saying<DataError>([&] { model_config_from_json(text, "config.json"); }, parts);
  };
  EXPECT_TRUE(refused(R"({"layerz": 2})", {"config.json", "layerz", "did you mean layers"}));
  EXPECT_TRUE(refused(R"({"layers": -2})", {"config.json", "layers is -2", "whole number"}));
  EXPECT_TRUE(refused(R"({"layers": 2.5})", {"layers is 2.5"}));
  EXPECT_TRUE(refused(R"({"model": "lmm"})", {"model is \"lmm\"", "lm, encoder, seq2seq", "did you mean lm"}));
  EXPECT_TRUE(refused(R"({"positions": "learnt"})", {"positions", "learned"}));
  EXPECT_TRUE(refused(R"({"rms_norm_eps": 1e-6})", {"rms_norm_eps"}));
  EXPECT_TRUE(refused(R"({"choices": {"skip_faktor": 2}})", {"choices.skip_faktor", "did you mean choices.skip_factor"}));
  EXPECT_TRUE(refused(R"({"layers": 2, "n_layer": 3})", {"n_layer", "layers"}));
  EXPECT_TRUE(refused(R"({"layers": 2, "layers": 3})", {"layers", "twice"}));
  EXPECT_TRUE(refused("[1]", {"array", "an object"}));
  const std::string deep = R"({"layers": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_TRUE(refused(deep.c_str(), {"config.json", "nested deeper than 64"}));
  EXPECT_TRUE(refused(R"({"norm": ["äöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöü"]})", {"norm is [\"äöü", "a string"}));
  EXPECT_TRUE(refused("{", {"config.json", "not JSON"}));
}

TEST(ModelConfig, FillsInWhatFollowsFromOtherSizes) {
  ModelConfig config{.vocab = 5, .d_model = 64, .heads = 4};
  EXPECT_EQ(completed(config).d_ff, 256u);
  EXPECT_EQ(completed(config).d_head, 16u);
  EXPECT_EQ(completed(config).kv_heads, 4u);
  config.activation = Activation::swiglu;
  EXPECT_EQ(completed(config).d_ff, 176u);
  config.arrangement = "PreLN";
  EXPECT_EQ(completed(config).arrangement, "pre-ln");
  config.model = ModelKind::seq2seq;
  EXPECT_EQ(completed(config).target_vocab, 5u);
  EXPECT_EQ(completed(config).decoder_layers, 6u);
}

TEST(ModelConfig, NamesTheFieldTheValueAndWhatIsAllowed) {
  expect_refused([](auto& c) { c.heads = 5; }, {"heads is 5", "divide d_model (12)"});
  expect_refused([](auto& c) { c.heads = 0; }, {"heads is 0", "1 ..."});
  expect_refused([](auto& c) { c.kv_heads = 3; }, {"kv_heads is 3", "divide heads (2)"});
  expect_refused([](auto& c) { c.layers = 0; }, {"layers is 0", "1 ... 1000000"});
  expect_refused([](auto& c) { c.layers = std::size_t{0} - 1; }, {"layers is 18446744073709551615", "1 ... 1000000"});
  expect_refused([](auto& c) { c.d_model = std::size_t{1} << 62, c.d_ff = 0; }, {"d_model is 4611686018427387904"});
  expect_refused([](auto& c) { c.position_offset = std::size_t{0} - 1; }, {"position_offset is 18446744073709551615"});
  expect_refused([](auto& c) { c.d_head = std::size_t{1} << 60; }, {"d_head is"});
  expect_refused([](auto& c) { c.dropout = 0.99999999; }, {"model config: dropout"});
  expect_refused([](auto& c) { c.dropout = std::nan(""); }, {"dropout is nan"});
  expect_refused([](auto& c) { c.rope_base = -5; }, {"rope_base is -5"});
  expect_refused([](auto& c) { c.head = false; }, {"head is false", "lm"});
  expect_refused([](auto& c) { c.classes = 2; }, {"classes is 2", "left out", "lm"});
  expect_refused([](auto& c) { c.decoder_layers = 2; }, {"decoder_layers is 2", "left out"});
  expect_refused([](auto& c) { c.vocab = 0; }, {"vocab is 0"});
  expect_refused([](auto& c) { c.d_model = 0; }, {"d_model is 0"});
  expect_refused([](auto& c) { c.seq_len = 0; }, {"seq_len is 0"});
  expect_refused([](auto& c) { c.norm_eps = -1e-5; }, {"norm_eps is -1e-05", "0 or"});
  expect_refused([](auto& c) { c.dropout = 1; }, {"dropout is 1", "below 1"});
  expect_refused([](auto& c) { c.arrangement = "prelm"; }, {"arrangement", "prelm", "did you mean pre-ln", "post-ln"});
  expect_refused([](auto& c) { c.norm = "rmsnrom"; }, {"norm", "rmsnrom", "did you mean rmsnorm"});
  expect_refused([](auto& c) { c.qk_norm = "batchnorm"; }, {"qk_norm is batchnorm", "one token"});
  expect_refused([](auto& c) { c.norm = "rmsnorm", c.norm_bias = true; }, {"norm_bias is true", "rmsnorm has no bias"});
  expect_refused([](auto& c) { c.choices.post_share = 0.5; }, {"arrangement", "post_share", "mix-ln"});
  expect_refused([](auto& c) { c.positions = PositionKind::rotary, c.d_head = 5; }, {"d_head is 5", "even"});
  expect_refused([](auto& c) { c.layer = LayerKind::ffn, c.qk_norm = "rmsnorm"; }, {"qk_norm is rmsnorm", "without attention"});
  expect_refused([](auto& c) { c.classes = 0; }, {"classes is 0"}, ModelKind::classifier);
  expect_refused([](auto& c) { c.features = 0; }, {"features is 0"}, ModelKind::mlp);
  expect_refused([](auto& c) { c.layer = LayerKind::attention; }, {"layer is attention", "ffn"}, ModelKind::mlp);
  expect_refused([](auto& c) { c.layer = LayerKind::ffn; }, {"layer is ffn", "seq2seq"}, ModelKind::seq2seq);
  expect_refused([](auto& c) { c.shared_vocab = true; }, {"target_vocab is 7", "equal vocab (11)"}, ModelKind::seq2seq);
}

TEST(ModelConfig, CombinesNormsPositionsAndActivationsWithEveryArrangement) {
  for (const std::string& arrangement : arrangement_names())
    for (const char* qk_norm : {"none", "rmsnorm", "layernorm", "l2norm"}) {
      ModelConfig config = small(ModelKind::lm, arrangement);
      config.qk_norm = qk_norm;
      config.qk_norm_span = QkNormSpan::projection;
      config.positions = PositionKind::rotary;
      config.activation = Activation::swiglu;
      config.bias = false;
      EXPECT_NO_THROW(test::AnyModel{config}()) << arrangement << " " << qk_norm;
    }
}

}  // namespace
}  // namespace addnorm
