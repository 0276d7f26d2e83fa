#include "core/git_lfs.h"

#include <charconv>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

// docs/spec.md of Git LFS: lines of a key and a value, "version" first, fewer than 1024 bytes in all.
constexpr std::string_view kBeginning = "version https://git-lfs.github.com/spec/", kSize = "\nsize ";
constexpr std::size_t kTooLarge = 1024;

/// " that stands for 548105171 bytes", where it says so.
std::string size_text(std::string_view text) {
  const std::size_t at = text.find(kSize);
  std::uint64_t bytes = 0;
  if (at == std::string_view::npos) return "";
  const std::string_view digits = text.substr(at + kSize.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  return read.ec == std::errc() ? concat(" that stands for ", bytes, " bytes") : "";
}

}  // namespace

void refuse_lfs_pointer(const std::filesystem::path& path, std::string_view text) {
  if (text.size() >= kTooLarge || !text.starts_with(kBeginning)) return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  throw DataError(concat(path.string(), ": is a Git LFS pointer of ", text.size(), " bytes", size_text(text),
                         ", not the file itself; run 'git lfs pull' in ", folder.string()));
}

void refuse_lfs_pointer(const InputFile& file) {
  if (file.size() >= kTooLarge) return;
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  refuse_lfs_pointer(file.path(), text);
}

}  // namespace addnorm
