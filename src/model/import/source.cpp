// Tensors by name, whatever files they are in; and the files of a folder that hold its weights: one, or shards by an index. What
// an index names is not trusted.
#include "model/import/source.h"

#include <algorithm>
#include <set>

#include "core/file.h"
#include "core/json/json.h"
#include "core/printable.h"
#include "core/system/files.h"

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

namespace {

namespace fs = std::filesystem;

constexpr const char* kOne = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

constexpr std::uint64_t kMostIndex = std::uint64_t{16} << 20;  // that of a large model has some hundred thousand bytes

/// What an index says goes into messages: on one line, whatever its names are.
template <class... Parts>
[[noreturn]] void fail(const std::string& where, const Parts&... parts) {
  throw DataError(printable(concat(where, ": ", parts...)));
}

/// One name in the folder itself: no way out of it.
void check_name(const std::string& name, const std::string& tensor, const fs::path& index) {
  constexpr std::size_t kLongest = 255;
  const bool plain = !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
                     name.find_first_of("/\\") == std::string::npos && printable(name) == name;
  if (!plain)
    fail(index.string(), "weight_map gives ", tensor, " the file ", Json(name.substr(0, 60)).dump(),
         "; it must be the plain name of a file in the same folder");
}

/// Links lead to files of the same folder, or of the cache that huggingface_hub keeps beside its snapshots.
void check_place(const fs::path& shard, const fs::path& index) {
  const auto found_folder = system_files::canonical(index.parent_path().empty() ? fs::path(".") : index.parent_path());
  const auto found_shard = system_files::canonical(shard);
  if (!found_folder || !found_shard) fail(index.string(), "names ", shard.filename().string(), ", which is not there");
  const fs::path &folder = *found_folder, &real = *found_shard;
  const fs::path blobs = folder.parent_path().parent_path() / "blobs";
  const bool cached = folder.parent_path().filename() == "snapshots" && real.parent_path() == blobs;
  if (real.parent_path() != folder && !cached)
    fail(index.string(), "names ", shard.filename().string(), ", a link to ", real.string(),
         " outside of the folder; put the file itself there");
}

/// Names of tensors, and in which file the index says they are.
using WeightMap = std::map<std::string, std::string>;

WeightMap weight_map(const fs::path& index) {
  const Json json = parsed(small_text(index, "an index of weights", kMostIndex), index.string());
  const Json* map = json.find("weight_map");
  if (!map || !map->is_object() || map->size() == 0)
    fail(index.string(), "has no weight_map, an object of tensors and their files");
  WeightMap all;
  for (const JsonField& field : map->items()) {
    if (!field.value.is_string())
      fail(index.string(), "weight_map gives ", field.key, " ", field.value.dump(), "; it must be the name of a file");
    check_name(field.value.text(), field.key, index);
    all.emplace(field.key, field.value.text());
  }
  return all;
}

void check_against(const WeightMap& map, const SafetensorsSource& source, const fs::path& index) {
  for (const auto& entry : map) {
    const SourceTensor* found = source.find(entry.first);
    if (!found) fail(index.string(), "tensor ", entry.first, " is to be in ", entry.second, ", which does not have it");
    const std::string file = source.files()[found->file].filename().string();
    if (file != entry.second)
      fail(index.string(), "tensor ", entry.first, " is to be in ", entry.second, ", but it is in ", file);
  }
  for (const fs::path& file : system_files::entries(index.parent_path()).value_or(std::vector<fs::path>{})) {
    const std::string name = file.filename().string();
    const auto named = [&](const auto& entry) { return entry.second == name; };
    if (name.starts_with("model-") && name.ends_with(".safetensors") && std::ranges::none_of(map, named))
      fail(index.string(), "does not name ", name, ", a shard in the same folder; remove what does not belong there");
  }
  for (const SourceTensor& tensor : source.tensors())
    if (!map.contains(tensor.name))
      fail(source.where(tensor), "has the tensor ", tensor.name, ", which ", index.filename().string(), " does not name");
}

[[noreturn]] void refuse_without_weights(const fs::path& folder) {
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth", "model.ckpt"})
    if (is_there(folder / name)) refuse_pickle(folder / name);
  for (const auto& [name, what] : {std::pair{"tf_model.h5", "TensorFlow's"}, {"flax_model.msgpack", "Flax's"}})
    if (is_there(folder / name))
      fail((folder / name).string(), what, " weights are not read; save the model as model.safetensors");
  const std::vector<fs::path> entries = system_files::entries(folder).value_or(std::vector<fs::path>{});
  for (const fs::path& entry : entries)  // llama2.c's files have any name
    if (entry.extension() == ".bin" && is_file(folder / entry.filename()))
      refuse_lfs_pointer(InputFile(folder / entry.filename()));
  for (const fs::path& entry : entries)
    if (const std::string name = entry.filename().string(); name.ends_with(".safetensors"))
      fail(folder.string(), "has ", name, ", but neither ", kOne, " nor ", kIndex,
           ", which says in which file each tensor is; fetch it from where this file came from");
  fail(folder.string(), "has no weights: neither ", kOne, " nor ", kIndex);
}

}  // namespace

void refuse_pickle(const fs::path& file) {
  if (is_file(file)) refuse_lfs_pointer(InputFile(file));
  fail(file.string(), "weights as a Python pickle, which can run code when loaded and is not read here; convert it where ",
       "PyTorch is installed: load it with torch.load(..., weights_only=True), write it with safetensors.torch.save_file as ",
       kOne);
}

std::unique_ptr<SafetensorsSource> source_of_shards(const fs::path& index) {
  const WeightMap map = weight_map(index);
  std::set<std::string> names;
  for (const auto& entry : map) names.insert(entry.second);
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    files.push_back(index.parent_path() / name);
    check_place(files.back(), index);
  }
  const std::string summary = concat(names.size(), " shards of ", index.filename().string());
  auto source = std::make_unique<SafetensorsSource>(std::move(files), summary);
  check_against(map, *source, index);
  return source;
}

std::unique_ptr<SafetensorsSource> source_of_folder(const fs::path& folder) {
  if (is_there(folder / kOne)) return std::make_unique<SafetensorsSource>(std::vector{folder / kOne}, kOne);
  if (is_there(folder / kIndex)) return source_of_shards(folder / kIndex);
  refuse_without_weights(folder);
}

}  // namespace addnorm::importing
