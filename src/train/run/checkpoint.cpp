#include "addnorm/train/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/tensor/safetensors.h"
#include "core/file.h"
#include "core/system/files.h"

namespace addnorm {
namespace {

// Metadata of the file. A program that writes anything a reader of version 1 would misread counts it up.
constexpr std::string_view kVersionKey = "addnorm.checkpoint";
constexpr std::string_view kStepKey = "addnorm.step";
constexpr std::string_view kRecordKey = "addnorm.record";
constexpr std::int64_t kVersion = 1;

constexpr std::string_view kStart = "step-", kEnd = ".safetensors";

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string name_of_step(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kStart).append(8 - std::min<std::size_t>(8, digits.size()), '0').append(digits).append(kEnd);
}

/// The step that a file's name names; nothing: it is not named like a checkpoint.
std::optional<std::int64_t> step_of_name(const std::string& name) {
  if (!name.starts_with(kStart) || !name.ends_with(kEnd) || name.size() <= kStart.size() + kEnd.size()) return std::nullopt;
  const auto step = whole_number(std::string_view(name).substr(kStart.size(), name.size() - kStart.size() - kEnd.size()));
  return step && name_of_step(*step) == name ? step : std::nullopt;
}

void check_version(const SafetensorsReader& reader, const std::string& where) {
  const auto text = reader.metadata(kVersionKey);
  if (!text) throw DataError(concat(where, "is no checkpoint of addnorm: its metadata lacks ", kVersionKey));
  const auto version = whole_number(*text);
  if (version == kVersion) return;
  if (!version) throw DataError(concat(where, kVersionKey, " is '", *text, "' instead of a number; the file is damaged"));
  throw DataError(concat(where, "is a checkpoint of format ", *version, ", this program reads format ", kVersion, "; ",
                         *version > kVersion ? "a newer addnorm wrote it: resume with that one"
                                             : "an older addnorm wrote it: finish the run with that one"));
}

std::int64_t checked_step(const SafetensorsReader& reader, const std::filesystem::path& file, const std::string& where) {
  const auto text = reader.metadata(kStepKey);
  const auto step = text ? whole_number(*text) : std::nullopt;
  if (!step) throw DataError(concat(where, "its metadata has no number of steps as ", kStepKey));
  const auto named = step_of_name(file.filename().native());
  if (named && named != step)
    throw DataError(concat(where, "holds step ", *step, ", its name says ", *named, "; files were renamed or swapped"));
  return *step;
}

// Everything is checked except that the values fit the run.
std::int64_t verified_step(const SafetensorsReader& reader, const std::filesystem::path& file) {
  const std::string where = file.native() + ": ";
  check_version(reader, where);
  reader.verify();
  if (!reader.metadata(kRecordKey)) throw DataError(concat(where, "its metadata lacks ", kRecordKey));
  return checked_step(reader, file, where);
}

std::pair<std::uint64_t, std::uint64_t> identity_of(const std::filesystem::path& folder) {
  const auto status = system_files::status(folder);
  return status ? std::pair(status->device, status->number) : std::pair<std::uint64_t, std::uint64_t>{};
}

}  // namespace

CheckpointFile::CheckpointFile(const std::filesystem::path& file)
    : reader_(file), step_(verified_step(reader_, file)), record_(*reader_.metadata(kRecordKey)) {}

Snapshot CheckpointFile::snapshot() const {
  Snapshot all{.step = step_, .tensors = {}, .record = record_};
  all.tensors.reserve(reader_.size());
  for (std::size_t i = 0; i < reader_.size(); ++i) all.tensors.emplace_back(reader_.name(i), reader_.read(reader_.name(i)));
  return all;
}

CheckpointFolder::CheckpointFolder(std::filesystem::path folder, std::size_t keep) : folder_(std::move(folder)), keep_(keep) {
  require(!folder_.empty(), "CheckpointFolder: the path of the folder is empty");
  require(keep >= 2, "CheckpointFolder: keep is ", keep, "; at least 2, so that one is left when one is found broken");
}

void CheckpointFolder::save(const Snapshot& snapshot) {
  require(snapshot.step >= 0, "CheckpointFolder::save: step is ", snapshot.step, "; steps count from 0");
  SafetensorsWriter writer;
  writer.set_metadata("format", "pt");
  writer.set_metadata(std::string(kVersionKey), std::to_string(kVersion));
  writer.set_metadata(std::string(kStepKey), std::to_string(snapshot.step));
  writer.set_metadata(std::string(kRecordKey), snapshot.record);
  for (const auto& [name, tensor] : snapshot.tensors) writer.add(name, tensor);
  writer.add_checksums();
  make_folder(folder_);
  check_same_folder();
  const std::filesystem::path file = folder_ / name_of_step(snapshot.step);
  writer.save(file);
  verified_[file] = known(file);
  remove_old(file);
}

// Removing old checkpoints of a folder that is not ours any more would destroy those of another run.
void CheckpointFolder::check_same_folder() {
  const auto now = identity_of(folder_);
  const bool another = identity_ != std::pair<std::uint64_t, std::uint64_t>{} && identity_ != now;
  if (another && !files().empty())
    throw DataError(concat(folder_.native(),
                           ": is another folder than before (moved, or its link was changed), with checkpoints ",
                           "of its own; put the run's folder back in its place"));
  identity_ = now;
}

CheckpointFolder::Known CheckpointFolder::known(const std::filesystem::path& file) {
  const auto status = system_files::status(file);
  return status ? Known{.file = status->number, .bytes = status->bytes, .changed = status->changed} : Known{};
}

// A file is read once, and again after it was changed.
bool CheckpointFolder::verifies(const std::filesystem::path& file) {
  const Known now = known(file);
  if (const auto found = verified_.find(file); found != verified_.end() && found->second == now) return true;
  try {
    verified_step(SafetensorsReader(file), file);
  } catch (const DataError&) {
    return false;
  }
  verified_[file] = now;
  return true;
}

// Best effort: an old checkpoint that stays does no harm, and the next save tries again.
void CheckpointFolder::remove_old(const std::filesystem::path& saved) try {
  std::size_t kept = 1;
  std::vector<std::filesystem::path> all = files();
  std::ranges::reverse(all);
  for (const std::filesystem::path& file : all) {
    if (file == saved || !verifies(file) || kept++ < keep_) continue;
    if (system_files::remove(file)) verified_.erase(file);
  }
} catch (const DataError&) {  // the folder cannot be listed at the moment
}

std::optional<CheckpointFile> CheckpointFolder::newest_file(const std::function<void(const std::string& message)>& broken) const {
  std::vector<std::filesystem::path> all = files();
  std::ranges::reverse(all);
  for (const std::filesystem::path& file : all) {
    try {
      return CheckpointFile(file);
    } catch (const DataError& error) {
      if (broken) broken(error.what());
    }
  }
  return std::nullopt;
}

std::optional<Snapshot> CheckpointFolder::newest(const std::function<void(const std::string& message)>& broken) const {
  const std::optional<CheckpointFile> file = newest_file(broken);
  return file ? std::optional(file->snapshot()) : std::nullopt;
}

Snapshot CheckpointFolder::read(const std::filesystem::path& file) { return CheckpointFile(file).snapshot(); }

std::vector<std::filesystem::path> CheckpointFolder::files() const {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> found;
  const auto entries = system_files::entries(folder_);
  if (!entries && errno == ENOENT) return {};
  if (!entries)
    throw DataError(concat(folder_.native(), ": the folder cannot be read: ", std::generic_category().message(errno)));
  for (const std::filesystem::path& path : *entries)
    if (const auto step = step_of_name(path.filename().native())) found.emplace_back(*step, path);
  std::ranges::sort(found);
  std::vector<std::filesystem::path> all;
  for (auto& [step, path] : found) all.push_back(std::move(path));
  return all;
}

}  // namespace addnorm
