// Bytes and characters. Both write themselves as BPE without merges, which gives the same ids in other programs: bytes as a
// byte-level vocabulary whose ids are the bytes, characters as a vocabulary of single characters. What is added is in the
// vocabulary too, but not among the added tokens: those are looked for in texts.
#include "data/tokenizer/builtin.h"

#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "core/utf8.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/pieces.h"

namespace addnorm {
namespace {

constexpr const char* kBegin = "<s>";
constexpr const char* kEnd = "</s>";
constexpr const char* kMask = "<mask>";
constexpr const char* kBytes = R"({"add_prefix_space":false,"trim_offsets":false,"type":"ByteLevel","use_regex":false})";

std::vector<std::string> names_of(AddedTokens added) {
  std::vector<std::string> names;
  if (added.begin_end) names = {kBegin, kEnd};
  if (added.mask) names.emplace_back(kMask);
  return names;
}

class BuiltinTokenizer : public Tokenizer {
 public:
  BuiltinTokenizer(std::size_t ordinary, AddedTokens added) : ordinary_(ordinary), added_(added) {}

  std::size_t vocabulary() const override { return ordinary_ + names_of(added_).size(); }
  SpecialTokens special() const override {
    SpecialTokens special;
    auto next = static_cast<std::int32_t>(ordinary_);
    if (added_.begin_end) special.begin = next++;
    if (added_.begin_end) special.end = next++;
    if (added_.mask) special.mask = next++;
    return special;
  }
  std::string decode(std::span<const std::int32_t> ids) const override { return pieces_.decoded(ids); }
  std::string to_json() const override { return json_of(spec()); }
  virtual TokenizerSpec spec() const = 0;

 protected:
  void set_pieces(std::vector<std::string> pieces) {
    pieces.resize(vocabulary());
    pieces_ = TokenPieces(pieces);
  }
  void list_added(TokenizerSpec& spec) const {
    auto next = static_cast<std::int32_t>(ordinary_);
    for (const std::string& name : names_of(added_)) spec.vocabulary.add(name, next++);
  }

  std::size_t ordinary_;
  AddedTokens added_;
  TokenPieces pieces_;
};

class ByteTokenizer final : public BuiltinTokenizer {
 public:
  explicit ByteTokenizer(AddedTokens added) : BuiltinTokenizer(256, added) {
    std::vector<std::string> pieces;
    for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
    set_pieces(std::move(pieces));
  }
  std::string_view kind() const override { return "bytes"; }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
    return ids;
  }
  TextFlaws flaws(std::string_view) const override { return {}; }
  std::size_t complete(std::string_view text) const override { return text.size(); }
  TokenizerSpec spec() const override {
    TokenizerSpec spec;
    spec.model = "BPE";
    for (int byte = 0; byte < 256; ++byte) {
      std::string character;
      append_utf8(character, byte_character(static_cast<unsigned char>(byte)));
      spec.vocabulary.add(character, byte);
    }
    list_added(spec);
    spec.pre_tokenizer = kBytes;
    spec.decoder = kBytes;
    return spec;
  }
};

class CharTokenizer final : public BuiltinTokenizer {
 public:
  /// `characters` in the order of their ids.
  CharTokenizer(std::u32string characters, AddedTokens added)
      : BuiltinTokenizer(characters.size(), added), characters_(std::move(characters)), table_(256, -1) {
    std::vector<std::string> pieces;
    for (const char32_t code : characters_) {
      std::uint16_t& page = page_of_[code >> 8];
      if (page == 0) {  // the first page stays empty: for characters that are unknown
        page = static_cast<std::uint16_t>(table_.size() / 256);
        table_.resize(table_.size() + 256, -1);
      }
      const auto id = static_cast<std::int32_t>(pieces.size());
      table_[page * std::size_t{256} + (code & 255)] = id;
      if (code < 128) ascii_[code] = id;
      append_utf8(pieces.emplace_back(), code);
    }
    set_pieces(std::move(pieces));
  }
  std::string_view kind() const override { return "chars"; }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids(text.size());
    std::size_t count = 0;
    std::int32_t bad = 0;  // stays 0 unless an id is -1
    for (std::size_t i = 0; i < text.size();) {
      const auto byte = static_cast<unsigned char>(text[i]);
      std::int32_t id;
      if (byte < 128) {
        id = ascii_[byte];
        ++i;
      } else {
        const Utf8Char character = utf8_long(text.substr(i));
        id = character.length == 0 ? -1 : id_of(character.code);
        i += std::max(1u, character.length);
      }
      bad |= id;
      ids[count++] = id;
    }
    if (bad < 0) fail_to_encode(flaws(text));
    ids.resize(count);
    return ids;
  }
  TextFlaws flaws(std::string_view text) const override {
    TextFlaws flaws;
    for (std::size_t i = 0; i < text.size();) {
      const Utf8Char character = utf8_front(text.substr(i));
      const bool known = character.length != 0 && id_of(character.code) >= 0;
      if (!known && flaws.count++ == 0) {
        flaws.first = i;
        flaws.what = character.length == 0
                         ? concat("the byte ", byte_name(static_cast<unsigned char>(text[i])), ", which is not UTF-8")
                         : concat("the character ", character_name(character.code), ", which is not among the ",
                                  characters_.size(), " of this tokenizer");
      }
      i += std::max(1u, character.length);
    }
    return flaws;
  }
  std::size_t complete(std::string_view text) const override { return utf8_complete(text); }
  TokenizerSpec spec() const override {
    TokenizerSpec spec;
    spec.model = "BPE";
    for (std::size_t id = 0; id < characters_.size(); ++id)
      spec.vocabulary.add(pieces_.of(static_cast<std::int32_t>(id)), static_cast<std::int32_t>(id));
    list_added(spec);
    spec.decoder = R"({"type":"Fuse"})";
    return spec;
  }

 private:
  std::int32_t id_of(char32_t code) const { return table_[page_of_[code >> 8] * std::size_t{256} + (code & 255)]; }

  std::u32string characters_;
  std::array<std::int32_t, 128> ascii_ = [] {
    std::array<std::int32_t, 128> none{};
    none.fill(-1);
    return none;
  }();
  std::array<std::uint16_t, 0x1100> page_of_{};
  std::vector<std::int32_t> table_;
};

// The only way back: a tokenizer of ours is what writes the same.
bool same(const TokenizerSpec& a, const TokenizerSpec& b) {
  return a.model == b.model && a.vocabulary == b.vocabulary && a.merges.empty() && a.added.empty() && a.unknown.empty() &&
         !a.byte_fallback && a.normalizer == b.normalizer && a.pre_tokenizer == b.pre_tokenizer &&
         a.post_processor == b.post_processor && a.decoder == b.decoder;
}

// Takes the names of added tokens off the end of a vocabulary.
AddedTokens taken_added(std::vector<std::string>& tokens) {
  AddedTokens added;
  if (!tokens.empty() && tokens.back() == kMask) {
    added.mask = true;
    tokens.pop_back();
  }
  if (tokens.size() >= 2 && tokens.back() == kEnd && tokens[tokens.size() - 2] == kBegin) {
    added.begin_end = true;
    tokens.resize(tokens.size() - 2);
  }
  return added;
}

std::u32string characters_of(const std::vector<std::string>& tokens) {
  std::u32string characters;
  for (const std::string& token : tokens) {
    const Utf8Char character = token.empty() ? Utf8Char{0, 0} : utf8_front(token);
    if (character.length == 0 || character.length != token.size()) return {};
    characters.push_back(character.code);
  }
  return characters;
}

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer(AddedTokens added) { return std::make_unique<ByteTokenizer>(added); }

std::unique_ptr<Tokenizer> char_tokenizer(const std::u32string& characters, AddedTokens added) {
  return std::make_unique<CharTokenizer>(characters, added);
}

std::unique_ptr<Tokenizer> builtin_from(const TokenizerSpec& spec) {
  if (spec.model != "BPE" || !spec.merges.empty()) return nullptr;
  std::vector<std::string> tokens;
  for (const auto& [token, id] : spec.vocabulary) tokens.emplace_back(token);
  const AddedTokens added = taken_added(tokens);
  const auto ours = [&](std::unique_ptr<BuiltinTokenizer> tokenizer) -> std::unique_ptr<Tokenizer> {
    return same(spec, tokenizer->spec()) ? std::move(tokenizer) : nullptr;
  };
  if (auto bytes = ours(std::make_unique<ByteTokenizer>(added))) return bytes;
  const std::u32string characters = characters_of(tokens);
  if (characters.empty()) return nullptr;
  return ours(std::make_unique<CharTokenizer>(characters, added));
}

void Alphabet::add(std::string_view text, std::uint64_t offset) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 128) {
      ascii_[byte] = true;
      ++i;
    } else {
      add_long(text, i, offset);
    }
  }
}

void Alphabet::add_long(std::string_view text, std::size_t& i, std::uint64_t offset) {
  const Utf8Char character = utf8_long(text.substr(i));
  if (character.length == 0) {
    if (flaws_.count++ == 0) {
      flaws_.first = offset + i;
      flaws_.what = concat("the byte ", byte_name(static_cast<unsigned char>(text[i])), ", which is not UTF-8");
    }
    ++i;
    return;
  }
  if (!others_[character.code]) ++other_count_;
  others_[character.code] = true;
  i += character.length;
}

std::size_t Alphabet::size() const { return other_count_ + static_cast<std::size_t>(std::count(ascii_, ascii_ + 128, true)); }

std::u32string Alphabet::characters() const {
  std::u32string found;
  const std::size_t all = size();
  for (char32_t code = 0; found.size() < all; ++code)
    if (code < 128 ? ascii_[code] : others_[code]) found.push_back(code);
  return found;
}

std::unique_ptr<Tokenizer> char_tokenizer(std::string_view text, AddedTokens added) {
  Alphabet alphabet;
  alphabet.add(text, 0);
  if (alphabet.flaws().count > 0) throw DataError(concat("char_tokenizer: ", summary(alphabet.flaws())));
  if (alphabet.size() == 0) throw DataError("char_tokenizer: the text is empty, so there are no characters");
  return char_tokenizer(alphabet.characters(), added);
}

}  // namespace addnorm
