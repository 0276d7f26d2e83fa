// A folder for what a command needs only while it runs.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace addnorm::cli {

/// A temporary folder, removed by the destructor. Its user creates it.
struct Scratch {
  explicit Scratch(const std::string& command)
      : path(std::filesystem::temp_directory_path() / ("addnorm-" + command + "-" + std::to_string(getpid()))) {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path path;
};

}  // namespace addnorm::cli
