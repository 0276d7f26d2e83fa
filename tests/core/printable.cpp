// Names out of files do not command a terminal, whatever they hold.
#include "core/printable.h"

#include <gtest/gtest.h>

#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "core/json/json.h"

namespace addnorm {
namespace {

TEST(Printable, TextThatCanBeSeenStaysAsItIs) {
  for (const char* text :
       {"", "model.layers.3/w \"q\" \\n", "gr\u00fc\u00df \u4f60\u597d \U0001F600", "\u00a0\u200d\u2027\u202f"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatCommandsATerminalIsWrittenOut) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable(std::string("a\0b\x07\x7f", 5)), "a\\x00b\\x07\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");  // the same command in one character
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable("\u2028\u202e\u2066x"), "\\u2028\\u202e\\u2066x");  // a new line; names that read from right to left
}

TEST(Printable, BytesThatAreNotUtf8AreWrittenOutOneByOne) {
  EXPECT_EQ(printable("a\x80z"), "a\\x80z");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xe2\x82\u00e9"), "\\xe2\\x82\u00e9");
}

TEST(Printable, LineBreaksAndTabsOfOurOwnMayBeKept) {
  EXPECT_EQ(printable("one\n\ttwo\x1b\r", LineBreaks::kept), "one\n\ttwo\\x1b\\r");
}

TEST(Printable, TwiceIsTheSameAsOnce) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string once = printable(all);
  EXPECT_EQ(printable(once), once);
}

TEST(Errors, AreSafeToPrintWhateverNamesTheyHold) {
  const std::string name = "\x1b]0;title\x07\n";
  EXPECT_STREQ(Error(name).what(), "\\x1b]0;title\\x07\n");
  EXPECT_STREQ(DataError("tensor " + name).what(), "tensor \\x1b]0;title\\x07\n");
  EXPECT_STREQ(NumericsError(name).what(), Error(name).what());
  EXPECT_THROW(require(false, name), UsageError);
}

TEST(Errors, ListsOfNamesStayOnOneLine) {
  const std::vector<std::string> known{"a\nb", "\x1b[2J"};
  EXPECT_EQ(listed(known), "a\\nb, \\x1b[2J");
  EXPECT_EQ(unknown_name("field", "a\nc", known), "unknown field 'a\\nc'; did you mean a\\nb? known: a\\nb, \\x1b[2J");
  FirstFew few;
  for (const std::string& one : known) few.add(one);
  EXPECT_EQ(few.text(), "a\\nb, \\x1b[2J");
}

TEST(Errors, InJsonReadBackAsTheyWere) {
  const std::string message = DataError("tensor \x1b[31m\u009b").what();
  EXPECT_EQ(parsed(Json(message).dump(), "").text(), message);
}

}  // namespace
}  // namespace addnorm
