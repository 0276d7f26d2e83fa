// What a sub-command sees of the command line. Only command.cpp includes CLI11: its headers cost ten seconds a file.
//
//   void add_bench(Program& program) {  // apps/cli/bench.cpp
//     const auto o = std::make_shared<bench::Options>();
//     Command command = program.command("bench", "kernels against this machine's limits");
//     command.positional("groups", o->groups, "what to measure");
//     command.option("--threads", o->threads, "thread counts, e.g. 1,2");
//     command.examples({"addnorm bench add-norm --threads 2"});
//     command.run([o] { ...; return 0; });  // 0 done, 1 failed, 2 bad usage
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace addnorm::cli {

/// Words that people bring along from other programs. No --help shows them.
struct OtherWords {
  std::map<std::string, std::string> names{};    ///< "--learning-rate" -> "--lr"
  std::map<std::string, std::string> answers{};  ///< "--epochs" -> what to do instead
};

/// One sub-command. Values are bound by reference and must live until the program has run; what they hold before is the
/// default that --help shows.
class Command {
 public:
  Command(CLI::App& app, OtherWords& words) : app_(&app), words_(&words) {}

  /// "--threads" or "-t,--threads"; "--shape ROWSxWIDTH,..." says what --help shows for the value. A bool is a flag without
  /// value; a vector is given as a,b,c, or one by one with the option repeated. A value that cannot be read is answered with
  /// `help`, which should hold an example.
  void option(const std::string& name, bool& value, const std::string& help);
  void option(const std::string& name, int& value, const std::string& help);
  void option(const std::string& name, std::int64_t& value, const std::string& help);
  void option(const std::string& name, std::uint64_t& value, const std::string& help);
  void option(const std::string& name, float& value, const std::string& help);
  void option(const std::string& name, double& value, const std::string& help);
  void option(const std::string& name, std::string& value, const std::string& help);
  void option(const std::string& name, std::filesystem::path& value, const std::string& help);
  void option(const std::string& name, std::vector<int>& value, const std::string& help);
  void option(const std::string& name, std::vector<std::string>& value, const std::string& help);
  /// A value that as a whole names a file or folder is one path, commas and all.
  void option(const std::string& name, std::vector<std::filesystem::path>& value, const std::string& help);

  /// An option that is only noted when it is given, and read by its owner: `take` gets the text ("" for a flag). A UsageError
  /// from it is answered with the help. Options of one `group` stand together in --help under that heading.
  /// `several`: one after the other (--data *.txt), and the option may be repeated; `take` gets each.
  void given(const std::string& name, const std::string& help, std::function<void(const std::string& text)> take,
             const std::string& group = "", bool several = false);
  void flag(const std::string& name, const std::string& help, std::function<void()> take, const std::string& group = "");

  /// Another name of an option, understood like its own; so are underscores in place of dashes, in every option.
  void also_named(const std::string& theirs, const std::string& ours) { words_->names[theirs] = ours; }
  /// The answer to an option that does not exist.
  void answer(const std::string& name, const std::string& text) { words_->answers[name] = text; }

  /// Arguments without a dash, in the order of the calls; optional.
  void positional(const std::string& name, std::string& value, const std::string& help);
  void positional(const std::string& name, std::vector<std::string>& values, const std::string& help);

  /// Shown at the end of --help, in the order of the calls.
  void section(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& lines);
  void examples(const std::vector<std::string>& lines);

  void run(std::function<int()> body);  ///< called after parsing, when this sub-command was given, and none inside it

  /// A command inside this one: `addnorm lab claims`. It understands the same other words. Without help it is left out of --help.
  Command inside(const std::string& name, const std::string& help);

 private:
  CLI::App* app_;
  OtherWords* words_;
};

/// The tool: sub-commands, and the same ends for all of them.
class Program {
 public:
  Program(const std::string& name, const std::string& help, const std::string& version);
  ~Program();

  Command command(const std::string& name, const std::string& help);

  /// Parses, runs the sub-command and returns the exit code: what its body returned; 2 with a line on stderr for bad
  /// usage (UsageError included); 1 with a line on stderr for any other error, also when std::cout did not take what was
  /// written to it (a full disk); 141 in silence when the reader of the output has gone (head), as if SIGPIPE had ended it.
  int run(int argc, const char* const* argv);

 private:
  int parse_and_run(int argc, const char* const* argv);
  std::vector<std::string> in_our_words(int argc, const char* const* argv) const;
  std::string explain(const std::exception& error) const;

  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::App*, OtherWords> words_;  ///< of each sub-command
};

// Every sub-command: each describes itself to the program and lives in a file of its name.
void add_arrangements(Program& program);
void add_bench(Program& program);
void add_depth(Program& program);
void add_embed(Program& program);
void add_eval(Program& program);
void add_generate(Program& program);
void add_lab(Program& program);
void add_preflight(Program& program);
void add_report(Program& program);
void add_train(Program& program);
void add_xray(Program& program);

}  // namespace addnorm::cli
