// A vocabulary of whole words: as a tokenizer.json, BPE in which a word that is a token is taken as it is, and nothing is merged.
#include "addnorm/data/language.h"
#include "data/tokenizer/pipeline.h"

namespace addnorm {

std::unique_ptr<Tokenizer> Language::tokenizer(AddedTokens added) const {
  TokenizerSpec spec;
  spec.model = "BPE";
  spec.ignore_merges = true;
  std::int32_t id = 0;
  for (const std::string& word : words()) spec.vocabulary.add(word, id++);
  const auto add = [&](const char* name) {
    AddedToken token;
    token.id = id++;
    token.content = name;
    token.special = true;
    spec.added.push_back(std::move(token));
  };
  if (added.begin_end) add("<s>");
  if (added.begin_end) add("</s>");
  if (added.mask) add("<mask>");
  spec.pre_tokenizer = R"({"type":"Whitespace"})";
  spec.decoder = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  return pipeline_tokenizer(std::move(spec), "the built-in language");
}

}  // namespace addnorm
