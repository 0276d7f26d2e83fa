#include "report/record_file.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "core/file.h"

namespace addnorm {

std::string record_text(const std::filesystem::path& file) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 29;
  const InputFile in(file);
  if (in.size() > kMost) throw DataError(concat(file.string(), ": ", in.size(), " bytes; a record has at most ", kMost));
  std::string text(static_cast<std::size_t>(in.size()), '\0');
  in.read(0, text.data(), text.size());
  return text;
}

std::size_t each_record(const std::filesystem::path& file, const std::function<void(const Json& record)>& take) {
  constexpr std::size_t kPiece = std::size_t{1} << 20, kLongest = std::size_t{1} << 26;
  const InputFile in(file);
  std::string begun;
  std::size_t broken = 0;
  for (std::uint64_t at = 0; at < in.size();) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, in.size() - at));
    const std::size_t before = begun.size();
    begun.resize(before + bytes);
    in.read(at, begun.data() + before, bytes);
    at += bytes;
    std::size_t from = 0;
    for (std::size_t end; (end = begun.find('\n', std::max(from, before))) != std::string::npos; from = end + 1) {
      const std::string_view line = std::string_view(begun).substr(from, end - from);
      if (line.empty()) continue;
      const Json record = parsed_or_null(line);
      if (record.is_object())
        take(record);
      else
        ++broken;
    }
    begun.erase(0, from);
    if (begun.size() > kLongest)
      throw DataError(concat(file.string(), ": a line of more than ", kLongest, " bytes is no record"));
  }
  return broken;
}

std::string last_part(const std::filesystem::path& path) {
  std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.has_filename() ? whole.filename().string() : whole.string();
}

}  // namespace addnorm
