// What every sub-command gets from the program: its arguments, exit codes, and answers to what was mistyped.
#include "cli/terminal/command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <sstream>

#include "addnorm/core/error.h"
#include "cli/in_process.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {
namespace {

using test::says;

struct Options {
  std::vector<std::string> groups, shapes;
  std::vector<int> threads;
  std::int64_t steps = 7;
  double rate = 0.5;
  std::uint64_t seed = 1;
  std::string name;
  bool json = false, dry_run = false;
};

/// What a program with the commands `measure` and `train` made of a command line.
struct Measured : test::Outcome {
  Options options;
};

Measured run(
    std::vector<const char*> arguments, const std::function<int()>& body = [] { return 0; },
    std::streambuf* stdout_buffer = nullptr) {
  Measured measured;
  Options& o = measured.options;
  Program program("tool", "a tool", "1.2");
  Command measure = program.command("measure", "measures");
  measure.positional("groups", o.groups, "what to measure");
  measure.option("--threads", o.threads, "thread counts, e.g. 1,2");
  measure.option("--shape ROWSxWIDTH,...", o.shapes, "shapes, e.g. 2x3");
  measure.option("--steps", o.steps, "how many");
  measure.option("--rate", o.rate, "how fast");
  measure.option("--seed", o.seed, "where to begin");
  measure.option("-n,--name", o.name, "a name");
  measure.option("--json", o.json, "as JSON");
  measure.option("--dry-run", o.dry_run, "only say what would be measured");
  measure.also_named("--learning-rate", "--rate");
  measure.answer("--num-epochs", "--steps counts updates");
  measure.section("Groups", {{"all", "everything"}});
  measure.examples({"tool measure all", "tool measure some"});
  measure.run(body);
  Command train = program.command("train", "trains");
  train.run([] { return 0; });
  Command again = train.inside("again", "trains again");
  again.option("--steps", o.steps, "how many");
  again.run([] { return 5; });
  train.inside("secretly", "").run([] { return 6; });

  static_cast<test::Outcome&>(measured) = test::outcome_of(program, std::move(arguments), stdout_buffer);
  return measured;
}

TEST(Command, MayStandInsideAnother) {
  EXPECT_EQ(run({"train"}).code, 0);
  const Measured inside = run({"train", "again", "--steps", "3"});
  EXPECT_EQ(inside.code, 5);
  EXPECT_EQ(inside.options.steps, 3);
  EXPECT_EQ(run({"train", "secretly"}).code, 6);
  EXPECT_TRUE(says(run({"train", "--help"}).out, {"again", "trains again"}));
  EXPECT_FALSE(says(run({"train", "--help"}).out, {"secretly"}));
  const Measured wrong = run({"train", "again", "--stepz", "3"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(says(wrong.err, {"tool train again: ", "did you mean --steps?"}));
}

TEST(Command, AListTakesOneArgumentAndLeavesTheNextToThePositionalOnes) {
  const Measured o = run({"measure", "--threads", "0", "machine"});
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
  const Measured o = run({"measure", "a", "--json", "b", "--steps", "9", "c"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.options.groups, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(o.options.json);
  EXPECT_EQ(o.options.steps, 9);
}

TEST(Command, AnUnknownOptionIsAnsweredWithTheNearestOneAndTheWayToTheHelp) {
  for (const char* typed : {"--thread", "--thread=2", "--treads"}) {
    const Measured o = run({"measure", typed});
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(says(o.err, {"tool measure: unknown option '--t", "; did you mean --threads?\nRun 'tool measure --help'"}));
    EXPECT_EQ(std::ranges::count(o.err, '\n'), 2) << o.err;
  }
  EXPECT_TRUE(says(run({"measure", "--json", "--stepz", "3"}).err, {"unknown option '--stepz'", "did you mean --steps?"}));
  EXPECT_TRUE(says(run({"train", "--threads", "1"}).err, {"unknown option '--threads'; 'tool measure' has it\n"}));
  EXPECT_TRUE(says(run({"measure", "--xyzzy"}).err, {"unknown option '--xyzzy'\nRun 'tool measure --help'"}));
  const Measured before = run({"--jsn", "measure"});
  EXPECT_EQ(before.code, 2);
  EXPECT_TRUE(says(before.err, {"'--jsn'"}));
}

TEST(Command, WordsOfOtherProgramsAndUnderscoresAreUnderstoodAndNotInTheHelp) {
  for (const char* typed : {"--rate=2", "--learning-rate=2", "--learning_rate=2"}) {
    const Measured o = run({"measure", typed});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.options.rate, 2) << typed;
  }
  EXPECT_EQ(run({"measure", "--dry_run"}).options.dry_run, true);
  EXPECT_EQ(run({"measure", "--name=--learning_rate"}).options.name, "--learning_rate");
  EXPECT_EQ(run({"measure", "--", "--learning_rate"}).options.groups, (std::vector<std::string>{"--learning_rate"}));
  EXPECT_TRUE(says(run({"measure", "--lerning-rate", "2"}).err, {"did you mean --rate?"}));
  EXPECT_TRUE(says(run({"measure", "--learning-rate", "x"}).err, {"--rate: 'x' is not a number"}));
  EXPECT_TRUE(says(run({"measure", "--rate", "1", "--learning-rate", "2"}).err, {"--rate: given 2 times"}));
  const Measured epochs = run({"measure", "--num_epochs", "3"});
  EXPECT_EQ(epochs.code, 2);
  EXPECT_TRUE(says(epochs.err, {"there is no --num_epochs: --steps counts updates\n"}));
  const std::string help = run({"measure", "--help"}).out;
  EXPECT_EQ(help.find("learning"), std::string::npos) << help;
  EXPECT_EQ(help.find("epochs"), std::string::npos) << help;
}

TEST(Command, AnOptionBeforeItsCommandIsRefusedWithItsPlace) {
  const Measured o = run({"--threads", "1", "measure"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"'--threads' must stand after the command", "tool measure --threads"}));
}

TEST(Command, AnUnknownCommandIsAnsweredWithTheNearestOneAndTheList) {
  const Measured o = run({"mesure"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"tool: unknown command 'mesure'", "did you mean measure?", "train", "tool --help"}));
  EXPECT_EQ(o.out, "");
}

TEST(Command, AnOptionWithoutItsValueIsAnsweredWithWhatItTakes) {
  for (const std::vector<const char*>& typed : {std::vector{"measure", "--threads"}, {"measure", "--threads", "--json"}}) {
    const Measured o = run(typed);
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(says(o.err, {"tool measure: --threads: ", "value is missing", "--threads N,...", "thread counts, e.g. 1,2"}));
  }
  EXPECT_TRUE(says(run({"measure", "--name"}).err, {"--name: the value is missing", "-n,--name TEXT", "a name"}));
  EXPECT_TRUE(says(run({"measure", "--name", ""}).err, {"--name: the value is empty"}));
  EXPECT_EQ(run({"measure", "--name", "train"}).options.name, "train");  // also the name of a command
  EXPECT_EQ(run({"measure", "--steps", "-3"}).options.steps, -3);
}

TEST(Command, AValueThatIsNotOfItsKindIsRefusedWithWhatIsAllowed) {
  const struct {
    const char *option, *value, *said;
  } cases[] = {{"--steps", "x", "'x' is not a whole number"},
               {"--steps", "1.5", "'1.5' is not a whole number"},
               {"--steps", "9223372036854775808", "'9223372036854775808' is too large"},
               {"--seed", "-1", "'-1' is not a whole number from 0 on"},
               {"--rate", "1.5x", "'1.5x' is not a number"},
               {"--rate", "nan", "'nan' is not a finite number"},
               {"--rate", "inf", "'inf' is not a finite number"},
               {"--rate", "+-1", "'+-1' is not a number"},
               {"--steps", "++5", "'++5' is not a whole number"},
               {"--steps", "+", "'+' is not a whole number"},
               {"--threads", "x", "'x' is not a whole number"},
               {"--threads", "1,x", "'x' is not a whole number"},
               {"--threads", "1,,2", "'1,,2' has a comma too many"},
               {"--threads", "1,", "'1,' has a comma too many"},
               {"--threads", ",1", "',1' has a comma too many"},
               {"--threads", "", "the value is empty"},
               {"--shape", "2x3,", "'2x3,' has a comma too many"}};
  for (const auto& [option, value, said] : cases) {
    const Measured o = run({"measure", option, value});
    EXPECT_EQ(o.code, 2) << option << ' ' << value;
    EXPECT_TRUE(
        says(o.err, {concat("tool measure: ", option, ": ", said), concat("It takes:\n  ", option), "tool measure --help"}));
  }
}

TEST(Command, ANumberMayHaveOnePlusSign) {
  EXPECT_EQ(run({"measure", "--steps", "+5"}).options.steps, 5);
  EXPECT_EQ(run({"measure", "--seed", "+5"}).options.seed, 5u);
  EXPECT_EQ(run({"measure", "--rate", "+2.5"}).options.rate, 2.5);
  EXPECT_EQ(run({"measure", "--threads", "+1,2"}).options.threads, (std::vector{1, 2}));
}

TEST(Command, AValueMayBeGivenOnlyOnce) {
  const Measured o = run({"measure", "--steps", "1", "--steps", "2"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"--steps: given 2 times"}));
}

TEST(Command, AFlagTakesNoValue) {
  const Measured o = run({"measure", "--json=3"});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o.err, {"tool measure: --json takes no value"}));
}

TEST(Command, HelpNamesValuesDefaultsSectionsAndExamples) {
  const Measured help = run({"measure", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(says(
      help.out, {"\n  --threads N,...     thread counts, e.g. 1,2\n", "\n  --shape ROWSxWIDTH,...\n", "how many (default: 7)\n",
                 "how fast (default: 0.5)\n", "\n  -n,--name TEXT ", "\n  --json              as JSON\n",
                 "\nGroups:\n  all                 everything\n", "\nExamples:\n  tool measure all\n  tool measure some\n"}));
}

TEST(Layout, LongTextIsWrappedInItsColumn) {
  std::string text = "word";
  for (int i = 0; i < 50; ++i) text += " word";
  const std::string lines = two_columns("--name", text);
  EXPECT_TRUE(lines.starts_with("  --name              word word")) << lines;
  EXPECT_TRUE(says(lines, {"word\n                      word"}));
  std::istringstream each(lines);
  for (std::string line; std::getline(each, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Program, ErrorsOfUseEndWithTwoAndOthersWithOneAndBothWithALineOnStderr) {
  const Measured usage = run({"measure"}, []() -> int { throw UsageError("no such thing"); });
  EXPECT_EQ(usage.code, 2);
  EXPECT_EQ(usage.err, "tool measure: no such thing\n");
  const Measured data = run({"measure"}, []() -> int { throw DataError("file.bin: is broken"); });
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
  EXPECT_EQ(run({"measure", "--version"}).out, "tool 1.2\n");
  EXPECT_TRUE(says(run({"--help"}).out, {"measure", "train"}));
  const Measured nothing = run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(says(nothing.err, {"measure", "train"}));
}

TEST(Program, VersionStandsAlone) {
  for (const char* more : {"extra", "measure", "--help"}) {
    const Measured o = run({"--version", more});
    EXPECT_EQ(o.code, 2) << more;
    EXPECT_EQ(o.out, "") << more;
    EXPECT_TRUE(says(o.err, {"tool: --version stands alone"}));
  }
}

/// Takes nothing, as a full disk.
struct Full : std::streambuf {
  int_type overflow(int_type) override { return fail(); }
  int sync() override { return fail(); }
  static int fail() {
    errno = ENOSPC;
    return traits_type::eof();
  }
};

TEST(Program, AnOutputThatCannotBeWrittenEndsWithOneAndTheReasonOfTheSystem) {
  Full full;
  for (const bool by_command : {true, false}) {
    const Measured o = by_command ? run(
                                        {"measure"}, [] { return std::cout << "result\n", 0; }, &full)
                                  : run({"--version"}, {}, &full);
    std::cout.clear();
    EXPECT_EQ(o.code, 1);
    EXPECT_TRUE(says(o.err, {"the output could not be written: No space left on device"}));
  }
}

}  // namespace
}  // namespace addnorm::cli
