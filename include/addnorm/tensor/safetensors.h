// safetensors files: a JSON header, then the data of named tensors. docs/file-formats.md says what is read, refused and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// What the header says about one tensor.
struct SafetensorsInfo {
  std::string_view dtype;  ///< as in the file: "F32", "BF16", "I64", ...
  Shape shape;
  std::uint64_t bytes = 0;
};

/// Values that training cannot use, or that are slow to compute with.
struct ValueCounts {
  std::size_t nan = 0;
  std::size_t infinite = 0;
  std::size_t subnormal = 0;  ///< in the type that read() gives
  bool all_finite() const { return nan == 0 && infinite == 0; }
};

/// A file opened for reading. Opening checks everything but the values: the whole header, and that every byte it describes is
/// in the file. Tensors are read when asked for, so the file may be larger than memory. Problems of the file are DataError,
/// a name that is not in it is a UsageError; both name the file and the tensor. Reading from several threads is fine.
/// Using a reader or writer that was moved from is a UsageError until it is given another.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& path);
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  ~SafetensorsReader();

  std::size_t size() const;                    ///< number of tensors
  std::string_view name(std::size_t i) const;  ///< of tensor i in the order of the data; valid as long as the reader
  bool contains(std::string_view name) const;
  SafetensorsInfo info(std::string_view name) const;

  std::optional<std::string> metadata(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> metadata() const;  ///< all of it, sorted by key

  /// F32, F16 and BF16 as float32 (exact, NaN payloads and subnormals included), F64 as float64.
  Tensor read(std::string_view name) const;
  /// Elements from `first` on, as read() gives them, into memory that is there already; F32, F16 and BF16.
  void read_into(std::string_view name, std::size_t first, std::span<float> into) const;
  std::vector<std::byte> read_bytes(std::string_view name) const;  ///< of any type, as they stand in the file
  /// I64, and the narrower integers I32, I16, I8, U32, U16, U8 widened; not U64, which may not fit.
  std::vector<std::int64_t> read_i64(std::string_view name) const;
  std::vector<std::uint8_t> read_bool(std::string_view name) const;  ///< 0 or 1 each

  /// Counts over a tensor that read() can read, without holding it in memory.
  ValueCounts count_values(std::string_view name) const;

  bool has_checksums() const;  ///< written by a SafetensorsWriter with add_checksums()
  /// Reads the whole file, block by block, and compares header and every tensor with their checksums. A DataError names the first
  /// tensor that differs, or says that there are no checksums.
  void verify() const;

 private:
  struct Impl;
  const Impl& impl() const;  // UsageError when moved from
  std::unique_ptr<Impl> impl_;
};

/// Collects tensors and writes them as one file. Tensors are shared until save(), not copied.
///
/// Wider element types are written first, within one type the order is that of the calls: every tensor is aligned to its
/// element size in the file. The same calls give the same bytes. Mistakes of the caller are UsageError: a name given
/// twice, "__metadata__", control characters or bad UTF-8 in a name, a header above 100 MB.
class SafetensorsWriter {
 public:
  SafetensorsWriter();
  SafetensorsWriter(SafetensorsWriter&&) noexcept;
  SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
  ~SafetensorsWriter();

  void add(const std::string& name, const Tensor& tensor);  ///< as F32 or F64
  void add_i64(const std::string& name, const Shape& shape, std::span<const std::int64_t> values);
  void add_bool(const std::string& name, const Shape& shape, std::span<const std::uint8_t> values);  ///< 0 or 1 each
  /// Of any type of the format, by its name there: "F16", "U8", ...; as many bytes as the shape has.
  void add_bytes(const std::string& name, std::string_view dtype, const Shape& shape, std::vector<std::byte> bytes);
  void set_metadata(std::string key, std::string value);
  /// From now on save() adds a 64-bit checksum for each tensor and one for the header to the metadata, and reads the file back
  /// before it takes the place of another: what is in place was good once, and verify() checks whether it still is.
  void add_checksums();

  /// Writes beside `path` and renames when all is on the disk: the old file or the new one, never half of one. DataError when
  /// the system refuses; then the old file is unchanged.
  void save(const std::filesystem::path& path) const;

 private:
  struct Impl;
  Impl& impl() const;  // UsageError when moved from
  std::unique_ptr<Impl> impl_;
};

}  // namespace addnorm
