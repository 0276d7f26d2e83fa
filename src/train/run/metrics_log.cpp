#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/train/run_folder.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{8} << 20;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;  // no line of ours is; what is longer is none

/// A JSON object whose "step", if it has one, is at most `last_step`.
bool belongs(std::string_view line, std::int64_t last_step) {
  const Json json = parsed_or_null(line);
  if (!json.is_object()) return false;
  const Json* step = json.find("step");
  return !step || (step->is_integer() && step->number() <= static_cast<double>(last_step));
}

/// see(line, whole) for each line of a file, block by block; the last one is whole only with its line end.
template <class See>
void for_each_line(const InputFile& file, See&& see) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string held;
  for (std::uint64_t at = 0; at < file.size(); at += kBlock) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, file.size() - at));
    const std::size_t before = held.size();
    held.resize(before + count);
    file.read(at, held.data() + before, count);
    std::size_t first = 0;
    for (std::size_t end = 0; (end = held.find('\n', first)) != std::string::npos; first = end + 1)
      see(std::string_view(held).substr(first, end - first), true);
    held.erase(0, first);
    if (held.size() > kLongestLine) held.resize(kLongestLine);
  }
  if (!held.empty()) see(std::string_view(held), false);
}

}  // namespace

MetricsLog::MetricsLog(std::filesystem::path file, std::int64_t last_step,
                       std::function<void(const std::string& message)> trouble)
    : file_(std::move(file)), trouble_(std::move(trouble)) {
  go_back(last_step);
  if (!due_) open_at_end();
}

MetricsLog::~MetricsLog() {
  try {
    write_waiting();
  } catch (const std::exception&) {  // of the callback, or no memory for its message: there is nobody left to report to
  }
  if (fd_ >= 0) system_files::close(fd_);
}

void MetricsLog::go_back(std::int64_t last_step) {
  std::string kept;
  for (std::size_t first = 0, end = 0; (end = waiting_.find('\n', first)) != std::string::npos; first = end + 1)
    if (belongs(std::string_view(waiting_).substr(first, end - first), last_step)) kept.append(waiting_, first, end + 1 - first);
  waiting_ = std::move(kept);
  due_ = last_step;
  write_waiting();
}

/// False: not at the moment.
bool MetricsLog::dropped_what_is_due() try {
  if (!due_) return true;
  if (fd_ >= 0) system_files::close(std::exchange(fd_, -1));
  if (is_there(file_)) drop_after(*due_);
  due_.reset();
  return true;
} catch (const DataError& error) {
  report(error.what());
  return false;
}

// The file is replaced as a whole: killed in the middle of it, the run finds the old one.
void MetricsLog::drop_after(std::int64_t last_step) {
  const InputFile old(file_);
  dropped_ = 0;
  for_each_line(old, [&](std::string_view line, bool whole) { dropped_ += !whole || !belongs(line, last_step); });
  if (dropped_ == 0) return;
  ReplacementFile kept(file_);
  for_each_line(old, [&](std::string_view line, bool whole) {
    if (!whole || !belongs(line, last_step)) return;
    kept.write(line.data(), line.size());
    kept.write("\n", 1);
  });
  kept.commit();
}

void MetricsLog::open_at_end() {
  fd_ = system_files::open_for_appending(file_);
  if (fd_ < 0) return fail("opening", errno);
  const auto status = system_files::status(fd_);
  if (!status) return fail("examining", errno);
  good_bytes_ = static_cast<std::int64_t>(status->bytes);
}

void MetricsLog::fail(const char* doing, int error) {
  report(concat(file_.native(), ": ", doing, " failed: ", std::generic_category().message(error)));
}

void MetricsLog::report(const std::string& trouble) {
  if (!std::exchange(failing_, true) && trouble_) trouble_(trouble + "; the run goes on, lines wait until it works again");
}

void MetricsLog::append(std::string_view object) {
  waiting_.append(object).append("\n");
  if (!write_waiting() && waiting_.size() > kMostWaiting)
    waiting_.erase(0, waiting_.find('\n', waiting_.size() - kMostWaiting) + 1);
}

bool MetricsLog::write_waiting() {
  if (!dropped_what_is_due()) return false;
  if (waiting_.empty()) return true;
  if (fd_ < 0) open_at_end();
  if (fd_ < 0) return false;
  std::size_t done = 0;
  while (done < waiting_.size()) {
    const std::ptrdiff_t count = system_files::write_next(fd_, waiting_.data() + done, waiting_.size() - done);
    if (count < 0) {
      const int error = errno;
      if (done > 0 && !system_files::cut(
                          fd_, static_cast<std::uint64_t>(good_bytes_))) {  // then the rest of the line has to follow its start
        good_bytes_ += static_cast<std::int64_t>(done);
        waiting_.erase(0, done);
      }
      fail("writing", error);
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  good_bytes_ += static_cast<std::int64_t>(waiting_.size());
  waiting_.clear();
  failing_ = false;
  return true;
}

void MetricsLog::sync() {
  if (write_waiting() && fd_ >= 0 && !system_files::sync(fd_)) fail("writing to the disk", errno);
}

}  // namespace addnorm
