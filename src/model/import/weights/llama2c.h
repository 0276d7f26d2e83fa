// llama2.c's .bin, version 0: seven sizes, then all tensors as float32. The names are those of its model.py.
#pragma once

#include "addnorm/model/config.h"
#include "core/file.h"
#include "model/import/source.h"

namespace addnorm::importing {

class Llama2cSource final : public WeightSource {
 public:
  /// A DataError when the sizes make no sense, or the file is not as long as they say.
  explicit Llama2cSource(const std::filesystem::path& path);
  void read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const override;
  std::vector<std::byte> bytes(const SourceTensor& tensor) const override;
  const ModelConfig& config() const { return config_; }
  std::vector<std::byte> header() const;

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
