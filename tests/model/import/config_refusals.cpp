// Configs that make no model, that do not fit their weights, or ask for what is not computed here: H-06, H-07.
#include "core/json/json.h"
#include "model/import/refusals.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::Refused;
using test::replace_in;
using test::Stored;

/// What a field of BERT's config is set to, and what is said of it.
struct ConfigRow {
  const char* field;
  const char* from;
  const char* to;
  const char* said = nullptr;  ///< none: the field's name
};

TEST_F(Refused, SizesOfAConfigThatMakeNoModel) {
  for (const ConfigRow& row : {ConfigRow{"num_attention_heads", "4", "0"},
                               {"num_attention_heads", "4", "-4"},
                               {"num_attention_heads", "4", "3"},
                               {"num_attention_heads", "4", "\"4\""},
                               {"num_hidden_layers", "2", "0"},
                               {"num_hidden_layers", "2", "2147483648"},
                               {"num_hidden_layers", "2", "1000000000"},
                               {"num_hidden_layers", "2", "1000000", "1000000 layers of width 16"},
                               {"vocab_size", "31", "0"},
                               {"vocab_size", "31", "2000000000", "2000000000 tokens"},
                               {"layer_norm_eps", "1e-05", "-1"},
                               {"layer_norm_eps", "1e-05", "NaN", "config.json: not JSON: line 17"},
                               {"layer_norm_eps", "1e-05", "1e300"},
                               {"max_position_embeddings", "12", "0"},
                               {"max_position_embeddings", "12", "2147483647", "2147483647 positions"},
                               {"type_vocab_size", "2", "2147483647", "2147483647 types of tokens"},
                               {"hidden_size", "16", "1.5"},
                               {"hidden_size", "16", "268435456", "width 268435456"},
                               {"intermediate_size", "24", "268435456", "268435456 hidden"},
                               {"model_type", "\"bert\"", "\"mamba\""},
                               {"model_type", "\"bert\"", "\"t5\""},
                               {"model_type", "\"bert\"", "7"}}) {
    SCOPED_TRACE(concat(row.field, ": ", row.to));
    const fs::path model = golden("bert");
    replace_in(model / "config.json", concat("\"", row.field, "\": ", row.from), concat("\"", row.field, "\": ", row.to));
    expect_refused(model, {row.said ? row.said : row.field});
  }
  const fs::path model = golden("bert");
  replace_in(model / "config.json", "\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": 1e-12");
  EXPECT_EQ(import_model(model).model->config().norm_eps, 1e-12);
}

TEST_F(Refused, PositionsThatNoMemoryHolds) {
  const fs::path model = golden("llama");
  replace_in(model / "config.json", "\"max_position_embeddings\": 12", "\"max_position_embeddings\": 2147483647");
  expect_refused(model, {"2147483647 positions", "max_position_embeddings"});
}

TEST_F(Refused, ShapesThatDisagreeWithTheConfigShowingBoth) {
  fs::path model = golden("gpt2");  // as a Linear would have it
  test::change_weights(model, [](Stored& all) {
    test::StoredTensor& qkv = all.at("transformer.h.0.attn.c_attn.weight");
    qkv.shape = Shape{qkv.shape[1], qkv.shape[0]};
  });
  expect_refused(model, {"transformer.h.0.attn.c_attn.weight is [48, 16] in the file, [16, 48] by the config (transposed)"});

  model = golden("gpt2");  // a padded vocabulary
  replace_in(model / "config.json", "\"vocab_size\": 31", "\"vocab_size\": 32");
  expect_refused(model, {"transformer.wte.weight is [31, 16] in the file, [32, 16] by the config"});

  model = golden("llama-tied-biased");
  replace_in(model / "config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  expect_refused(model, {"missing: lm_head.weight [31, 16]", "tie_word_embeddings"});

  model = golden("gpt2-untied");
  replace_in(model / "config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  expect_refused(model, {"lm_head.weight is to repeat transformer.wte.weight by the config (tied)", "differs"});
}

/// The head's matrix stands beside the table of tokens, changed by `change`.
void add_head(const fs::path& model, const char* head, const char* table, const std::function<void(Stored&)>& change) {
  test::change_weights(model, [&](Stored& all) {
    all[head] = all.at(table);
    change(all);
  });
}
void flip_first_byte(test::StoredTensor& tensor) { tensor.bytes.front() ^= std::byte{1}; }

// Whatever the family calls its tensors, messages do not say what they are called here.
TEST_F(Refused, ATiedHeadThatDiffersOrIsMissingByTheNamesOfItsFile) {
  struct Row {
    const char *golden, *head, *table;
  };
  for (const Row& row : {Row{"gpt2", "lm_head.weight", "transformer.wte.weight"},
                         {"llama-tied-biased", "lm_head.weight", "model.embed_tokens.weight"},
                         {"opt", "lm_head.weight", "model.decoder.embed_tokens.weight"},
                         {"bert-masked", "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"},
                         {"distilbert-masked", "vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"}}) {
    SCOPED_TRACE(row.golden);
    fs::path model = golden(row.golden);
    add_head(model, row.head, row.table, [](Stored&) {});
    EXPECT_NO_THROW(import_model(model));
    add_head(model, row.head, row.table, [&](Stored& all) { flip_first_byte(all.at(row.head)); });
    expect_refused(model, {concat("tensor ", row.head, " is to repeat ", row.table), "tie_word_embeddings must be false"});
    add_head(model, row.head, row.table, [&](Stored& all) { all.erase(row.table); });
    expect_refused(model, {concat("missing: ", row.table), concat(row.head, " is there"), concat("store it as ", row.table)});
  }
}

TEST_F(Refused, ABiasThatIsThereTwiceAndDiffers) {
  const fs::path model = golden("bert-masked");
  add_head(model, "cls.predictions.decoder.bias", "cls.predictions.bias",
           [](Stored& all) { flip_first_byte(all.at("cls.predictions.decoder.bias")); });
  expect_refused(model, {"cls.predictions.decoder.bias is to repeat cls.predictions.bias, but differs", "remove the one"});
}

TEST_F(Refused, ATableThatIsMissingInAFileWithoutPrefixAndNothingElse) {
  const fs::path model = golden("gpt2");
  test::change_weights(model, [](Stored& all) {
    Stored plain;
    for (auto& [name, tensor] : all) plain[name.substr(std::string("transformer.").size())] = std::move(tensor);
    plain.erase("wte.weight");
    all = std::move(plain);
  });
  expect_refused(model, {"1 tensor of the model is missing: wte.weight [31, 16]"});
}

TEST_F(Refused, TensorsThatAreMissingOrLeftOverShowingBothLists) {
  fs::path model = golden("bert");
  replace_in(model / "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  expect_refused(model, {"16 tensors of the file are left over", "encoder.layer.1.", "and 10 more"});
  replace_in(model / "config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 3");
  expect_refused(model, {"16 tensors of the model are missing", "encoder.layer.2."});

  model = golden("gpt2");
  test::change_weights(model, [](Stored& all) {
    all["transformer.h.0.adapter.weight"] = all.at("transformer.h.0.ln_1.weight");
    all.erase("transformer.h.1.ln_2.bias");
  });
  expect_refused(model, {"1 tensor of the model is missing: transformer.h.1.ln_2.bias [16]",
                         "1 tensor of the file is left over: transformer.h.0.adapter.weight [16]"});
}

TEST_F(Refused, AFinalNormThatTheConfigDoesNotHaveOrMisses) {
  fs::path model = golden("opt");
  replace_in(model / "config.json", "\"do_layer_norm_before\": true", "\"do_layer_norm_before\": false");
  expect_refused(model, {"left over: model.decoder.final_layer_norm", "the config says post-ln", "is the config right?"});
  model = golden("opt-post");
  replace_in(model / "config.json", "\"do_layer_norm_before\": false", "\"do_layer_norm_before\": true");
  expect_refused(model, {"missing: model.decoder.final_layer_norm", "the norms of post-ln"});
}

TEST_F(Refused, WhatTheModelWouldComputeOtherwise) {
  const auto change = [&](const char* name, const char* from, const char* to, const std::vector<std::string>& parts) {
    const fs::path model = golden(name);
    replace_in(model / "config.json", from, to);
    expect_refused(model, parts);
  };
  change("llama", "\"rope_type\": \"default\"", "\"rope_type\": \"linear\", \"factor\": 2.0", {"config.json", "stretched"});
  change("gpt2", "\"scale_attn_weights\": true", "\"scale_attn_weights\": false", {"not divided by"});
  change("gpt2", "\"scale_attn_by_inverse_layer_idx\": false", "\"scale_attn_by_inverse_layer_idx\": true", {"layer l"});
  change("gpt2", "\"activation_function\": \"gelu_new\"", "\"activation_function\": \"quick_gelu\"", {"quick_gelu"});
  change("gpt2", "\"add_cross_attention\": false", "\"add_cross_attention\": true", {"add_cross_attention"});
  change("bert", "\"BertModel\"", "\"BertForTokenClassification\"", {"BertForTokenClassification"});
  change("bert", "\"model_type\": \"bert\"", "\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\"",
         {"relative_key"});
  change("roberta-masked", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"", {"RobertaLMHead"});
  change("llama", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", {"gates go through gelu"});
}

// Whatever stands in one field: the model is imported, or the file is refused. Nothing is blamed on the caller.
TEST_F(Refused, NothingButDataErrorsWhateverAFieldHolds) {
  const std::vector<Json> values{nullptr, false,         true,          0, 1, 3, 7, -1, 2147483647, 0.5, 1e300, "x",
                                 "relu",  Json::array(), Json::object()};
  for (const auto& entry : fs::directory_iterator(test::import_golden(""))) {
    const fs::path model = golden(entry.path().filename().string()), config = model / "config.json";
    const Json whole = parsed(test::text_of(config), config.string());
    for (const JsonField& field : whole.items())
      for (const Json& value : values) {
        Json changed = whole;
        changed[field.key] = value;
        folder.write(fs::relative(config, folder.path), changed.dump());
        try {
          import_model(model);
        } catch (const DataError& error) {
          EXPECT_TRUE(std::string_view(error.what()).starts_with(model.string())) << error.what();
        } catch (const std::exception& error) {
          ADD_FAILURE() << entry.path() << ": " << field.key << " " << value.dump() << ": " << error.what();
        }
      }
  }
}

}  // namespace
}  // namespace addnorm
