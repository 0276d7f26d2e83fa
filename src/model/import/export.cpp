// The same files again, from the model as it is now.
#include <algorithm>
#include <cstring>
#include <map>

#include "core/file.h"
#include "model/import/side_files.h"
#include "model/import/source.h"
#include "model/import/weights/layout.h"
#include "tensor/half.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using importing::MatrixLayout;
using importing::Piece;
using importing::Placed;
using importing::SourceTensor;

/// Where a tensor of theirs is taken from.
struct Origin {
  const Tensor* values;
  const Placed* placed;
  Piece piece;
};

class Exporter {
 public:
  explicit Exporter(const ImportedModel& imported) : layout_(*imported.layout), source_(*layout_.source) {
    for_each_parameter(*imported.model, [&](Parameter& p) { params_[p.path] = p.value.value(); });
    for (const auto* list : {&layout_.accounts.placed, &layout_.accounts.copies})
      for (const Placed& placed : *list)
        for (const Piece& piece : placed.pieces) origins_[piece.tensor] = {&params_.at(placed.ours), &placed, piece};
  }

  void write(const fs::path& folder) const {
    for (std::size_t file = 0; file < source_.files().size(); ++file) {
      const fs::path to = folder / source_.files()[file].filename();
      if (layout_.llama2c)
        write_llama2c(to);
      else
        write_safetensors(file, to);
    }
  }

 private:
  /// As float32 in their layout.
  std::vector<float> values_of(const Origin& origin) const {
    const Tensor& ours = *origin.values;
    const std::size_t width = ours.elements() / ours.shape()[0], rows = origin.piece.rows;
    const std::span<const float> from = ours.values<float>().subspan(origin.piece.first * width, rows * width);
    std::vector<float> out(from.begin(), from.end());
    if (origin.placed->layout == MatrixLayout::in_out)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < width; ++c) out[c * rows + r] = from[r * width + c];
    return out;
  }

  std::vector<std::byte> bytes_of(std::size_t tensor) const {
    const auto found = origins_.find(tensor);
    const SourceTensor& theirs = source_.tensors()[tensor];
    if (found == origins_.end()) return source_.bytes(theirs);
    const std::vector<float> values = values_of(found->second);
    std::vector<std::byte> out(values.size() * (theirs.dtype == "F32" ? sizeof(float) : sizeof(std::uint16_t)));
    if (theirs.dtype == "F32") {
      std::memcpy(out.data(), values.data(), out.size());
      return out;
    }
    std::vector<std::uint16_t> halves(values.size());
    std::ranges::transform(values, halves.begin(), theirs.dtype == "F16" ? to_f16 : to_bf16);
    std::memcpy(out.data(), halves.data(), out.size());
    return out;
  }

  void write_safetensors(std::size_t file, const fs::path& to) const {
    SafetensorsWriter writer;
    for (const auto& [key, value] : source_.metadata(file))
      if (!key.starts_with("addnorm.checksum")) writer.set_metadata(key, value);
    for (std::size_t i = 0; i < source_.tensors().size(); ++i) {
      const SourceTensor& tensor = source_.tensors()[i];
      if (tensor.file == file) writer.add_bytes(tensor.name, tensor.dtype, tensor.shape, bytes_of(i));
    }
    writer.save(to);
  }

  void write_llama2c(const fs::path& to) const {
    ReplacementFile file(to);
    const auto write = [&](const std::vector<std::byte>& bytes) { file.write(bytes.data(), bytes.size()); };
    write(source_.header());
    for (std::size_t i = 0; i < source_.tensors().size(); ++i) write(bytes_of(i));
    file.commit();
  }

  const ImportLayout& layout_;
  const importing::WeightSource& source_;
  std::map<std::string, Tensor> params_;
  std::map<std::size_t, Origin> origins_;  // by tensor
};

}  // namespace

void export_model(const ImportedModel& imported, const fs::path& folder) {
  require(imported.model && imported.layout, "export_model: this model was not imported; save_model writes models of ours");
  require(!is_packed(*imported.model),
          "export_model: the weights were packed by pack_weights() and are no parameters any more; export first");
  const ImportLayout& layout = *imported.layout;
  const fs::path from = layout.folder / layout.below, weights = folder / layout.below;
  importing::refuse_other_models(from, weights, layout.source->files());
  if (!layout.below.empty()) importing::refuse_other_models(layout.folder, folder, {});
  make_folder(weights);
  Exporter(imported).write(weights);
  importing::copy_side_files(from, weights);
  if (!layout.below.empty()) importing::copy_side_files(layout.folder, folder);
  for (const fs::path& module : layout.modules) importing::copy_config(layout.folder / module, folder / module);
}

}  // namespace addnorm
