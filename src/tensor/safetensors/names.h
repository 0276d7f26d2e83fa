// Millions of names in their order: whether one is given twice, and where one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace addnorm::safetensors {

/// Names by number; they stay with their owner, whose function gives them.
using NameOf = std::function<std::string_view(std::uint32_t)>;

/// The numbers of names, sorted by name (bytes as unsigned numbers). Beside each number lie seven bytes of its name, those after
/// what all names have in common: sorting by these stays in the cache, where the names themselves are all over the memory.
/// 12 bytes per name, also while sorting. Time: n log n steps, and what it takes to read on where names agree in these bytes.
class NameOrder {
 public:
  /// Of names 0 ... count - 1. Returns the number of one that is there twice, the least such name; then nothing else may be
  /// asked.
  std::optional<std::uint32_t> sort(std::size_t count, const NameOf& name);

  std::uint32_t operator[](std::size_t place) const { return items_[place].number; }
  std::optional<std::uint32_t> find(std::string_view wanted, const NameOf& name) const;

  struct Item {
    std::uint32_t high = 0, low = 0;  // of the key; not one number of 64 bits, which would make 16 bytes of 12
    std::uint32_t number = 0;
    std::uint64_t key() const { return std::uint64_t{high} << 32 | low; }
  };

 private:
  std::vector<Item> items_;
};

}  // namespace addnorm::safetensors
