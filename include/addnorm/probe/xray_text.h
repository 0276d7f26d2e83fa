// What a model reads while it is looked into: a file, the data it was trained for, or built-in sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/dataset.h"
#include "addnorm/train/run_model.h"

namespace addnorm {

struct XrayText {
  std::vector<Batch> batches{};      ///< for xray()
  Batch sample{};                    ///< some of it with nothing masked: what placements of norms are tried on
  std::string source{};              ///< "40 built-in sentences", "the validation data of the run"
  std::size_t read = 0;              ///< of plain text: its tokens (language models) or lines (encoders) that were taken
  bool stopped = false;              ///< by go_on, while text was awaited
  std::vector<std::string> notes{};  ///< a sentence each: what was done instead of what was meant
};

struct XrayTextAsked {
  std::string folder{};           ///< of the model, as it was named
  std::string file{};             ///< "": the data of the run where it has some, else our sentences; "-": the standard input
  std::size_t tokens = 1024;      ///< so many are read at most
  std::size_t window = 0;         ///< tokens of a sequence; 0: 128 for a language model, or what the model takes
  std::filesystem::path cache{};  ///< of tokenised text of a run's data; empty: the folder
  std::function<bool()> go_on{};  ///< is asked while a pipe is read; false: stop
  FieldWords words{};             ///< what messages call these fields, and those of RunOptions
};

/// At most so many tokens, as the kind of model takes them: windows for a language model, lines for an encoder, whose tokens are
/// masked where it has a head and a mask; the last sequence is cut. A language model of others without a tokenizer (load_run with
/// TextNeeds::text_or_ids) reads ids: of a file with a sequence on each line, or drawn. A sample of a run's data that has more is
/// read whole. DataError: no text, too little of it, no tokenizer. UsageError: so few tokens that none of them is the text's.
XrayText xray_text(const RunModel& run, const XrayTextAsked& asked);

}  // namespace addnorm
