// What every sub-command gets from the program: its arguments, exit codes, and answers to what was mistyped.
#include "command.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "addnorm/core/error.h"

namespace addnorm::cli {
namespace {

struct Options {
  std::vector<std::string> groups;
  std::vector<int> threads;
  std::int64_t steps = 7;
  std::string name;
  bool json = false;
};

/// What a program with the commands `measure` and `train` made of a command line.
struct Outcome {
  int code = -1;
  std::string out, err;
  Options options;
};

Outcome run(
    std::vector<const char*> arguments, const std::function<int()>& body = [] { return 0; },
    std::streambuf* stdout_buffer = nullptr) {
  Outcome outcome;
  Options& o = outcome.options;
  Program program("tool", "a tool", "1.2");
  Command measure = program.command("measure", "measures");
  measure.positional("groups", o.groups, "what to measure");
  measure.option("--threads", o.threads, "thread counts");
  measure.option("--steps", o.steps, "how many");
  measure.option("-n,--name", o.name, "a name");
  measure.option("--json", o.json, "as JSON");
  measure.example("tool measure all");
  measure.run(body);
  program.command("train", "trains").run([] { return 0; });

  std::ostringstream out, err;
  std::streambuf* const real_out = std::cout.rdbuf(stdout_buffer ? stdout_buffer : out.rdbuf());
  std::streambuf* const real_err = std::cerr.rdbuf(err.rdbuf());
  arguments.insert(arguments.begin(), "tool");
  outcome.code = program.run(static_cast<int>(arguments.size()), arguments.data());
  std::cout.rdbuf(real_out);
  std::cerr.rdbuf(real_err);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

testing::AssertionResult says(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos) return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
  return testing::AssertionSuccess();
}

TEST(Command, AListTakesOneArgumentAndLeavesTheNextToThePositionalOnes) {
  const Outcome o = run({"measure", "--threads", "0", "machine"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.options.threads, (std::vector{0}));
  EXPECT_EQ(o.options.groups, (std::vector<std::string>{"machine"}));
}

TEST(Command, AListIsGivenWithCommasOrOneByOne) {
  EXPECT_EQ(run({"measure", "--threads", "1,2,3"}).options.threads, (std::vector{1, 2, 3}));
  EXPECT_EQ(run({"measure", "--threads=1,2"}).options.threads, (std::vector{1, 2}));
  EXPECT_EQ(run({"measure", "--threads", "1", "--threads", "2"}).options.threads, (std::vector{1, 2}));
}

TEST(Command, PositionalArgumentsAndOptionsMayBeMixed) {
  const Outcome o = run({"measure", "a", "--json", "b", "--steps", "9", "c"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.options.groups, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(o.options.json);
  EXPECT_EQ(o.options.steps, 9);
}

TEST(Command, AnUnknownOptionIsAnsweredWithTheNearestOneAndTheList) {
  for (const char* typed : {"--thread", "--thread=2", "--treads"}) {
    const Outcome o = run({"measure", typed});
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(says(o.err, {"tool measure: unknown option '--t", "did you mean --threads?", "--json", "--name", "--help"}));
  }
  EXPECT_TRUE(says(run({"measure", "--json", "--stepz", "3"}).err, {"unknown option '--stepz'", "did you mean --steps?"}));
  EXPECT_TRUE(says(run({"measure", "-x"}).err, {"unknown option '-x'", "--threads"}));
  const Outcome before = run({"--jsn", "measure"});
  EXPECT_EQ(before.code, 2);
  EXPECT_TRUE(says(before.err, {"'--jsn'"}));
}

TEST(Command, AnOptionBeforeItsCommandIsToldWhereItGoes) {
  const Outcome o = run({"--threads", "1", "measure"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"'--threads' must stand after the command", "tool measure --threads"}));
}

TEST(Command, AnUnknownCommandIsAnsweredWithTheNearestOneAndTheList) {
  const Outcome o = run({"mesure"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"tool: unknown command 'mesure'", "did you mean measure?", "train", "tool --help"}));
  EXPECT_EQ(o.out, "");
}

TEST(Command, AnOptionWithoutItsValueIsNamed) {
  for (const char* option : {"--steps", "--threads", "--name"}) {
    const Outcome o = run({"measure", option});
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(says(o.err, {"tool measure: ", option}));
  }
}

TEST(Command, AValueThatIsNoNumberIsNamedWithItsOption) {
  for (const char* option : {"--steps", "--threads"}) {
    const Outcome o = run({"measure", option, "x"});
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(says(o.err, {"tool measure: ", option, "x"}));
  }
}

TEST(Program, ErrorsOfUseEndWithTwoAndOthersWithOneAndBothWithALineOnStderr) {
  const Outcome usage = run({"measure"}, []() -> int { throw UsageError("no such thing"); });
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.err, "tool measure: no such thing\n");
  const Outcome data = run({"measure"}, []() -> int { throw DataError("file.bin: is broken"); });
  EXPECT_EQ(data.code, 1);
  EXPECT_EQ(data.err, "tool measure: file.bin: is broken\n");
  EXPECT_EQ(run({"measure"}, []() -> int { throw std::bad_alloc(); }).code, 1);
}

TEST(Program, PassesOnTheExitCodeOfTheCommand) {
  EXPECT_EQ(run({"measure"}, [] { return 0; }).code, 0);
  EXPECT_EQ(run({"measure"}, [] { return 5; }).code, 5);
}

TEST(Program, PrintsHelpAndVersionToStdoutAndWithoutArgumentsHelpToStderr) {
  EXPECT_EQ(run({"--version"}).out, "tool 1.2\n");
  const Outcome help = run({"measure", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(says(help.out, {"--threads", "thread counts", "tool measure all"}));
  const Outcome nothing = run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(says(nothing.err, {"measure", "train"}));
}

/// Takes nothing, as a full disk.
struct Full : std::streambuf {
  int_type overflow(int_type) override { return traits_type::eof(); }
};

TEST(Program, AnOutputThatCannotBeWrittenEndsWithOne) {
  Full full;
  for (const bool by_command : {true, false}) {
    const Outcome o = by_command ? run(
                                       {"measure"}, [] { return std::cout << "result\n", 0; }, &full)
                                 : run({"--version"}, {}, &full);
    std::cout.clear();
    EXPECT_EQ(o.code, 1);
    EXPECT_TRUE(says(o.err, {"the output could not be written"}));
  }
}

}  // namespace
}  // namespace addnorm::cli
