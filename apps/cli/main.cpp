// addnorm: dispatch only. One file per sub-command.
#include <CLI/CLI.hpp>

#include "addnorm/core/version.h"

int main(int argc, char** argv) {
  CLI::App app("addnorm: will this Transformer train, and if not, which layer stops it");
  app.set_version_flag("--version", addnorm::version());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}
