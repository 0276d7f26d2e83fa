// Decoders: the text of a token, as the JSON of each kind asks for it.
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/json.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {
namespace {

constexpr const char* kDecoders = "supported are ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece";

void add_word_piece(const std::string& prefix, bool cleanup, std::vector<DecoderStep>& to) {
  to.emplace_back([prefix, cleanup](std::string& token) {
    if (!prefix.empty() && token.starts_with(prefix))
      token.erase(0, prefix.size());
    else
      token.insert(0, " ");
    const bool cleans = token.find_first_of(".?!,'") != std::string::npos || token.find("do not") != std::string::npos;
    if (!cleanup || !cleans) return;  // of most tokens nothing is left to look for
    for (const char* mark : {".", "?", "!", ","}) replace_all(token, std::string(" ") += mark, mark);
    replace_all(token, " ' ", "'");
    for (const char* ending : {"n't", "'m"}) replace_all(token, std::string(" ") += ending, ending);
    replace_all(token, " do not", " don't");
    for (const char* ending : {"'s", "'ve", "'re"}) replace_all(token, std::string(" ") += ending, ending);
  });
}

void byte_of_fallback(std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return;
  int value = 0;
  for (const char c : {token[3], token[4]}) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return;
    value = value * 16 + digit;
  }
  token = std::string(1, static_cast<char>(value));
}

/// fused: a Fuse stood before.
void add_decoder(const JsonPlace& at, TokenizerSteps& steps, bool& fused) {
  const std::string type = at["type"].text();
  auto& to = steps.decoders;
  if (type == "Sequence") {
    at.allow_only({"type", "decoders"});
    for (std::size_t i = 0; i < at["decoders"].items(); ++i) add_decoder(at["decoders"].item(i), steps, fused);
  } else if (type == "ByteLevel") {
    to.emplace_back([](std::string& token) { token = bytes_of_characters(token); });
  } else if (type == "WordPiece") {
    at.allow_only({"type", "prefix", "cleanup"});
    add_word_piece(at.text_or("prefix", "##"), at.truth_or("cleanup", true), to);
    steps.adds_space = true;
  } else if (type == "Metaspace") {
    at.allow_only({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
    const std::string from = at.text_or("replacement", "\xE2\x96\x81");
    to.emplace_back([from](std::string& token) { replace_all(token, from, " "); });
    steps.adds_space = at.text_or("prepend_scheme", at.truth_or("add_prefix_space", true) ? "always" : "never") != "never";
  } else if (type == "ByteFallback") {
    at.allow_only({"type"});
    to.emplace_back(byte_of_fallback);
  } else if (type == "Fuse") {
    at.allow_only({"type"});
    fused = true;
  } else if (type == "Strip") {  // of a whole text the first space: we keep it, see Tokenizer::decode
    at.allow_only({"type", "content", "start", "stop"});
    if (!fused || at["content"].text() != " " || at["start"].number(1) > 1 || at["stop"].number(0) > 0)
      at.wrong("supported is, after Fuse, content \" \", start 1, stop 0");
    steps.adds_space = at["start"].number(1) > 0;
  } else if (type == "Replace") {
    at.allow_only({"type", "pattern", "content"});
    if (fused) at.fail("stands after Fuse; supported is Replace of single tokens");
    to.push_back(replacement_of(at));
  } else {
    at["type"].wrong(kDecoders);
  }
}

}  // namespace

void add_decoder(const JsonPlace& at, TokenizerSteps& steps) {
  bool fused = false;
  add_decoder(at, steps, fused);
}

}  // namespace addnorm
