// Folders of checkpoints in tests: the goldens, what is compared in them, and copies in which one thing is wrong.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "addnorm/model/tokens.h"
#include "addnorm/tensor/safetensors.h"
#include "support/folder.h"

namespace addnorm::test {

inline std::filesystem::path import_golden(const std::string& name) {
  return std::filesystem::path(ADDNORM_SOURCE_DIR) / "tests" / "golden" / "import" / name;
}

inline bool mentions(const std::vector<std::string>& sentences, std::string_view part) {
  return std::ranges::any_of(sentences, [&](const std::string& s) { return s.find(part) != std::string::npos; });
}

/// Sequences of unequal length as one batch.
struct Padded {
  explicit Padded(const std::vector<std::vector<std::int32_t>>& rows) {
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row.size());
    for (std::vector<std::int32_t> row : rows) {
      lengths.push_back(row.size());
      row.resize(longest);
      ids.insert(ids.end(), row.begin(), row.end());
    }
  }
  Tokens tokens() const { return {.ids = ids, .batch = lengths.size(), .lengths = lengths}; }

  std::vector<std::int32_t> ids;
  std::vector<std::size_t> lengths;
};

/// A tensor as it stands in a file.
struct StoredTensor {
  std::string dtype;
  Shape shape;
  std::vector<std::byte> bytes;
  bool operator==(const StoredTensor&) const = default;
};
using Stored = std::map<std::string, StoredTensor>;

inline Stored stored(const std::filesystem::path& file) {
  const SafetensorsReader reader(file);
  Stored all;
  for (std::size_t i = 0; i < reader.size(); ++i) {
    const std::string name(reader.name(i));
    const SafetensorsInfo info = reader.info(name);
    all[name] = {std::string(info.dtype), info.shape, reader.read_bytes(name)};
  }
  return all;
}
inline void store(const std::filesystem::path& file, const Stored& all) {
  SafetensorsWriter writer;
  writer.set_metadata("format", "pt");
  for (const auto& [name, tensor] : all) writer.add_bytes(name, tensor.dtype, tensor.shape, tensor.bytes);
  writer.save(file);
}

/// All that is in `want` but golden.safetensors is in `got`, weights tensor by tensor and everything else byte by byte.
inline void expect_same_files(const std::filesystem::path& want, const std::filesystem::path& got) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(want)) {
    const auto name = entry.path().filename();
    if (name == "golden.safetensors" || entry.is_directory()) continue;
    ++count;
    ASSERT_TRUE(std::filesystem::exists(got / name)) << name;
    if (name.extension() != ".safetensors") {
      EXPECT_EQ(text_of(got / name), text_of(entry.path())) << name;
      continue;
    }
    const Stored a = stored(entry.path()), b = stored(got / name);
    EXPECT_EQ(a.size(), b.size()) << name;
    for (const auto& [tensor, values] : a) EXPECT_TRUE(b.contains(tensor) && b.at(tensor) == values) << name << ": " << tensor;
  }
  EXPECT_GE(count, 1u) << want << " holds nothing to compare";
}

/// A golden's files in a folder of their own, to be changed; golden.safetensors is not copied.
inline std::filesystem::path copy_of_golden(const std::string& name, const std::filesystem::path& to) {
  std::filesystem::copy(import_golden(name), to, std::filesystem::copy_options::recursive);
  std::filesystem::remove(to / "golden.safetensors");
  return to;
}

/// The weights of a folder, changed.
inline void change_weights(const std::filesystem::path& folder, const std::function<void(Stored&)>& change) {
  Stored all = stored(folder / "model.safetensors");
  change(all);
  store(folder / "model.safetensors", all);
}

/// The first `from` in a file replaced; that it is not there is a failure.
inline void replace_in(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = text_of(file);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << file << " has no " << from;
  write_text(file, text.replace(at, from.size(), to));
}

}  // namespace addnorm::test
