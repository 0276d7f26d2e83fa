#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/data/sample_files.h"
#include "data/samples/fields.h"
#include "data/samples/lines.h"
#include "data/samples/sample_view.h"

namespace addnorm {
namespace {

struct TableStore : SampleStore {
  std::size_t width = 0;
  std::vector<float> values;  // [samples, width]
  std::vector<std::int32_t> labels;

  std::size_t samples() const override { return labels.size(); }
  std::uint64_t bytes() const override { return values.capacity() * sizeof(float) + labels.capacity() * sizeof(std::int32_t); }
  Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers, std::size_t) const override {
    Batch batch{.first = first, .sequences = numbers.size()};
    for (const std::uint32_t number : numbers) {
      const float* row = values.data() + number * width;
      batch.features.insert(batch.features.end(), row, row + width);
      batch.labels.push_back(labels[number]);
    }
    return batch;
  }
};

class TableReader {
 public:
  TableReader(const std::filesystem::path& path, const TableOptions& options, const TableRecord* record, const Progress& progress)
      : path_(path),
        options_(options),
        record_(record),
        lines_(path, progress),
        delimiter_(options.delimiter),
        classes_(record != nullptr ? record->classes : std::vector<std::string>(), "read_table") {}

  TableFile read() {
    TableFile file;
    std::vector<std::string> cells;
    for (std::string_view line; lines_.next(line);) {
      if (trimmed(line).empty()) {
        ++file.empty_lines;
        continue;
      }
      if (columns_ == 0) find_delimiter(line);
      split_cells(lines_, line, delimiter_, cells);
      if (columns_ == 0 && begin(cells)) continue;
      take(cells);
    }
    if (lines_.stopped()) return {};
    finish(file);
    return file;
  }

 private:
  void find_delimiter(std::string_view line) {
    if (delimiter_ != '\0') return;
    const auto found = guess_delimiter(line);
    if (!found) lines_.fail("one column only; features and a label stand on a line, with ',', ';' or a tab between them");
    delimiter_ = *found;
  }

  /// The first line. True: it is a header.
  bool begin(const std::vector<std::string>& cells) {
    columns_ = cells.size();
    if (columns_ < 2) lines_.fail("one column only; a line has features and a label");
    if (record_ != nullptr && columns_ - 1 != record_->mean.size())
      lines_.fail(columns_ - 1, " features; the model takes ", record_->mean.size());
    label_ = label_column(cells);
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < columns_; ++i) numbers += i != label_ && number_of(cells[i]).has_value();
    const bool header = numbers == 0;
    if (header) {
      names_ = cells;
      for (std::size_t i = 0; i < columns_; ++i)
        if (i != label_) features_.push_back(cells[i]);
    }
    if (record_ != nullptr) check_names();
    return header;
  }

  /// By name or number; without either where it was in training, or the last one.
  std::size_t label_column(const std::vector<std::string>& cells) const {
    const std::string& wanted = options_.label.empty() && record_ != nullptr ? record_->label : options_.label;
    const auto named = std::ranges::find(cells, wanted);
    if (!wanted.empty() && !number_of(wanted) && named != cells.end()) return static_cast<std::size_t>(named - cells.begin());
    if (options_.label.empty() && record_ != nullptr && record_->label_column <= cells.size() && record_->label_column > 0)
      return record_->label_column - 1;
    if (wanted.empty()) return cells.size() - 1;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error != std::errc() || end != wanted.data() + wanted.size() || number == 0 || number > cells.size())
      lines_.fail(unknown_name("label column", wanted, cells), "; by number they are 1 to ", cells.size());
    return number - 1;
  }

  void check_names() const {
    const std::size_t width = record_->mean.size();
    if (features_.empty() || record_->features.empty()) return;
    for (std::size_t i = 0; i < width; ++i)
      if (features_[i] != record_->features[i])
        lines_.fail("feature ", i + 1, " is '", shown(features_[i]), "'; in training it was '", record_->features[i], "'");
  }

  void take(const std::vector<std::string>& cells) {
    if (cells.size() != columns_) lines_.fail(cells.size(), " cells; the lines before have ", columns_);
    for (std::size_t i = 0; i < columns_; ++i)
      if (i != label_) values_.push_back(feature(cells[i], i + 1));
    labels_.push_back(classes_.number(lines_, cells[label_]));
    check_count(lines_, labels_.size());
  }

  double feature(const std::string& cell, std::size_t at) const {
    const auto value = number_of(cell);
    if (!value)
      fail_cell(at, cell.empty() ? std::string("the cell is empty") : concat("'", shown(cell), "' is not a number"),
                cell.find(',') != cell.npos ? " (decimals take a point)" : "", "; every feature must be a number");
    if (!(std::abs(*value) <= std::numeric_limits<float>::max()))
      fail_cell(at, "'", shown(cell), "' is not a finite number of float32");
    return *value;
  }

  template <class... Parts>
  [[noreturn]] void fail_cell(std::size_t at, const Parts&... parts) const {
    lines_.fail("column ", at, names_.empty() ? "" : concat(" (", shown(names_[at - 1]), ")"), ": ", parts...);
  }

  void finish(TableFile& file) {
    const std::size_t samples = labels_.size();
    if (samples == 0) throw DataError(concat(path_.string(), ": no numbers in it; a line has features and a label"));
    if (classes_.size() < 2)
      throw DataError(concat(path_.string(), ": all ", samples, " lines have one label; there is nothing to tell apart"));
    if (record_ == nullptr && samples >= 10 && classes_.size() * 2 > samples)
      throw DataError(concat(path_.string(), ": the label column has ", classes_.size(), " different values on ", samples,
                             " lines: a quantity rather than a class? Name the column that holds the class (",
                             called(options_.words, "label"), ")"));
    if (record_ == nullptr && names_.empty()) check_first_line();
    SampleSplit split = split_samples(options_.seed, samples, options_.validation_share);
    file.record.features = record_ != nullptr ? record_->features : features_;
    file.record.label = record_ != nullptr ? record_->label : names_.empty() ? "" : names_[label_];
    file.record.label_column = record_ != nullptr ? record_->label_column : label_ + 1;
    file.record.classes = classes_.settle(labels_);
    scaling(split.training, file.record);
    auto store = std::make_shared<TableStore>();
    store->width = columns_ - 1;
    store->labels = std::move(labels_);
    scale(file.record, store->values);
    file.checksum = lines_.checksum();
    show(std::move(store), std::move(split), options_.seed, 0, file);
  }

  /// A header whose names are numbers looks like a sample, but for its label, which no other line has.
  void check_first_line() const {
    std::vector<std::size_t> times(classes_.size());
    for (const std::int32_t label : labels_) ++times[static_cast<std::size_t>(label)];
    const auto first = static_cast<std::size_t>(labels_.front());
    if (labels_.size() >= 10 && times[first] == 1 && std::ranges::count(times, 1u) == 1)
      throw DataError(concat(path_.string(),
                             ": line 1 has a label that no other line has, while every other label comes again: is "
                             "it a header? Remove it, or give its columns names that are no numbers"));
  }

  /// Mean and deviation (divided by n) of the samples for training, in two passes.
  void scaling(const std::vector<std::uint32_t>& training, TableRecord& record) const {
    const std::size_t width = columns_ - 1;
    if (record_ != nullptr) {
      record.mean = record_->mean;
      record.deviation = record_->deviation;
      return;
    }
    record.mean.assign(width, 0);
    record.deviation.assign(width, 1);
    if (!options_.standardise) return;
    const auto n = static_cast<double>(training.size());
    std::vector<double> squares(width);
    for (const std::uint32_t row : training)
      for (std::size_t i = 0; i < width; ++i) record.mean[i] += values_[row * width + i];
    for (double& mean : record.mean) mean /= n;
    for (const std::uint32_t row : training)
      for (std::size_t i = 0; i < width; ++i) squares[i] += std::pow(values_[row * width + i] - record.mean[i], 2) / n;
    for (std::size_t i = 0; i < width; ++i) {
      const double deviation = std::sqrt(squares[i]);
      if (deviation > 1e-12 * std::abs(record.mean[i])) record.deviation[i] = deviation;  // not the rounding of a constant
    }
  }

  void scale(const TableRecord& record, std::vector<float>& scaled) {
    const std::size_t width = columns_ - 1;
    scaled.resize(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i)
      scaled[i] = static_cast<float>((values_[i] - record.mean[i % width]) / record.deviation[i % width]);
    values_ = {};
  }

  const std::filesystem::path& path_;
  const TableOptions& options_;
  const TableRecord* record_;
  Lines lines_;
  char delimiter_;
  Classes classes_;
  std::size_t columns_ = 0, label_ = 0;
  std::vector<std::string> names_, features_;  // of all columns, of the features; empty: no header
  std::vector<double> values_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

TableFile read_table(const std::filesystem::path& path, const TableOptions& options, const TableRecord* record,
                     const Progress& progress) {
  require(options.delimiter == '\0' || options.delimiter == ',' || options.delimiter == ';' || options.delimiter == '\t',
          "read_table: the delimiter is '", options.delimiter, "'; it must be ',', ';' or a tab");
  if (record != nullptr)
    require(record->mean.size() == record->deviation.size() && !record->classes.empty(), "read_table: the record has ",
            record->mean.size(), " means, ", record->deviation.size(), " deviations and ", record->classes.size(), " classes");
  return TableReader(path, options, record, progress).read();
}

}  // namespace addnorm
