// addnorm: dispatch only. One file per sub-command, each with one function that describes it to the program.
#include <csignal>

#include "addnorm/core/version.h"
#include "commands.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes (ulimit -f) is then an error of the write, like a full disk
  addnorm::cli::Program program("addnorm", "Residual connections and normalisation in Transformers.", addnorm::version());
  addnorm::cli::add_lab(program);
  addnorm::cli::add_depth(program);
  addnorm::cli::add_preflight(program);
  addnorm::cli::add_train(program);
  addnorm::cli::add_eval(program);
  addnorm::cli::add_generate(program);
  addnorm::cli::add_arrangements(program);
  addnorm::cli::add_bench(program);
  return program.run(argc, argv);
}
