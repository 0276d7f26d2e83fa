// Checkpoints of others in a folder of the test, and what the commands that take one say of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/data/tokenizer.h"
#include "cli/process.h"
#include "support/models/import_files.h"

namespace addnorm::test {

inline constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz \n";

struct ImportCommands : testing::Test {
  ImportCommands() { folder.write("words.txt", "some words in a row\nand some more of them\nthat is all there is\n"); }

  Ended run(const std::vector<std::string>& arguments) const { return Process(folder.path, arguments).end(); }
  std::string written(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  /// What each command that takes a checkpoint is asked.
  static std::vector<std::vector<std::string>> all_commands(const std::string& model) {
    return {{"generate", model},
            {"xray", model, "--text", "words.txt"},
            {"eval", model, "--data", "words.txt"},
            {"embed", model, "ab"}};
  }
  /// By every command: exit 1, one line on stderr with these words, nothing on stdout.
  void expect_refused(const std::string& model, const std::vector<std::string>& words) const {
    for (const std::vector<std::string>& asked : all_commands(model)) {
      const Ended ended = run(asked);
      EXPECT_EQ(ended.code, 1) << asked[0] << ": " << ended.err;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << asked[0] << ": " << ended.err;
      EXPECT_TRUE(ended.err.starts_with("addnorm " + asked[0] + ": ")) << ended.err;
      EXPECT_TRUE(ended.out.empty()) << asked[0] << ": " << ended.out;
      for (const std::string& word : words)
        EXPECT_NE(ended.err.find(word), std::string::npos) << word << " is not in: " << ended.err;
    }
  }
  /// A golden in the folder, with a tokenizer of letters beside it.
  std::string checkpoint(const std::string& name, const std::string& letters = kLetters) const {
    std::filesystem::remove_all(at(name));
    copy_of_golden(name, at(name));
    write_text(at(name) / "tokenizer.json", char_tokenizer(letters, {.mask = true})->to_json());
    return name;
  }
  std::filesystem::path at(const std::string& name) const { return folder.path / name; }
  TemporaryFolder folder;
};

}  // namespace addnorm::test
