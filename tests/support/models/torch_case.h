// A layer or stack of PyTorch's: inputs, parameters, output and all gradients, from the shared data or from tests/golden.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/tensor/safetensors.h"

namespace addnorm::test {

/// Shared data: a file per case, settings in its metadata. Goldens: CASE/NAME in one file, settings as numbers beside it.
class TorchCase {
 public:
  TorchCase(std::shared_ptr<const SafetensorsReader> file, std::string name, std::string prefix)
      : file_(std::move(file)), name_(std::move(name)), prefix_(std::move(prefix)) {}

  const std::string& name() const { return name_; }
  bool contains(const std::string& tensor) const { return file_->contains(prefix_ + tensor); }
  Tensor read(const std::string& tensor) const { return file_->read(prefix_ + tensor); }  ///< results are float64
  Tensor input(const std::string& tensor) const { return read(tensor).to(DType::f32); }   ///< float32 numbers in both
  Shape shape(const std::string& tensor) const { return file_->info(prefix_ + tensor).shape; }

  std::size_t heads() const { return number("nhead"); }
  std::size_t layers() const { return has("layers") ? number("layers") : 1; }
  bool norm_first() const { return flag("norm_first"); }
  bool causal() const { return flag("causal"); }
  bool gelu() const { return prefix_.empty() ? file_->metadata("activation") == "gelu" : flag("gelu"); }
  /// Real keys of every sequence: those before its padding. Empty: there is none.
  std::vector<std::size_t> key_lengths() const {
    std::vector<std::size_t> lengths;
    if (!contains("in.key_padding_mask")) return lengths;
    const std::vector<std::uint8_t> hidden = file_->read_bool(prefix_ + "in.key_padding_mask");
    const std::size_t batch = shape("in.key_padding_mask")[0], keys = hidden.size() / batch;
    for (std::size_t b = 0; b < batch; ++b) {
      const auto first = hidden.begin() + static_cast<std::ptrdiff_t>(b * keys);
      lengths.push_back(static_cast<std::size_t>(std::find(first, first + static_cast<std::ptrdiff_t>(keys), 1) - first));
    }
    return lengths;
  }
  /// Elements of all parameters.
  std::size_t parameters() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < file_->size(); ++i)
      if (file_->name(i).starts_with(prefix_ + "param.")) sum += file_->info(file_->name(i)).shape.elements();
    return sum;
  }

 private:
  bool has(const std::string& setting) const {
    return prefix_.empty() ? file_->metadata(setting).has_value() : contains(setting);
  }
  std::size_t number(const std::string& setting) const {
    return prefix_.empty() ? std::stoul(file_->metadata(setting).value()) : static_cast<std::size_t>(read(setting).item());
  }
  bool flag(const std::string& setting) const {
    return prefix_.empty() ? file_->metadata(setting) == "True" : read(setting).item() != 0;
  }

  std::shared_ptr<const SafetensorsReader> file_;
  std::string name_;
  std::string prefix_;  // "CASE/", or empty
};

/// Every file in `folder` whose name begins so, sorted.
inline std::vector<TorchCase> torch_files(const std::filesystem::path& folder, const std::string& beginning) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(beginning)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<TorchCase> cases;
  for (const auto& path : paths) cases.emplace_back(std::make_shared<SafetensorsReader>(path), path.stem().string(), "");
  return cases;
}

/// Every case of one file that begins so, sorted.
inline std::vector<TorchCase> torch_cases(const std::filesystem::path& path, const std::string& beginning) {
  const auto file = std::make_shared<const SafetensorsReader>(path);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < file->size(); ++i)
    if (file->name(i).starts_with(beginning)) names.emplace_back(file->name(i).substr(0, file->name(i).find('/')));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<TorchCase> cases;
  for (const std::string& name : names) cases.emplace_back(file, name, name + "/");
  return cases;
}

}  // namespace addnorm::test
