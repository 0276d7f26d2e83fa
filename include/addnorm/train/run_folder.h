// The folder of a run: where its files are, what run.json and metrics.jsonl hold. docs/file-formats.md describes all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace addnorm {

struct ModelConfig;

struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path record() const { return path / "run.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path probes() const { return path / "probes.jsonl"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path best() const {
    return path / "best";
  }  ///< model.safetensors, config.json, tokenizer.json, as in the folder itself
  std::filesystem::path tokenizer() const { return path / "tokenizer.json"; }
  std::filesystem::path input() const { return path / "input.txt"; }  ///< what came by the standard input
};

/// run.json: what was asked for, by which program, on which machine.
struct RunRecord {
  std::string options = "{}";             ///< JSON object of every option, defaults too
  std::vector<std::string> data_paths{};  ///< of the option data, absolute: it may be given as seen from another folder
  std::uint64_t data_fingerprint = 0;     ///< of every byte of it; 0: not known
  std::string version{};                  ///< of the program that began the run
  std::string begun{};                    ///< "2026-11-16T15:20:00Z"
  std::string machine = "{}";             ///< JSON object: host, system, processor, processors, threads granted, memory
  std::string baselines{};                ///< JSON object: floor, uniform, unigram, bigram of the data; "": not known
  std::string initialisation{};           ///< JSON object of initialisation_record(); "": a run of 0.1.0
};
/// By which rule the weights of a model start: {"rule", "source", "drawn": [{"what", "rule"}], "contained"}, as
/// 'addnorm arrangements' prints it. Of an encoder-decoder each of "drawn" begins with its "stack".
std::string initialisation_record(const ModelConfig& model);
/// Of this program, this machine and the present time.
RunRecord new_run_record(std::string_view options);
/// DataError names file and field; a record that is not there too.
void write_run_record(const RunFolder& run, const RunRecord& record);
RunRecord read_run_record(const RunFolder& run);

/// A field in which two JSON objects differ. Fields of objects inside are named by their path: "optimizer.lr".
struct FieldDifference {
  std::string field, before, now;  ///< values as JSON; "nothing" where the field is missing
  std::string text() const { return field + ": " + before + " in the run, " + now + " now"; }
};
std::vector<FieldDifference> differences(std::string_view before, std::string_view now);

/// metrics.jsonl: one JSON object per line, each with its "step". Every line is handed to the system when it is written: a killed
/// process loses none. Trouble with the disk does not end a run: lines wait in memory (the latest, some megabytes) and are
/// written when that is possible again.
class MetricsLog {
 public:
  /// `trouble` hears the first failure of a row of them, by file and reason. A run that resumes after `last_step` updates drops
  /// the lines of later steps and those that are no JSON object, as a half-written last one; what is then written follows
  /// the rest.
  MetricsLog(std::filesystem::path file, std::int64_t last_step,
             std::function<void(const std::string& message)> trouble = nullptr);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  void append(std::string_view object);  ///< one line of JSON, without its end
  void go_back(std::int64_t last_step);  ///< the lines of later steps go, wherever they are
  /// The lines so far outlast a power failure: before a checkpoint is written, so that none of its steps is missing later.
  void sync();
  std::size_t dropped() const { return dropped_; }  ///< lines that were there and did not belong to the run
  bool working() const { return !failing_; }

 private:
  void drop_after(std::int64_t last_step);
  bool dropped_what_is_due();
  void open_at_end();
  bool write_waiting();
  void fail(const char* doing, int error);
  void report(const std::string& trouble);

  std::filesystem::path file_;
  std::function<void(const std::string&)> trouble_;
  int fd_ = -1;
  std::int64_t good_bytes_ = 0;  // whole lines; what follows them is half a line that did not fit
  std::string waiting_;
  std::optional<std::int64_t> due_;  // lines of steps after this one are still to be dropped from the file
  std::size_t dropped_ = 0;
  bool failing_ = false;
};

}  // namespace addnorm
