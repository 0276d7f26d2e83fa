// The bytes that each id stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

class TokenPieces {
 public:
  TokenPieces() = default;
  explicit TokenPieces(const std::vector<std::string>& pieces) {
    for (const std::string& piece : pieces) add(piece);
  }
  /// The piece of the next id.
  void add(std::string_view piece) {
    bytes_ += piece;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view of(std::int32_t id) const {
    const auto i = static_cast<std::size_t>(id);
    const std::size_t first = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(first, ends_[i] - first);
  }
  std::string decoded(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const std::int32_t id : ids) {
      require(id >= 0 && static_cast<std::size_t>(id) < size(), "decode: the id ", id,
              " is not of this tokenizer; its ids are 0 to ", size() - 1);
      text += of(id);
    }
    return text;
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

/// "at byte 7 stands the byte 0xE9, which is not UTF-8; 3 such places".
std::string summary(const TextFlaws& flaws);
/// Throws what encode() throws.
[[noreturn]] void fail_to_encode(const TextFlaws& flaws);
/// "U+00E9 'é'", "U+000A".
std::string character_name(char32_t code);
/// "0xE9".
std::string byte_name(unsigned char byte);

}  // namespace addnorm
