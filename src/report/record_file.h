// Files of records: one JSON value, or one per line; those of many runs are read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/parallel.h"
#include "core/json/json.h"
#include "core/json/reader.h"

namespace addnorm {

/// All of a file, up to half a gibibyte. DataError, with the file.
std::string record_text(const std::filesystem::path& file);

/// Lines that are no records.
struct LineFlaws {
  std::size_t broken = 0;  ///< how many are no JSON object
  std::size_t first = 0;   ///< the number of the first of them, from 1 on
  std::size_t cut = 0;     ///< the number of the last line, where it breaks off; 0: it does not

  bool any() const { return broken > 0 || cut > 0; }
  std::string text() const;  ///< "line 7 is no JSON object, nor are 2 others; line 90, the last, breaks off"
};

/// One line: an object, of which a field can be asked for without building the others.
class RecordLine {
 public:
  /// False where it is no JSON object. `text` must live as long as what is asked for.
  bool read(std::string_view text, std::uint64_t offset);

  std::uint64_t offset() const { return offset_; }  ///< of its first byte in the file
  std::size_t bytes() const { return text_.size(); }

  const std::vector<SkimmedField>& fields() const { return fields_; }
  /// The JSON of a field's value; "" where there is none.
  std::string_view value(std::string_view name) const;
  double number(std::string_view name) const { return skimmed_number(value(name)); }
  std::optional<std::uint64_t> whole(std::string_view name) const { return skimmed_whole(value(name)); }

 private:
  std::string_view text_;
  std::uint64_t offset_ = 0;
  std::vector<SkimmedField> fields_;
  Json built_;  ///< where skimming was not enough; fields_ then point into these
  std::vector<std::string> written_;
};

/// The text that a value of a field is; "" where it is something else.
std::string text_of_value(std::string_view value);

/// Calls `take` with every line that is an object, in order; the file is read piece by piece. Empty lines do not count. A last
/// line without an end counts where it is whole. A line longer than 64 MiB is a DataError, and so is a file that cannot be read.
LineFlaws each_record(const std::filesystem::path& file, const std::function<void(const RecordLine& line)>& take);

/// read(i) for every i below `count`, each exactly once; each must write to its own place. When all are done the first
/// exception, by number, is thrown. So the result is the same for any number of threads.
template <class Read>
void read_at_once(std::size_t count, const Read& read) {
  std::vector<std::exception_ptr> failed(count);
  parallel_tasks(count, [&](std::size_t i, std::size_t) {
    try {
      read(i);
    } catch (...) {
      failed[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
}

/// The last part of a path, also of "runs/lab/", "." and "..".
std::string last_part(const std::filesystem::path& path);

}  // namespace addnorm
