// C++ of the documentation: excerpts stand in the files that they name; everything else was compiled into this program
// (extract_snippets.cmake).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/folder.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::text_of;

struct Block {
  std::string place;  ///< "docs/report.md, block 1"
  std::string from;   ///< the file of an excerpt; "": it is none
  std::string code;
};

std::vector<std::string> files() {
  const fs::path root = ADDNORM_SOURCE_DIR;
  std::vector<std::string> all{"README.md", "CONTRIBUTING.md", "bench/README.md", "web/README.md"};
  for (const fs::path& file : fs::recursive_directory_iterator(root / "docs"))
    if (file.extension() == ".md") all.push_back(file.lexically_relative(root).string());
  return all;
}

std::vector<Block> blocks_of(const std::string& file) {
  const std::string text = text_of(fs::path(ADDNORM_SOURCE_DIR) / file), open = "```cpp\n", from = "<!-- cpp: from ";
  std::vector<Block> all;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const std::size_t begin = at + open.size(), line = text.rfind('\n', at - 2) + 1;
    const std::string before = text.substr(line, at - line);
    Block block{.place = file + ", block " + std::to_string(all.size() + 1), .from = {}, .code = {}};
    block.code = text.substr(begin, text.find("\n```", begin) + 1 - begin);
    if (before.starts_with(from)) block.from = before.substr(from.size(), before.find(" -->") - from.size());
    all.push_back(block);
  }
  return all;
}

TEST(Snippets, OfOtherFilesStandThere) {
  for (const std::string& file : files())
    for (const Block& block : blocks_of(file)) {
      const bool there =
          block.from.empty() || text_of(fs::path(ADDNORM_SOURCE_DIR) / block.from).find(block.code) != std::string::npos;
      EXPECT_TRUE(there) << block.place << " is no longer what stands in " << block.from << ":\n" << block.code;
    }
}

TEST(Snippets, AreCompiledAllOfThem) {
  const std::string compiled = text_of(ADDNORM_SNIPPETS);
  std::size_t count = 0, excerpts = 0;
  for (const std::string& file : files())
    for (const Block& block : blocks_of(file)) {
      ++count;
      excerpts += !block.from.empty();
      std::string code = block.code;  // includes were moved to the top
      while (code.starts_with("#") || code.starts_with("\n")) code.erase(0, code.find('\n') + 1);
      const bool is_compiled = !block.from.empty() || compiled.find(code.substr(0, code.find("\n#"))) != std::string::npos;
      EXPECT_TRUE(is_compiled) << block.place << " is not compiled";
    }
  EXPECT_GE(count, 10u) << "the blocks were not found: the test shows nothing";
  EXPECT_LT(excerpts, count);
}

}  // namespace
}  // namespace addnorm
