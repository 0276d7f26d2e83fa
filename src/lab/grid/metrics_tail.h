// The losses of a run, read from its metrics.jsonl while it is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace addnorm {

class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path file) : file_(std::move(file)) {}
  /// Takes in the lines that are new; true: there were some. A file that has become shorter is read again from its start.
  bool look();

  const std::vector<double>& losses() const { return losses_; }  ///< of step 1, 2, ...; NaN where there is none
  std::size_t first_missing(std::size_t last) const;             ///< of steps 1 ... last, without a line; 0: none
  const std::string& stopped() const { return stopped_; }        ///< why the run ended early, by its numbers; "": it did not

 private:
  void take(const std::string& line);
  void read_anew();  // all of it

  std::filesystem::path file_;
  std::uint64_t read_to_ = 0;
  std::string begun_;  // a line without its end
  std::vector<double> losses_;
  std::vector<bool> there_;  // whether it has a line
  std::string stopped_;
};

}  // namespace addnorm
