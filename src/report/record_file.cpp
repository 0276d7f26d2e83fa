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

std::string LineFlaws::text() const {
  std::string all;
  if (broken > 0) all = concat("line ", first, " is no JSON object");
  if (broken > 1) all += concat(", nor ", broken == 2 ? "is " : "are ", broken - 1, broken == 2 ? " other" : " others");
  if (cut > 0) all += concat(all.empty() ? "" : "; ", "line ", cut, ", the last, breaks off");
  return all;
}

bool RecordLine::read(std::string_view text, std::uint64_t offset) {
  text_ = text;
  offset_ = offset;
  if (skim(text, fields_)) return true;
  fields_.clear();
  built_ = parsed_or_null(text);
  if (!built_.is_object()) return false;
  written_.clear();
  for (const JsonField& field : built_.items()) written_.push_back(field.value.dump());
  for (std::size_t i = 0; i < written_.size(); ++i) fields_.push_back({built_.items()[i].key, written_[i]});
  return true;
}

std::string_view RecordLine::value(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &SkimmedField::name);
  return found == fields_.end() ? std::string_view() : found->value;
}

std::string text_of_value(std::string_view value) {
  const Json text = value.starts_with('"') ? parsed_or_null(value) : Json();
  return text.is_string() ? text.text() : "";
}

LineFlaws each_record(const std::filesystem::path& file, const std::function<void(const RecordLine& line)>& take) {
  constexpr std::size_t kPiece = std::size_t{1} << 20, kLongest = std::size_t{1} << 26;
  const InputFile in(file);
  std::string begun;  // what was read and is no whole line yet
  RecordLine record;
  LineFlaws flaws;
  std::size_t number = 0;
  std::uint64_t at = 0;
  const auto look_at = [&](std::string_view line, std::uint64_t offset, bool ended) {
    ++number;
    if (line.empty()) return;
    if (record.read(line, offset)) return take(record);
    if (!ended) {
      flaws.cut = number;
    } else if (flaws.broken++ == 0) {
      flaws.first = number;
    }
  };
  while (at < in.size()) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, in.size() - at));
    const std::size_t before = begun.size();
    const std::uint64_t begin = at - before;  // of `begun` in the file
    begun.resize(before + bytes);
    in.read(at, begun.data() + before, bytes);
    at += bytes;
    std::size_t from = 0;
    for (std::size_t end; (end = begun.find('\n', std::max(from, before))) != std::string::npos; from = end + 1)
      look_at(std::string_view(begun).substr(from, end - from), begin + from, true);
    begun.erase(0, from);
    if (begun.size() > kLongest)
      throw DataError(concat(file.string(), ": a line of more than ", kLongest, " bytes is no record"));
  }
  if (!begun.empty()) look_at(begun, at - begun.size(), false);
  return flaws;
}

std::string last_part(const std::filesystem::path& path) {
  std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.has_filename() ? whole.filename().string() : whole.string();
}

}  // namespace addnorm
