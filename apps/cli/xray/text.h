// What a model reads while it is looked into: a file, the data it was trained for, or sentences of our own.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "addnorm/data/dataset.h"
#include "cli/models/run_model.h"

namespace addnorm::cli {

struct XrayText {
  std::vector<Batch> batches{};
  Batch sample{};        ///< some of it with nothing masked: what placements of norms are tried on
  std::string source{};  ///< "40 built-in sentences", "the validation data of the run"
  std::size_t read = 0;  ///< of plain text: its tokens (language models) or lines (encoders) that were taken
  bool stopped = false;  ///< by go_on, while text was awaited
};

struct XrayTextAsked {
  std::string folder{};    ///< of the model, as it was named
  std::string file{};      ///< "": the data of the run where it has some, else our sentences; "-": the standard input
  std::size_t tokens = 0;  ///< so many are read at most
  std::size_t window = 0;  ///< tokens of a sequence; 0: 128 for a language model, or what the model takes
};

/// At most so many tokens, as the kind of model takes them: windows for a language model, lines for an encoder, whose tokens are
/// masked where it has a head and a mask; the last sequence is cut. A sample of a run's data that has more is read whole, and
/// `notes` hears of it, as of all that is done instead of what was meant. DataError: no text, too little of it, no tokenizer.
/// UsageError: so few tokens that none of them is the text's. `go_on` is asked while a pipe is read; false: stop.
XrayText xray_text(const RunModel& run, const XrayTextAsked& asked, const std::function<bool()>& go_on, std::ostream& notes);

}  // namespace addnorm::cli
