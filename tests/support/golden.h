// Goldens: references made by PyTorch in float64, in tests/golden (its README says how).
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/autograd/tape.h"
#include "addnorm/autograd/var.h"
#include "addnorm/tensor/safetensors.h"
#include "support/near.h"

namespace addnorm::test {

/// One case of a file: golden["x"] is tensor CASE/x.
class Golden {
 public:
  Golden(std::shared_ptr<const SafetensorsReader> file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  bool contains(const std::string& tensor) const { return file_->contains(name_ + "/" + tensor); }
  Tensor operator[](const std::string& tensor) const { return file_->read(name_ + "/" + tensor); }
  std::vector<std::int64_t> integers(const std::string& tensor) const { return file_->read_i64(name_ + "/" + tensor); }
  double setting(const std::string& tensor) const { return (*this)[tensor].item(); }

  /// An input that wants a gradient.
  Var leaf(const std::string& tensor) const { return Var((*this)[tensor], true); }

 private:
  std::shared_ptr<const SafetensorsReader> file_;
  std::string name_;
};

/// All cases of tests/golden/FILE.safetensors, sorted by name.
inline std::vector<Golden> goldens(const std::string& file) {
  const auto path = std::filesystem::path(ADDNORM_SOURCE_DIR) / "tests" / "golden" / (file + ".safetensors");
  const auto reader = std::make_shared<const SafetensorsReader>(path);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reader->size(); ++i) names.emplace_back(reader->name(i).substr(0, reader->name(i).find('/')));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<Golden> cases;
  for (const std::string& name : names) cases.emplace_back(reader, name);
  return cases;
}

}  // namespace addnorm::test
