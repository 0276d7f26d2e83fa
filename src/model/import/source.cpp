#include "model/import/source.h"

namespace addnorm::importing {

const SourceTensor* WeightSource::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

void WeightSource::add(SourceTensor tensor) {
  if (const SourceTensor* other = find(tensor.name))
    throw DataError(concat(files_[tensor.file].string(), ": tensor ", tensor.name, " is in ", files_[other->file].string(),
                           " too; a tensor belongs in one file"));
  by_name_.emplace(tensor.name, tensors_.size());
  tensors_.push_back(std::move(tensor));
}

SafetensorsSource::SafetensorsSource(std::vector<std::filesystem::path> files, std::string summary) {
  files_ = std::move(files);
  summary_ = std::move(summary);
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const SafetensorsReader& reader = readers_.emplace_back(files_[file]);
    for (std::size_t i = 0; i < reader.size(); ++i) {
      const SafetensorsInfo info = reader.info(reader.name(i));
      add({.name = std::string(reader.name(i)), .dtype = std::string(info.dtype), .shape = info.shape, .file = file});
    }
  }
}

void SafetensorsSource::read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const {
  readers_[tensor.file].read_into(tensor.name, first, into);
}

std::vector<std::byte> SafetensorsSource::bytes(const SourceTensor& tensor) const {
  return readers_[tensor.file].read_bytes(tensor.name);
}

}  // namespace addnorm::importing
