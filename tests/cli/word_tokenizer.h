// A tokenizer.json for the goldens of BERT, whose vocabulary is 31.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace addnorm::test {

/// WordPiece over the words w4 ... w30, with [CLS] and [SEP] around a text.
inline std::string word_tokenizer() {
  nlohmann::json vocab = {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}};
  for (int id = 4; id < 31; ++id) vocab["w" + std::to_string(id)] = id;
  const auto special = [](int id, const char* text) {
    return nlohmann::json{{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const auto one = [](const char* id) {
    return nlohmann::json{{"ids", {id == std::string("[CLS]") ? 2 : 3}}, {"id", id}, {"tokens", {id}}};
  };
  const nlohmann::json json = {
      {"version", "1.0"},
      {"added_tokens", {special(0, "[PAD]"), special(1, "[UNK]"), special(2, "[CLS]"), special(3, "[SEP]")}},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "[CLS]"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
          {{"SpecialToken", {{"id", "[SEP]"}, {"type_id", 0}}}}}},
        {"pair", nlohmann::json::array()},
        {"special_tokens", {{"[CLS]", one("[CLS]")}, {"[SEP]", one("[SEP]")}}}}},
      {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", "[UNK]"},
        {"continuing_subword_prefix", "##"},
        {"max_input_chars_per_word", 100},
        {"vocab", vocab}}}};
  return json.dump();
}

}  // namespace addnorm::test
