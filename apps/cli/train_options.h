// The options of `train` on the command line: one list for all of them, from the library.
#pragma once

#include <string>

#include "addnorm/train/run_options.h"
#include "command.h"

namespace addnorm::cli {

/// What was given, as the JSON object that files hold too. Shared with the parser's callbacks.
class OptionCollector {
 public:
  OptionCollector();
  ~OptionCollector();
  /// Adds every option of the library to the command.
  void declare(Command& command);
  /// Those of the file (may be empty) and, over them, those of the command line.
  GivenOptions given(const std::filesystem::path& file) const;
  bool has(const std::string& name) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace addnorm::cli
