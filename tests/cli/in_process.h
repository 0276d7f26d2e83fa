// A command line that runs in the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "cli/terminal/command.h"

namespace addnorm::test {

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// What the program makes of "tool ARGUMENT...", and what it prints. With `stdout_buffer` its answer goes there.
inline Outcome outcome_of(cli::Program& program, std::vector<const char*> arguments, std::streambuf* stdout_buffer = nullptr) {
  std::ostringstream out, err;
  std::streambuf* const real_out = std::cout.rdbuf(stdout_buffer ? stdout_buffer : out.rdbuf());
  std::streambuf* const real_err = std::cerr.rdbuf(err.rdbuf());
  arguments.insert(arguments.begin(), "tool");
  const int code = program.run(static_cast<int>(arguments.size()), arguments.data());
  std::cout.rdbuf(real_out);
  std::cerr.rdbuf(real_err);
  return {code, out.str(), err.str()};
}

/// The text has all of these parts.
inline testing::AssertionResult says(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
  return testing::AssertionSuccess();
}

}  // namespace addnorm::test
