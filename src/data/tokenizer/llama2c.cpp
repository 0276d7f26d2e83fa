#include "data/tokenizer/files.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "core/printable.h"
#include "core/utf8.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kUnknownId = 0, kBeginId = 1, kEndId = 2, kFirstByte = 3, kFirstPiece = kFirstByte + 256;

struct ScoredToken {
  std::string text;
  float score;
};

/// Little-endian numbers and texts, one after the other; where the file ends too early is an error that names the token.
class TokenBytes {
 public:
  explicit TokenBytes(const fs::path& path) : where_(path.string()) {
    constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
    const InputFile file(path);
    if (file.size() > kMost) throw DataError(concat(where_, ": ", file.size(), " bytes; a tokenizer has at most ", kMost));
    bytes_.resize(static_cast<std::size_t>(file.size()));
    file.read(0, bytes_.data(), bytes_.size());
    refuse_lfs_pointer(path, bytes_);
  }
  template <class T>
  T next() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text(std::size_t length) { return {take(length), length}; }
  bool at_end() const { return at_ == bytes_.size(); }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(concat(where_, ": no tokenizer of llama2.c: ", parts...));
  }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size() - at_) fail("it ends at byte ", bytes_.size(), ", where ", count, " more are needed at ", at_);
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  std::string where_, bytes_;
  std::size_t at_ = 0;
};

std::vector<ScoredToken> scored_tokens(const fs::path& path) {
  TokenBytes file(path);
  const auto longest = file.next<std::int32_t>();
  if (longest < 1 || longest > 1000000) file.fail("its longest token is to have ", longest, " bytes");
  std::vector<ScoredToken> tokens;
  while (!file.at_end()) {
    const float score = file.next<float>();
    const auto length = file.next<std::int32_t>();
    if (length < 0 || length > longest || !std::isfinite(score))
      file.fail("token ", tokens.size(), " has ", length, " bytes and the score ", score, "; the longest is to have ", longest,
                " bytes");
    tokens.push_back({file.text(static_cast<std::size_t>(length)), score});
  }
  if (tokens.size() < static_cast<std::size_t>(kFirstPiece))
    file.fail("it has ", tokens.size(), " tokens; there are at least ", kFirstPiece, ": three special ones and 256 bytes");
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!is_utf8(tokens[i].text)) file.fail("token ", i, " is not UTF-8");
  return tokens;
}

struct ScoredMerge {
  float score;
  std::int32_t merged, left, right;
};

/// Every way to make a token of two others.
std::vector<ScoredMerge> scored_merges(const std::vector<ScoredToken>& tokens, const Vocabulary& vocabulary) {
  std::vector<ScoredMerge> merges;
  for (std::size_t id = kFirstPiece; id < tokens.size(); ++id) {
    const std::string_view text = tokens[id].text;
    for (std::size_t cut = std::max(1u, utf8_front(text).length); cut < text.size();
         cut += std::max(1u, utf8_front(text.substr(cut)).length)) {
      const auto left = vocabulary.id_of(text.substr(0, cut)), right = vocabulary.id_of(text.substr(cut));
      if (left && right) merges.push_back({tokens[id].score, static_cast<std::int32_t>(id), *left, *right});
    }
  }
  std::ranges::stable_sort(merges, [](const ScoredMerge& a, const ScoredMerge& b) { return a.score > b.score; });
  return merges;
}

/// A token's spelling as JSON: of the special ones there are line ends in it.
std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out.append("\\").push_back(c);
    else
      out += c;
  }
  return out += '"';
}

}  // namespace

TokenizerSpec llama2c_spec(const fs::path& path) {
  const std::vector<ScoredToken> tokens = scored_tokens(path);
  TokenizerSpec spec;
  spec.model = "BPE";
  spec.byte_fallback = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!spec.vocabulary.add(tokens[i].text, id))
      throw DataError(concat(path.string(), ": tokens ", *spec.vocabulary.id_of(tokens[i].text), " and ", i, " are both '",
                             printable(tokens[i].text), "'"));
  }
  for (const ScoredMerge& merge : scored_merges(tokens, spec.vocabulary)) {
    spec.merges.emplace_back(merge.left, merge.right);
    spec.merged.push_back(merge.merged);
  }
  spec.unknown = tokens[kUnknownId].text;
  for (const std::int32_t id : {kUnknownId, kBeginId, kEndId})
    spec.added.push_back({.id = id, .content = tokens[static_cast<std::size_t>(id)].text, .special = true});
  const std::string begin = json_quoted(tokens[kBeginId].text);
  spec.normalizer = R"({"type":"Prepend","prepend":" "})";
  spec.post_processor = concat(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":)", begin,
                               R"(,"type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{)", begin,
                               R"(:{"id":)", begin, R"(,"ids":[)", kBeginId, R"(],"tokens":[)", begin, "]}}}");
  spec.decoder = R"({"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},)"
                 R"({"type":"Strip","content":" ","start":1,"stop":0}]})";
  return spec;
}

}  // namespace addnorm
