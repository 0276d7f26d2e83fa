// Files with one sample on each line: pairs, labelled text, tables of numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/dataset.h"
#include "addnorm/data/progress.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

class SampleStore;

struct FileOptions {
  std::size_t seq_len = 0;  ///< the longest sequence a model takes; 0: any
  bool truncate = false;    ///< what is longer is cut; otherwise it is a DataError that names the line
  double validation_share = 0.1;
  std::uint64_t seed = 1;  ///< of the order and of what is for validation
  FieldWords words{};      ///< what messages call these fields
};

/// What a file holds, as views of one copy in memory (ids one after another), and figures about it.
struct SampleFile {
  std::shared_ptr<const Dataset> training{};    ///< another order each epoch; null: stopped while it was read
  std::shared_ptr<const Dataset> validation{};  ///< in the order of the file; null: none
  std::shared_ptr<const Dataset> all{};         ///< both, in the order of the file: for measuring
  std::uint64_t samples = 0;
  std::uint64_t empty_lines = 0;               ///< left out
  std::uint64_t truncated = 0;                 ///< samples
  std::size_t longest = 0;                     ///< sequence of ids, as a model reads it
  std::size_t longest_target = 0;              ///< of pairs for seq2seq, begin token included
  std::uint64_t held_bytes = 0;                ///< of that copy
  std::uint64_t checksum = 0;                  ///< of the tokenizer, where there is one, and of every byte of the file
  std::shared_ptr<const SampleStore> store{};  ///< the copy
};

/// How a model reads pairs.
enum class PairForm {
  seq2seq,  ///< ids: source; target_ids: <s> target; labels: target </s>
  lm,       ///< ids: source <s> target; labels: kIgnoredLabel for the source, then target </s>
};

/// Lines `source<TAB>target`. The tokenizer needs a begin and an end token. Padding is the pad token's id, or the end token's.
/// DataError with the line: no tab or several, an empty side, text that the tokenizer does not have.
SampleFile read_pairs(const std::filesystem::path& path, const Tokenizer& tokenizer, PairForm form = PairForm::seq2seq,
                      const FileOptions& options = {}, const Progress& progress = {});

/// The same copy of pairs or labelled text as other options show it: cut, split and ordered by them. A file need not be read
/// again when it is known how long its sequences are. DataError with the line: what is too long.
SampleFile shown(const SampleFile& file, const FileOptions& options);

struct LabelledFile : SampleFile {
  std::vector<std::string> classes{};  ///< by label: ascending numbers where all are whole numbers, else by bytes
};

/// Lines `label<TAB>text`; spaces around the label do not count. With `classes` (those of training) a label that is not among
/// them is a DataError; without, fewer than two classes are.
LabelledFile read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer, const FileOptions& options = {},
                           const std::vector<std::string>& classes = {}, const Progress& progress = {});

/// What a model needs to read another table of the same kind: kept beside its weights.
struct TableRecord {
  std::vector<std::string> features{};  ///< names of the columns; empty: the file has none
  std::string label{};                  ///< name of the label's column; empty: the file has none
  std::size_t label_column = 0;         ///< its number, from 1 on
  std::vector<std::string> classes{};
  std::vector<double> mean{};       ///< of each feature over the training samples
  std::vector<double> deviation{};  ///< 1 for a feature that is constant
};

struct TableOptions {
  std::string label{};      ///< the column's name, or its number from 1 on; empty: the last one
  char delimiter = '\0';    ///< ',', ';' or '\t'; '\0': the one the first line has most of
  bool standardise = true;  ///< (x - mean) / deviation; otherwise mean 0 and deviation 1 are recorded
  double validation_share = 0.1;
  std::uint64_t seed = 1;
  FieldWords words{};  ///< what messages call these fields
};

struct TableFile : SampleFile {
  TableRecord record{};
};

/// Numbers with one label per line, comma, semicolon or tab between them; cells may stand in double quotes. The first line is a
/// header where none of its features is a number. DataError with line and column: a feature that is no finite number, a line with
/// another number of cells, a quote without an end. With `record` (that of training), its classes and scaling are used.
TableFile read_table(const std::filesystem::path& path, const TableOptions& options = {}, const TableRecord* record = nullptr,
                     const Progress& progress = {});

}  // namespace addnorm
