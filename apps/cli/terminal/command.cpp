#include "cli/terminal/command.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/value.h"
#include "core/printable.h"

namespace addnorm::cli {
namespace {

/// The line of --help for an option: "  --threads N,...   thread counts, e.g. 1,2".
std::string help_line(const CLI::Option& option, bool positional) {
  const std::string many = positional && option.get_expected_max() > 1 ? " ..." : "";
  const std::string value = option.get_type_name().empty() ? "" : " " + option.get_type_name();
  return two_columns(option.get_name(positional, !positional) + value + many, option.get_description());
}

struct HelpFormat : CLI::Formatter {
  HelpFormat() {
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
  }
  std::string make_option(const CLI::Option* option, bool positional) const override { return help_line(*option, positional); }
  std::string make_subcommand(const CLI::App* command) const override {
    return two_columns(command->get_name(), command->get_description());
  }
};

/// A complaint about an option's value, followed by what it takes.
CLI::ParseError bad_value(const CLI::Option& option, const std::string& complaint) {
  const std::string line = help_line(option, option.get_positional());
  return CLI::ValidationError(concat(option.get_name(), ": ", complaint, ". It takes:\n", line.substr(0, line.size() - 1)));
}

/// `--python --json`: the library takes whatever comes next as the value.
void refuse_option_as_value(const CLI::App& app, const CLI::Option& option, const std::string& text) {
  if (text.starts_with("-") && app.get_option_no_throw(text.substr(0, text.find('='))) != nullptr)
    throw bad_value(option, concat("a value is missing before ", text));
}

std::string with_default(const std::string& help, const std::string& value) {
  return value.empty() ? help : concat(help, " (default: ", value, ")");
}

/// "--shape" with the name of its type, "--shape ROWSxWIDTH" with its own name for the value.
struct Spelling {
  std::string names, value;
  Spelling(const std::string& given, const char* type)
      : names(given.substr(0, given.find(' '))), value(given.size() > names.size() ? given.substr(names.size() + 1) : type) {}
};

/// The library takes a text in brackets for a list and cuts it up: "[MASK]" would become "MASK". A sign is appended
/// before it parses, and removed afterwards; also to one that ends with this sign.
constexpr char kShield = '\x1f';
std::string shielded(std::string text) {
  if (text.starts_with('[') && (text.ends_with(']') || text.ends_with(kShield))) text += kShield;
  return text;
}
std::string unshielded(std::string text) {
  if (text.starts_with('[') && text.ends_with(kShield)) text.pop_back();
  return text;
}
std::vector<std::string> unshielded(std::vector<std::string> texts) {
  for (std::string& text : texts) text = unshielded(std::move(text));
  return texts;
}

/// Reads the texts given for an option into its value; a text that cannot be read is answered with the option's help.
/// All of them are taken here, so that complaints are ours.
template <class Read>
CLI::Option* add_reader(CLI::App& app, const Spelling& spelling, const std::string& help, Read read) {
  const auto self = std::make_shared<CLI::Option*>();
  *self = app.add_option(
      spelling.names,
      [&app, self, read](const CLI::results_t& shielded_texts) {
        const std::vector<std::string> given = unshielded(shielded_texts);
        for (const std::string& text : given) refuse_option_as_value(app, **self, text);
        try {
          read(given);
        } catch (const UsageError& error) {
          throw bad_value(**self, error.what());
        }
        return true;
      },
      help);
  return (*self)->type_name(spelling.value)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

template <class T>
void add_option(CLI::App& app, const std::string& name, T& value, const std::string& help) {
  std::ostringstream before;
  if constexpr (Number<T>)
    before << value;
  else
    before << std::string(value);
  add_reader(app, {name, value_name<T>}, with_default(help, before.str()), [&value](const CLI::results_t& given) {
    require(given.size() == 1, "given ", given.size(), " times");
    value = parse_value<T>(given.front());
  });
}

template <class T>
std::vector<std::string> items_of(const std::string& text) {
  return std::is_same_v<T, std::filesystem::path> ? path_items(text) : list_items(text);
}

template <class T>
void add_list(CLI::App& app, const std::string& name, std::vector<T>& values, const std::string& help) {
  const std::string several = concat(value_name<T>, ",...");
  add_reader(app, {name, several.c_str()}, help, [&values](const CLI::results_t& given) {
    values.clear();
    for (const std::string& text : given)
      for (const std::string& item : items_of<T>(text)) values.push_back(parse_value<T>(item));
  });
}

void add_to_footer(CLI::App& app, const std::string& heading, const std::string& lines) {
  const std::string before = app.get_footer();
  app.footer(concat(before, before.empty() ? "" : "\n\n", heading, ":\n", lines.substr(0, lines.size() - 1)));
}

/// The sub-command that the arguments reached, or the program itself.
const CLI::App& reached(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : reached(*chosen.front());
}

/// "addnorm lab claims": the names down to what was reached.
std::string path_to_reached(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + path_to_reached(*chosen.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional()) names.push_back(option->get_name());
  return names;
}

/// An option without its value at the end, or a flag with one. The library says which only in its text.
std::string explain_mismatch(const CLI::App& app, const std::string& text) {
  for (const CLI::Option* option : app.get_options()) {
    if (text.starts_with(option->get_name() + ":")) return bad_value(*option, "the value is missing").what();
    if (text.starts_with(option->get_single_name() + " was given")) return option->get_name() + " takes no value";
  }
  return text;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// "--n_embd=8" -> "--d-model=8". What is an option already, or none in any words, stays as it is.
std::string in_our_words(const CLI::App& app, const OtherWords& words, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (!name.starts_with("--") || app.get_option_no_throw(name) != nullptr) return argument;
  std::string ours = with_dashes(name);
  if (const auto known = words.names.find(ours); known != words.names.end()) ours = known->second;
  return app.get_option_no_throw(ours) != nullptr ? ours + argument.substr(name.size()) : argument;
}

/// "; 'tool train' has it", where another command does.
std::string who_has(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_option_no_throw(name) != nullptr)
      return concat("; '", program.get_name(), " ", command->get_name(), "' has it");
  return "";
}

std::string unknown_option(const CLI::App& program, const OtherWords& words, const std::string& name) {
  const CLI::App& app = reached(program);
  if (const auto known = words.answers.find(with_dashes(name)); known != words.answers.end())
    return concat("there is no ", name, ": ", known->second);
  std::vector<std::string> names = option_names(app);
  for (const auto& [theirs, ours] : words.names) names.push_back(theirs);
  std::string near = nearest_name(name, names);
  if (folded(name).size() == 1 && folded(near) != folded(name)) near.clear();  // every letter is one edit away from -x
  if (const auto known = words.names.find(near); known != words.names.end()) near = known->second;
  return concat("unknown option '", name, "'", near.empty() ? who_has(program, name) : concat("; did you mean ", near, "?"));
}

/// An argument that nothing took.
std::string explain_extra(const CLI::App& app, const OtherWords& words, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (name.starts_with("-")) {
    const auto names = option_names(reached(app));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return concat("option '", name, "' must stand after the command: ", app.get_name(), " ", reached(app).get_name(), " ",
                    name);
    return unknown_option(app, words, name);
  }
  if (!app.get_subcommands().empty()) return concat("unexpected argument '", name, "'");

  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  return unknown_name("command", name, commands);
}

/// The reader of the standard output has gone.
bool reader_has_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/// Why std::cout did not take everything; empty when it did.
std::string unwritten_output() {
  errno = 0;
  std::cout.flush();
  if (std::cout) return "";
  if (errno == 0) {  // an earlier write failed: what it left in the buffer fails again, and says why
    std::cout.clear();
    std::cout.flush();
  }
  return concat("the output could not be written", errno == 0 ? "" : concat(": ", std::strerror(errno)));
}

int complain(const std::string& where, const std::string& what, int code) {
  std::cerr << where << ": " << printable(what, LineBreaks::kept) << '\n';
  return code;
}

}  // namespace

void Command::option(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help)->disable_flag_override();
}
void Command::option(const std::string& name, int& value, const std::string& help) { add_option(*app_, name, value, help); }
void Command::option(const std::string& name, std::int64_t& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::option(const std::string& name, std::uint64_t& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::option(const std::string& name, float& value, const std::string& help) { add_option(*app_, name, value, help); }
void Command::option(const std::string& name, double& value, const std::string& help) { add_option(*app_, name, value, help); }
void Command::option(const std::string& name, std::string& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::option(const std::string& name, std::filesystem::path& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::option(const std::string& name, std::vector<int>& value, const std::string& help) {
  add_list(*app_, name, value, help);
}
void Command::option(const std::string& name, std::vector<std::string>& value, const std::string& help) {
  add_list(*app_, name, value, help);
}
void Command::option(const std::string& name, std::vector<std::filesystem::path>& value, const std::string& help) {
  add_list(*app_, name, value, help);
}

void Command::given(const std::string& name, const std::string& help, std::function<void(const std::string& text)> take,
                    const std::string& group, bool several) {
  const auto read = [take = std::move(take), several](const CLI::results_t& texts) {
    require(several || texts.size() == 1, "given ", texts.size(), " times");
    for (const std::string& text : texts) take(text);
  };
  CLI::Option* const option = add_reader(*app_, {name, ""}, help, read);
  if (several) option->expected(-1);  // one or more
  if (!group.empty()) option->group(group);
}
void Command::flag(const std::string& name, const std::string& help, std::function<void()> take, const std::string& group) {
  CLI::Option* const option = app_->add_flag_callback(name, std::move(take), help)->disable_flag_override();
  if (!group.empty()) option->group(group);
}

void Command::positional(const std::string& name, std::string& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::positional(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  const CLI::Validator take_off([](std::string& text) { return text = unshielded(std::move(text)), std::string(); }, "");
  app_->add_option(name, values, help)->type_name("")->transform(take_off);
}

void Command::section(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& lines) {
  std::string text;
  for (const auto& [left, right] : lines) text += two_columns(left, right);
  add_to_footer(*app_, heading, text);
}

void Command::examples(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  add_to_footer(*app_, "Examples", text);
}

void Command::run(std::function<int()> body) {
  // CLI11 calls back without a result; the exit code travels as an exception.
  app_->callback([app = app_, body = std::move(body)] {
    if (!app->get_subcommands().empty()) return;
    if (const int code = body(); code != 0) throw CLI::RuntimeError(code);
  });
}

Command Command::inside(const std::string& name, const std::string& help) {
  CLI::App* const command = app_->add_subcommand(name, help)->ignore_case()->group(help.empty() ? "" : "Commands");
  command->footer("");  // CLI11 hands down the outer one's
  app_->require_subcommand(0, 1);
  return Command(*command, *words_);
}

Program::Program(const std::string& name, const std::string& help, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->formatter(std::make_shared<HelpFormat>());
  app_->set_help_flag("-h,--help", "print this help and end");
  app_->set_version_flag("--version", name + " " + version, "print the version and end");
  app_->require_subcommand(0, 1);
}

Program::~Program() = default;

Command Program::command(const std::string& name, const std::string& help) {
  CLI::App* const command = app_->add_subcommand(name, help)->ignore_case()->ignore_underscore()->group("Commands");
  command->set_version_flag("--version", app_->version(), "print the version and end");
  return Command(*command, words_[command]);
}

int Program::run(int argc, const char* const* argv) {
  const int code = parse_and_run(argc, argv);
  const std::string problem = unwritten_output();
  if (code == 0 && !problem.empty() && reader_has_gone()) return 128 + SIGPIPE;
  return problem.empty() || code != 0 ? code : complain(app_->get_name(), problem, 1);
}

/// Options after the name of a sub-command, up to a bare "--".
std::vector<std::string> Program::in_our_words(int argc, const char* const* argv) const {
  std::vector<std::string> all(argv, argv + argc);
  const CLI::App* command = nullptr;
  for (std::size_t i = 1; i < all.size() && all[i] != "--"; ++i) {
    if (command != nullptr) all[i] = cli::in_our_words(*command, words_.at(command), all[i]);
    for (const auto& [app, words] : words_)
      if (command == nullptr && app->check_name(all[i])) command = app;
  }
  return all;
}

/// Says what was not understood, with the nearest name that would have been.
std::string Program::explain(const std::exception& error) const {
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return explain_mismatch(reached(*app_), error.what());
  const auto rest = app_->remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || rest.empty()) return error.what();
  const auto words = words_.find(&reached(*app_));
  return explain_extra(*app_, words == words_.end() ? OtherWords{} : words->second, unshielded(rest.front()));
}

int Program::parse_and_run(int argc, const char* const* argv) {
  const auto where = [this] { return path_to_reached(*app_); };
  try {
    std::vector<std::string> words = in_our_words(argc, argv);
    for (std::string& word : words) word = shielded(std::move(word));
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    app_->parse(argc, arguments.data());
    if (app_->get_subcommands().empty()) {
      std::cerr << app_->help();
      return 2;
    }
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::CallForVersion& asked) {
    const bool behind_command = argc == 3 && std::string_view(argv[2]) == "--version";
    if (argc > 2 && !behind_command)
      return complain(app_->get_name(), "--version stands alone; no other argument goes with it", 2);
    return app_->exit(asked);
  } catch (const CLI::Success& asked) {  // --help
    return app_->exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(where(), explain(error) + "\nRun '" + where() + " --help' for everything that is possible.", 2);
  } catch (const UsageError& error) {
    return complain(where(), error.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain(where(), "there is not enough memory", 1);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(where(), concat(error.path1().string(), ": ", error.code().message()), 1);
  } catch (const std::exception& error) {
    return complain(where(), error.what(), 1);
  }
}

}  // namespace addnorm::cli
