// A tokenizer.json for the goldens of BERT, whose vocabulary is 31.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace addnorm::test {

struct WordTokenizer {
  bool mask = false;  ///< 30 is [MASK], and not w30
  bool begin = true;  ///< [CLS] before a text
  bool end = true;    ///< [SEP] after a text
};

/// WordPiece over the words w4 ... w30, with [CLS] and [SEP] around a text.
inline std::string word_tokenizer(const WordTokenizer& wanted = {}) {
  nlohmann::json vocab = {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}};
  for (int id = 4; id < 31; ++id) vocab[id == 30 && wanted.mask ? "[MASK]" : "w" + std::to_string(id)] = id;
  const auto special = [](int id, const char* text) {
    return nlohmann::json{{"id", id},        {"content", text},     {"single_word", false}, {"lstrip", false},
                          {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  const auto one = [](const char* id) {
    return nlohmann::json{{"ids", {id == std::string("[CLS]") ? 2 : 3}}, {"id", id}, {"tokens", {id}}};
  };
  nlohmann::json added = {special(0, "[PAD]"), special(1, "[UNK]"), special(2, "[CLS]"), special(3, "[SEP]")};
  if (wanted.mask) added.push_back(special(30, "[MASK]"));
  const auto part = [](const char* kind, const char* id) {
    return nlohmann::json{{kind, nlohmann::json{{"id", id}, {"type_id", 0}}}};
  };
  nlohmann::json single = nlohmann::json::array();
  if (wanted.begin) single.push_back(part("SpecialToken", "[CLS]"));
  single.push_back(part("Sequence", "A"));
  if (wanted.end) single.push_back(part("SpecialToken", "[SEP]"));
  const nlohmann::json json = {{"version", "1.0"},
                               {"added_tokens", added},
                               {"normalizer", nullptr},
                               {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                               {"post_processor",
                                {{"type", "TemplateProcessing"},
                                 {"single", single},
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
