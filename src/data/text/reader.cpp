#include "data/text/reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "addnorm/core/error.h"
#include "core/checksum.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/system/files.h"

namespace addnorm {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;         // read at once
constexpr std::size_t kLongestPiece = std::size_t{8} << 20;  // kept when nothing of it can be used

std::int64_t written_at(const TextFile& file) {
  if (const auto status = system_files::status(file.path)) return status->changed;
  throw DataError(concat(file.path.string(), ": cannot be examined: ", std::generic_category().message(errno)));
}

class Reader {
 public:
  Reader(const Progress& progress, const std::function<std::size_t(const TextPiece&)>& take, std::string_view why, double from,
         double per_byte)
      : progress_(progress), take_(take), why_(why), from_(from), per_byte_(per_byte) {}

  /// False: stopped.
  bool read(const TextFile& source) {
    const auto before = written_at(source);
    const InputFile file(source.path);
    if (file.size() != source.bytes)
      throw DataError(concat(source.path.string(), ": had ", source.bytes, " bytes when it was found and has ", file.size(),
                             " now; it was changed while being read"));
    held_.clear();
    std::uint64_t offset = 0;
    do {
      if (progress_ && !progress_(from_ + per_byte_ * static_cast<double>(done_))) return false;
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, file.size() - offset));
      append(file, offset, bytes);
      offset += bytes;
      done_ += bytes;
      use(source, offset, offset == file.size());
    } while (offset < file.size());
    file.expect_same_size();
    if (written_at(source) != before)
      throw DataError(concat(source.path.string(), ": was written to while it was being read; try again when it is finished"));
    return true;
  }
  std::uint64_t checksum() const { return sum_.value(); }

 private:
  void append(const InputFile& file, std::uint64_t offset, std::size_t bytes) {
    const std::size_t kept = held_.size();
    held_.resize(kept + bytes);
    file.read(offset, held_.data() + kept, bytes);
    sum_.add(held_.data() + kept, bytes);
  }
  void use(const TextFile& file, std::uint64_t end, bool last) {
    if (held_.empty()) return;
    const std::size_t used = take_({file, held_, end - held_.size(), last});
    if (used == 0 && held_.size() >= kLongestPiece)
      throw DataError(concat(file.path.string(), ": from byte ", end - held_.size(), " on there are ",
                             Bytes{static_cast<double>(held_.size())}, " that cannot be taken apart", why_));
    held_.erase(0, used);
  }

  const Progress& progress_;
  const std::function<std::size_t(const TextPiece&)>& take_;
  std::string_view why_;
  double from_, per_byte_;
  std::string held_;
  std::uint64_t done_ = 0;
  Checksum sum_;
};

struct Beginning {
  std::string_view bytes;
  const char* meaning;
};
constexpr std::array<Beginning, 10> kBeginnings{{
    {"\x1F\x8B", "a gzip file: unpack it first (gunzip)"},
    {"\xFD"
     "7zXZ",
     "an xz file: unpack it first (unxz)"},
    {"\x28\xB5\x2F\xFD", "a zstd file: unpack it first (unzstd)"},
    {"BZh", "a bzip2 file: unpack it first (bunzip2)"},
    {"PK\x03\x04", "a zip archive (also .docx, .epub): unpack it first"},
    {"\xFF\xFE", "UTF-16: convert it (iconv -f UTF-16 -t UTF-8)"},
    {"\xFE\xFF", "UTF-16: convert it (iconv -f UTF-16 -t UTF-8)"},
    {"%PDF", "a PDF: extract its text first (pdftotext)"},
    {"\x89PNG", "a picture (PNG)"},
    {"\xFF\xD8\xFF", "a picture (JPEG)"},
}};

}  // namespace

std::optional<std::uint64_t> read_text(const TextSources& sources, const Progress& progress,
                                       const std::function<std::size_t(const TextPiece&)>& take, std::string_view why,
                                       double from, double to) {
  const double bytes = std::max(1.0, static_cast<double>(sources.bytes()));
  Reader reader(progress, take, why, from, (to - from) / bytes);
  for (const TextFile& file : sources.files)
    if (!reader.read(file)) return std::nullopt;
  return reader.checksum();
}

std::uint64_t checksum_of_names(const TextSources& sources) {
  Checksum sum;
  for (const TextFile& file : sources.files) {  // lengths first: no name can be taken for the end of one and another file
    const std::array<std::uint64_t, 2> sizes{file.name.size(), file.bytes};
    sum.add(sizes.data(), sizeof sizes);
    sum.add(file.name.data(), file.name.size());
  }
  return sum.value();
}

std::string not_text_hint(const std::filesystem::path& path) {
  const InputFile file(path);
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 1024)), '\0');
  file.read(0, head.data(), head.size());
  for (const Beginning& beginning : kBeginnings)
    if (head.starts_with(beginning.bytes)) return concat("; it begins like ", beginning.meaning);
  if (std::ranges::count(head, '\0') * 4 > std::ssize(head))  // of a Latin script every second byte is 0
    return "; it looks like UTF-16: convert it (iconv -f UTF-16LE -t UTF-8)";
  return "";
}

}  // namespace addnorm
