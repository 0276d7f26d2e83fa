// The file of ids: a head of 64 bytes, the ids, and a record of 64 bytes behind them, which is written last and without which the
// file is nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "addnorm/data/text.h"
#include "core/checksum.h"

namespace addnorm {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

inline constexpr std::size_t kTokenBlock = std::size_t{1} << 20;  // of ids, in bytes: written and read at once

struct TokenHead {
  char magic[8] = {'a', 'd', 'd', 'n', 'o', 'r', 'm', 'T'};
  std::uint32_t version = 2;
  std::uint32_t id_bytes = 0;
  std::uint64_t reserved[6] = {};
};
static_assert(sizeof(TokenHead) == 64);

struct TokenRecord {
  std::uint64_t ids = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t tokenizer = 0;  // checksum of its to_json()
  std::uint64_t names = 0;      // of the files' names and sizes
  std::uint64_t source = 0;     // of the files' bytes, one behind the other
  std::uint64_t source_bytes = 0;
  std::uint64_t payload = 0;  // of the ids
  std::uint64_t self = 0;     // of the head and of the fields above
};
static_assert(sizeof(TokenRecord) == 64);

inline std::uint64_t checksum_of(const TokenHead& head, const TokenRecord& record) {
  Checksum sum;
  sum.add(&head, sizeof head);
  sum.add(&record, offsetof(TokenRecord, self));
  return sum.value();
}

inline std::uint32_t bytes_per_id(std::size_t vocabulary) { return vocabulary <= 256 ? 1 : vocabulary <= 65536 ? 2 : 4; }

/// Tokenises; `tokenizer_sum` goes into the record. False: stopped, and `cache` is as it was.
bool write_token_file(const TextSources& sources, const Tokenizer& tokenizer, std::uint64_t tokenizer_sum,
                      const std::filesystem::path& cache, const Progress& progress);

}  // namespace addnorm
