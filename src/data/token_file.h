// The file of ids: a head of 64 bytes, the ids, and a record of 64 bytes behind them, which is written last and without which the
// file is nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "addnorm/data/text.h"
#include "data/hash64.h"

namespace addnorm {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

inline constexpr std::size_t kTokenBlock = std::size_t{1} << 20;  // of ids, in bytes: hashed and written at once

struct TokenHead {
  char magic[8] = {'a', 'd', 'd', 'n', 'o', 'r', 'm', 'T'};
  std::uint32_t version = 1;
  std::uint32_t id_bytes = 0;
  std::uint64_t reserved[6] = {};
};
static_assert(sizeof(TokenHead) == 64);

struct TokenRecord {
  std::uint64_t ids = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t tokenizer = 0;  // hash of its to_json()
  std::uint64_t names = 0;      // hash of the files' names and sizes
  std::uint64_t source = 0;     // hash of the files' bytes
  std::uint64_t source_bytes = 0;
  std::uint64_t payload = 0;  // hash of the ids, block after block
  std::uint64_t self = 0;     // hash of the head and of the fields above
};
static_assert(sizeof(TokenRecord) == 64);

inline std::uint64_t hash_of(const TokenHead& head, const TokenRecord& record) {
  return hash64(&record, offsetof(TokenRecord, self), hash64(&head, sizeof head, 0));
}

inline std::uint32_t bytes_per_id(std::size_t vocabulary) { return vocabulary <= 256 ? 1 : vocabulary <= 65536 ? 2 : 4; }

/// Tokenises; `tokenizer_hash` goes into the record. False: stopped, and `cache` is as it was.
bool write_token_file(const TextSources& sources, const Tokenizer& tokenizer, std::uint64_t tokenizer_hash,
                      const std::filesystem::path& cache, const Progress& progress);

}  // namespace addnorm
