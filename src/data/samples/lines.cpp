#include "data/samples/lines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/text/reader.h"

namespace addnorm {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // between two calls of the progress callback: some ten milliseconds
constexpr std::size_t kLongest = std::size_t{1} << 24;

}  // namespace

Lines::Lines(const std::filesystem::path& path, Progress progress, std::string_view before)
    : file_(path), progress_(std::move(progress)) {
  sum_.add(before.data(), before.size());
  if (const std::string hint = not_text_hint(path); !hint.empty())
    throw DataError(concat(path.string(), ": not lines of text", hint));
  fill();
  if (buffer_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
}

/// Reads on in the file, after what the buffer still holds; false at its end, and when it was stopped.
bool Lines::fill() {
  const double size = std::max(1.0, static_cast<double>(file_.size()));
  stopped_ = stopped_ || (progress_ && !progress_(static_cast<double>(offset_) / size));
  if (stopped_) return false;
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, file_.size() - offset_));
  if (bytes == 0) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + bytes);
  file_.read(offset_, buffer_.data() + held, bytes);
  sum_.add(buffer_.data() + held, bytes);
  offset_ += bytes;
  return true;
}

bool Lines::next(std::string_view& line) {
  ++number_;
  std::size_t searched = 0;  // of the present line
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_ + searched);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = end + 1;
      break;
    }
    searched = buffer_.size() - begin_;
    if (searched > kLongest) fail("the line is longer than ", kLongest >> 20, " MiB; one sample stands on each line");
    if (fill()) continue;
    if (searched == 0 || stopped_) return false;
    line = std::string_view(buffer_).substr(begin_);
    begin_ = buffer_.size();
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void Lines::fail_with(const std::string& message) const {
  throw DataError(concat(file_.path().string(), ":", number_, ": ", message));
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  if (text.size() > 40) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();  // not inside a letter
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "...";
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::int32_t> line_tokens(const Lines& lines, const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> ids;
  try {
    ids = tokenizer.encode(text);
  } catch (const DataError& error) {
    lines.fail("'", shown(text), "': ", error.what());
  }
  if (ids.empty()) lines.fail("'", shown(text), "' has no tokens");  // a tokenizer may drop spaces
  return ids;
}

void check_count(const Lines& lines, std::size_t samples) {
  if (samples == std::numeric_limits<std::uint32_t>::max()) lines.fail("more than ", samples - 1, " samples");
}

}  // namespace addnorm
