// addnorm: dispatch only. One file per sub-command, each with one function that describes it to the program.
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "addnorm/core/denormals.h"
#include "addnorm/core/version.h"
#include "cli/terminal/command.h"

namespace {

/// Threads that wait for each other spin for a moment, then sleep. GCC's OpenMP spins for some 15 ms, during which the thread
/// that is waited for may have no processor: beside other programs that is ten times slower. It reads the variable before main,
/// so the program starts itself again. Not for bench, which compares with PyTorch as it is.
void sleep_soon_when_waiting(int argc, char** argv) {
  const bool is_bench = argc > 1 && std::string_view(argv[1]) == "bench";
  if (is_bench || std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0 || setenv("GOMP_SPINCOUNT", "1000", 0) != 0) return;
  execv(path.data(), argv);  // comes back only where it fails: then it is slower beside others, and that is all
}

/// Where the gradient vanishes, a step on denormal numbers takes ten times as long.
bool trains_models(std::string_view command) {
  return command == "train" || command == "preflight" || command == "depth" || command == "lab";
}

}  // namespace

int main(int argc, char** argv) {
  sleep_soon_when_waiting(argc, argv);
  if (argc > 1 && trains_models(argv[1])) addnorm::flush_denormals();  // before there are threads
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes (ulimit -f) is then an error of the write, like a full disk
  addnorm::cli::Program program("addnorm", "Residual connections and normalisation in Transformers.", addnorm::version());
  addnorm::cli::add_lab(program);
  addnorm::cli::add_depth(program);
  addnorm::cli::add_preflight(program);
  addnorm::cli::add_train(program);
  addnorm::cli::add_eval(program);
  addnorm::cli::add_generate(program);
  addnorm::cli::add_embed(program);
  addnorm::cli::add_xray(program);
  addnorm::cli::add_arrangements(program);
  addnorm::cli::add_report(program);
  addnorm::cli::add_bench(program);
  return program.run(argc, argv);
}
