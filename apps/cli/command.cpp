#include "command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm::cli {
namespace {

template <class T>
void add_option(CLI::App& app, const std::string& name, T& value, const std::string& help) {
  app.add_option(name, value, help)->capture_default_str();
}

/// One argument per mention: `--threads 1 machine` must leave `machine` to the positional arguments.
template <class T>
void add_list(CLI::App& app, const std::string& name, std::vector<T>& values, const std::string& help) {
  app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->capture_default_str();
}

/// The sub-command that the arguments reached, or the program itself.
const CLI::App& reached(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional()) names.push_back(option->get_name());
  return names;
}

/// Says what was not understood, with the nearest name that would have been.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto rest = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || rest.empty()) return error.what();
  const std::string name = rest.front().substr(0, rest.front().find('='));
  if (name.starts_with("-")) {
    const auto names = option_names(reached(app));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return concat("option '", name, "' must stand after the command: ", app.get_name(), " ", reached(app).get_name(), " ",
                    name);
    return unknown_name("option", name, names);
  }
  if (!app.get_subcommands().empty()) return concat("unexpected argument '", name, "'");

  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  return unknown_name("command", name, commands);
}

int complain(const std::string& where, const std::string& what, int code) {
  std::cerr << where << ": " << what << '\n';
  return code;
}

}  // namespace

void Command::option(const std::string& name, bool& value, const std::string& help) { app_->add_flag(name, value, help); }
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

void Command::positional(const std::string& name, std::string& value, const std::string& help) {
  add_option(*app_, name, value, help);
}
void Command::positional(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help);
}

void Command::example(const std::string& line) {
  const std::string before = app_->get_footer();
  app_->footer((before.empty() ? "Examples:" : before) + "\n  " + line);
}

void Command::run(std::function<int()> body) {
  // CLI11 calls back without a result; the exit code travels as an exception of its own kind.
  app_->callback([body = std::move(body)] {
    if (const int code = body(); code != 0) throw CLI::RuntimeError(code);
  });
}

Program::Program(const std::string& name, const std::string& help, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->set_version_flag("--version", name + " " + version, "print the version and end");
  app_->require_subcommand(0, 1);
}

Program::~Program() = default;

Command Program::command(const std::string& name, const std::string& help) {
  return Command(*app_->add_subcommand(name, help)->ignore_case()->ignore_underscore());
}

int Program::run(int argc, const char* const* argv) {
  const int code = parse_and_run(argc, argv);
  std::cout.flush();
  if (!std::cout && code == 0) return complain(app_->get_name(), "the output could not be written", 1);
  return code;
}

int Program::parse_and_run(int argc, const char* const* argv) {
  const auto where = [this] {
    const CLI::App& app = reached(*app_);
    return &app == app_.get() ? app.get_name() : app_->get_name() + " " + app.get_name();
  };
  try {
    app_->parse(argc, argv);
    if (app_->get_subcommands().empty()) {
      std::cerr << app_->help();
      return 2;
    }
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::Success& asked) {  // --help, --version
    return app_->exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(where(), explain(*app_, error) + "\nRun '" + where() + " --help' for what is possible.", 2);
  } catch (const UsageError& error) {
    return complain(where(), error.what(), 2);
  } catch (const std::exception& error) {
    return complain(where(), error.what(), 1);
  }
}

}  // namespace addnorm::cli
