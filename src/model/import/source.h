// Where weights are read from: one file or several, whatever their format, as named tensors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/core/shape.h"
#include "addnorm/model/config.h"
#include "addnorm/tensor/safetensors.h"
#include "core/file.h"

namespace addnorm::importing {

/// A tensor as its file has it.
struct SourceTensor {
  std::string name;
  std::string dtype;  ///< "F32", "F16", ...
  Shape shape;
  std::size_t file = 0;  ///< of WeightSource::files()
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// In the order of the files and of their data.
  const std::vector<SourceTensor>& tensors() const { return tensors_; }
  const SourceTensor* find(std::string_view name) const;
  const std::vector<std::filesystem::path>& files() const { return files_; }
  std::string where(const SourceTensor& tensor) const { return files_[tensor.file].string(); }
  /// "model.safetensors", "2 shards of model.safetensors.index.json".
  const std::string& summary() const { return summary_; }

  /// Elements from `first` on as float32; of F32, F16 and BF16.
  virtual void read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const = 0;
  virtual std::vector<std::byte> bytes(const SourceTensor& tensor) const = 0;
  /// What a file has beside its tensors, for an export in the same format: metadata (safetensors), bytes before them (llama2.c).
  virtual std::vector<std::pair<std::string, std::string>> metadata(std::size_t) const { return {}; }
  virtual std::vector<std::byte> header() const { return {}; }

 protected:
  void add(SourceTensor tensor);

  std::vector<std::filesystem::path> files_;
  std::string summary_;

 private:
  std::vector<SourceTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

class SafetensorsSource final : public WeightSource {
 public:
  /// All tensors of these files; a name in two of them is a DataError.
  SafetensorsSource(std::vector<std::filesystem::path> files, std::string summary);
  void read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const override;
  std::vector<std::byte> bytes(const SourceTensor& tensor) const override;
  std::vector<std::pair<std::string, std::string>> metadata(std::size_t file) const override { return readers_[file].metadata(); }

 private:
  std::vector<SafetensorsReader> readers_;
};

/// The weights of a folder: model.safetensors, or the shards that its index names. Anything else is a DataError that says
/// what is there: a pickle with how to convert it, or nothing at all.
std::unique_ptr<SafetensorsSource> source_of_folder(const std::filesystem::path& folder);
/// A DataError with how to convert it, or to fetch it where it is only a pointer of Git LFS.
[[noreturn]] void refuse_pickle(const std::filesystem::path& file);
/// The files that model.safetensors.index.json names, checked: plain names, regular files of that folder, every tensor in the
/// file that the index says, and none besides.
std::unique_ptr<SafetensorsSource> source_of_shards(const std::filesystem::path& index);

/// llama2.c's .bin, version 0: seven sizes, then all tensors as float32. The names are those of its model.py.
class Llama2cSource final : public WeightSource {
 public:
  /// A DataError when the sizes make no sense, or the file is not as long as they say.
  explicit Llama2cSource(const std::filesystem::path& path);
  void read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const override;
  std::vector<std::byte> bytes(const SourceTensor& tensor) const override;
  const ModelConfig& config() const { return config_; }
  std::vector<std::byte> header() const override;

 private:
  void read_header();
  void list_tensors();
  std::size_t offset(const SourceTensor& tensor) const;

  InputFile file_;
  ModelConfig config_;
  bool tied_ = true;
  std::size_t kv_width_ = 0;
  std::vector<std::size_t> offsets_;  // of tensors(), in bytes
};

/// Whether a .bin begins as PyTorch's files do.
bool is_pickle(const std::filesystem::path& path);
/// Whether the file begins like one, of any version: seven sizes that fit each other.
bool is_llama2c(const std::filesystem::path& path);

}  // namespace addnorm::importing
