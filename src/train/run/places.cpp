// Where the data of a run is: what came by the standard input, and files that were named from another folder.
#include <array>
#include <cerrno>
#include <istream>
#include <optional>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/data/text.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_folder.h"
#include "core/file.h"
#include "core/system/files.h"
#include "train/run/sources.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

/// The standard input, read so that `progress` is asked now and then whether to go on.
class PatientInput : public std::streambuf {
 public:
  explicit PatientInput(const Progress& progress) : progress_(progress) {}
  bool stopped() const { return stopped_; }
  /// Why it could not be read to its end; 0: it could.
  int error() const { return error_; }

 private:
  int_type underflow() override {
    std::ptrdiff_t count = -1;
    do {
      if (stopped_ = progress_ && !progress_(0); stopped_) return traits_type::eof();
      count = system_files::read_next(input_.fd(), block_.data(), block_.size(), 100);
    } while (count < 0 && errno == EAGAIN);
    if (count < 0) error_ = errno;
    if (count <= 0) return traits_type::eof();
    setg(block_.data(), block_.data(), block_.data() + count);
    return traits_type::to_int_type(block_[0]);
  }

  const Progress& progress_;
  FileHandle input_{system_files::open_standard_input()};
  bool stopped_ = false;
  int error_ = 0;
  std::array<char, 65536> block_{};
};

}  // namespace

KeptFile::~KeptFile() {
  if (!path.empty()) system_files::remove(path);
}

std::unique_ptr<KeptFile> kept_standard_input(const fs::path& folder, const std::function<bool(double)>& go_on) {
  make_folder(folder);
  auto kept = std::make_unique<KeptFile>();
  const std::string name = "standard-input-";
  remove_leftovers(folder, [&](std::string_view file) { return file.starts_with(name); });
  kept->path = folder / concat(name, system_files::process(), ".txt");
  PatientInput buffer(go_on);
  std::istream input(&buffer);
  try {
    saved_text(input, kept->path);
  } catch (const DataError&) {
    if (!buffer.stopped() && buffer.error() == 0) throw;  // what came until then may be nothing
  }
  if (buffer.error() != 0)
    throw DataError(concat("the standard input cannot be read to its end: ", std::generic_category().message(buffer.error()),
                           ". Nothing was begun; give a file, or a pipe that stays"));
  return buffer.stopped() ? nullptr : std::move(kept);
}

std::vector<std::string> absolute_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(system_files::absolute(path).lexically_normal().string());
  return all;
}

std::vector<std::string> data_of_run(const RunFolder& folder, const FieldWords& words) {
  const RunRecord record = read_run_record(folder);
  std::vector<std::string> found = run_options_from_json(record.options, folder.record().string()).options.data;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::string& path = found[i];
    const std::string first = path == "-"                                ? folder.input().string()
                              : record.data_paths.size() == found.size() ? record.data_paths[i]
                                                                         : path;
    if (path == "-" || is_there(first) || !is_there(path)) path = first;
    if (!is_there(path))
      throw DataError(concat(path, ": the data of ", folder.path.string(), " is not there any more; say where it is now with ",
                             called(words, "data"), " FILE"));
  }
  return found;
}

}  // namespace addnorm
