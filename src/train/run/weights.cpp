#include "addnorm/train/weights.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/machine.h"
#include "addnorm/tensor/safetensors.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/printable.h"
#include "train/model_size.h"

namespace addnorm {
namespace {

/// Paths, and where the values are.
using Places = std::vector<std::pair<std::string, Tensor*>>;

Places tensors_of(Model& model) {
  Places all;
  for_each_parameter(model, [&](Parameter& p) { all.emplace_back(p.path, &p.value.value()); });
  for_each_buffer(model, [&](const std::string& path, Tensor& value) { all.emplace_back(path, &value); });
  return all;
}

void check_names(const SafetensorsReader& reader, const Places& wanted, const std::string& where) {
  std::set<std::string_view> known;
  FirstFew missing, extra;
  for (const auto& [path, tensor] : wanted) {
    known.insert(path);
    if (!reader.contains(path)) missing.add(path);
  }
  for (std::size_t i = 0; i < reader.size(); ++i)
    if (!known.contains(reader.name(i))) extra.add(std::string(reader.name(i)));
  if (!missing.empty())
    throw DataError(concat(where, "lacks ", missing.count(), " tensors of the model: ", missing.text(),
                           extra.empty() ? "" : concat("; has instead: ", extra.text())));
  if (!extra.empty())
    throw DataError(concat(where, "has ", extra.count(), " tensors that the model has no place for: ", extra.text(),
                           "; do config.json and model.safetensors belong together?"));
}

void check_tensor(const SafetensorsReader& reader, const std::string& path, const Shape& shape, const std::string& where) {
  const SafetensorsInfo info = reader.info(path);
  if (info.shape != shape)
    throw DataError(concat(where, "tensor ", path, " is ", info.shape, ", the model has ", shape,
                           "; do config.json and model.safetensors belong together?"));
  if (info.dtype != "F32" && info.dtype != "F16" && info.dtype != "BF16")
    throw DataError(concat(where, "tensor ", path, " is ", info.dtype, "; weights are F32, F16 or BF16"));
}

void check_finite(const SafetensorsReader& reader, const Places& wanted, const std::string& where) {
  FirstFew bad;
  for (const auto& [path, tensor] : wanted) {
    const ValueCounts counts = reader.count_values(path);
    if (!counts.all_finite()) bad.add(concat(path, " (", counts.nan, " NaN, ", counts.infinite, " infinite)"));
  }
  if (!bad.empty())
    throw DataError(concat(where, bad.count(), " tensors hold values that nothing can be computed with: ", bad.text(),
                           "; take weights that were saved earlier (LoadOptions::allow_nonfinite loads these all the same)"));
}

}  // namespace

void save_model(const std::filesystem::path& folder, Model& model, std::string_view extra) {
  require(!is_packed(model), "save_model: the weights were packed by pack_weights() and are no parameters any more; save first");
  const std::string config = to_config_file(model.config(), extra);
  SafetensorsWriter writer;
  writer.set_metadata("format", "pt");
  for (const auto& [path, tensor] : tensors_of(model)) {
    require(tensor->dtype() == DType::f32, "save_model: ", path, " is ", tensor->dtype(), "; weights are saved as float32");
    writer.add(path, *tensor);
  }
  writer.add_checksums();
  make_folder(folder);
  replace_text(folder / "config.json", config);
  writer.save(folder / "model.safetensors");
}

void load_weights(const std::filesystem::path& file, Model& model, const LoadOptions& options) {
  const SafetensorsReader reader(file);
  const std::string where = file.native() + ": ";
  const auto wanted = tensors_of(model);
  check_names(reader, wanted, where);
  for (const auto& [path, tensor] : wanted) check_tensor(reader, path, tensor->shape(), where);
  if (reader.has_checksums()) reader.verify();
  if (!options.allow_nonfinite) check_finite(reader, wanted, where);
  std::vector<Tensor> values;
  for (const auto& [path, tensor] : wanted) values.push_back(reader.read(path));
  for (std::size_t i = 0; i < wanted.size(); ++i) *wanted[i].second = std::move(values[i]);
}

namespace {

ModelConfig checked_config(const std::filesystem::path& file) {
  try {
    return completed(read_model_config(file));
  } catch (const UsageError& error) {
    throw DataError(concat(file.native(), ": ", error.what()));
  }
}

// A model has at least its matrices: a config that speaks of far more than the file holds is refused before memory is taken. What
// is not far off is reported with the names and shapes that differ.
void check_size(const ModelConfig& config, const std::filesystem::path& config_file, const std::filesystem::path& weights) {
  const SafetensorsReader reader(weights);
  const ModelSize size = size_of(config);
  double elements = 0;
  for (std::size_t i = 0; i < reader.size(); ++i) elements += static_cast<double>(reader.info(reader.name(i)).shape.elements());
  if (size.matrices() > 4 * elements + 1e6)
    throw DataError(concat(config_file.native(), ": describes a model of at least ", size.matrices(), " parameters, ",
                           weights.native(), " holds ", elements, "; do they belong together?"));
  const MemoryLimit memory = available_memory();
  if (size.fixed * sizeof(float) > static_cast<double>(memory.bytes))
    throw DataError(concat(config_file.native(), ": its table of positions needs ", Bytes{size.fixed * sizeof(float)},
                           ", there is ", Bytes{static_cast<double>(memory.bytes)}, " (", memory.limited_by, "); seq_len is ",
                           config.seq_len));
}

}  // namespace

std::unique_ptr<Model> load_model(const std::filesystem::path& folder, const LoadOptions& options) {
  const std::filesystem::path weights = folder / "model.safetensors", config_file = folder / "config.json";
  const ModelConfig config = checked_config(config_file);
  check_size(config, config_file, weights);
  std::unique_ptr<Model> model = make_model(config, Start::blank);
  load_weights(weights, *model, options);
  return model;
}

}  // namespace addnorm
