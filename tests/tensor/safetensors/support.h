// Shared by the tests of safetensors files: building files byte by byte, and what every refusal must look like.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "addnorm/tensor/safetensors.h"
#include "support/near.h"
#include "support/sanitizer.h"

namespace addnorm::test {

/// A new folder, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view bytes);
std::string read_file(const std::filesystem::path& path);

/// The eight bytes of a length, little-endian.
std::string length_bytes(std::uint64_t length);
/// A whole file: length, header, data.
std::string framed(std::string_view json, std::string_view data = "");
/// {"dtype":...,"shape":...,"data_offsets":...}
std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets);

double thread_cpu_seconds();
std::size_t peak_resident_bytes();

/// Files are opened from a folder of the test. Every opening stays below a second of processor time, and the whole suite below
/// 256 MB of memory (docs/testing.md); neither holds under a sanitizer.
class Safetensors : public testing::Test {
 protected:
  static void TearDownTestSuite();

  std::filesystem::path file() const { return folder_.path() / "model.safetensors"; }
  SafetensorsReader open(std::string_view bytes) const;
  /// Opening fails with a DataError of one short line that names the file and contains every part.
  testing::AssertionResult rejects(std::string_view bytes, std::initializer_list<std::string> parts = {}) const;
  testing::AssertionResult accepts(std::string_view bytes, std::size_t tensors) const;

  TemporaryFolder folder_;
};

}  // namespace addnorm::test
