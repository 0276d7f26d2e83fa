#include "tensor/safetensors/support.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <fstream>
#include <sstream>

namespace addnorm::test {

TemporaryFolder::TemporaryFolder() {
  static std::atomic<int> counter{0};
  path_ = std::filesystem::temp_directory_path() / concat("addnorm-test-", getpid(), "-", ++counter);
  std::filesystem::create_directory(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);  // writing over a file makes some file systems wait for the disk
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush().good()) << path;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

std::string length_bytes(std::uint64_t length) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i) & 255);
  return out;
}

std::string framed(std::string_view json, std::string_view data) { return length_bytes(json.size()).append(json).append(data); }

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return concat(R"({"dtype":)", dtype, R"(,"shape":)", shape, R"(,"data_offsets":)", offsets, "}");
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

void Safetensors::TearDownTestSuite() {
  if (!kSanitized) {
    EXPECT_LE(peak_resident_bytes(), 256'000'000u);
  }
}

SafetensorsReader Safetensors::open(std::string_view bytes) const {
  write_file(file(), bytes);
  const double start = thread_cpu_seconds();
  SafetensorsReader reader(file());
  if (!kSanitized) {
    EXPECT_LE(thread_cpu_seconds() - start, 1.0);
  }
  return reader;
}

testing::AssertionResult Safetensors::rejects(std::string_view bytes, std::initializer_list<std::string> parts) const {
  try {
    open(bytes);
  } catch (const DataError& error) {
    const std::string message = error.what();
    if (message.find(file().native()) == std::string::npos || message.find('\n') != std::string::npos || message.size() > 700)
      return testing::AssertionFailure() << "not one short line that names the file: " << message;
    for (const std::string& part : parts)
      if (message.find(part) == std::string::npos) return testing::AssertionFailure() << "lacks '" << part << "': " << message;
    return testing::AssertionSuccess();
  } catch (const std::exception& other) {
    return testing::AssertionFailure() << "another kind of error: " << other.what();
  }
  return testing::AssertionFailure() << "was accepted";
}

testing::AssertionResult Safetensors::accepts(std::string_view bytes, std::size_t tensors) const {
  try {
    const std::size_t got = open(bytes).size();
    if (got != tensors) return testing::AssertionFailure() << got << " tensors instead of " << tensors;
  } catch (const std::exception& error) {
    return testing::AssertionFailure() << error.what();
  }
  return testing::AssertionSuccess();
}

}  // namespace addnorm::test
