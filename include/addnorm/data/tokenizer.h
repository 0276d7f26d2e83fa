// Tokenizer: text to numbers and back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace addnorm {

/// Ids that stand for no text, where a tokenizer has them.
struct SpecialTokens {
  std::optional<std::int32_t> begin{};  ///< of a sequence
  std::optional<std::int32_t> end{};
  std::optional<std::int32_t> pad{};
  std::optional<std::int32_t> unknown{};
  std::optional<std::int32_t> mask{};  ///< masked language models
};

/// What a tokenizer puts around one text for a model: "[CLS]" before and "[SEP]" after it, "<s>" before it, or nothing.
struct TextFrame {
  std::vector<std::int32_t> before{};
  std::vector<std::int32_t> after{};
};

/// Places of a text that a tokenizer has no tokens for.
struct TextFlaws {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< offset in bytes, where there is one
  std::string what{};       ///< at `first`: "the byte 0xE9, which is not UTF-8"
};

/// Immutable once made; threads may share it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string_view kind() const = 0;   ///< "bytes", "chars", "bpe", "wordpiece"
  virtual std::size_t vocabulary() const = 0;  ///< ids are below it
  virtual SpecialTokens special() const = 0;
  /// encode() does not add it; models were trained with it.
  virtual TextFrame frame() const { return {}; }
  /// Whether a whole text decodes to a space more than it had, before its first word: see decode().
  virtual bool adds_space() const { return false; }

  /// Adds nothing at the beginning and the end. Text that cannot be encoded is a DataError: the first bad offset, what
  /// stands there, how many there are.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// What makes encode(text) an error.
  virtual TextFlaws flaws(std::string_view text) const = 0;
  /// The bytes that ids stand for; special tokens give none. One id may hold a part of a character: what is decoded id by id and
  /// joined equals what is decoded at once. So where words are stored without their spaces (WordPiece, Metaspace) the first word
  /// has a space before it, too. An id outside the vocabulary is a UsageError.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

  /// The length of the longest beginning of `text` that can be encoded without knowing what follows: large files are encoded
  /// piece by piece, with the same ids. 0: more text is needed.
  virtual std::size_t complete(std::string_view text) const = 0;

  /// A tokenizer.json in the form of Hugging Face, from which read_tokenizer makes the same tokenizer.
  virtual std::string to_json() const = 0;
};

/// What is added after the ordinary ids, in this order, each where asked for: "<s>", "</s>", "<mask>". No text gives these ids,
/// also not the text "<s>".
struct AddedTokens {
  bool begin_end = false;  ///< for pairs
  bool mask = false;       ///< for masked language models
};

/// Ids are the bytes: any file, 256 ids.
std::unique_ptr<Tokenizer> byte_tokenizer(AddedTokens added = {});
/// The characters (code points) of `text`, in their order in Unicode. Text that is not UTF-8 is a DataError.
std::unique_ptr<Tokenizer> char_tokenizer(std::string_view text, AddedTokens added = {});
/// From a tokenizer.json (BPE, WordPiece), a GPT-2 vocab.json with merges.txt beside it, a folder that has either, or a
/// tokenizer.bin of llama2.c (BPE by scores; any name that ends in .bin). A DataError names what a file asks for and is not
/// supported.
std::unique_ptr<Tokenizer> read_tokenizer(const std::filesystem::path& path);

}  // namespace addnorm
