// addnorm bench: kernels against this machine's limits and against PyTorch and oneDNN.
#include "bench/bench.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "cli/terminal/command.h"
#include "cli/train/options.h"

namespace addnorm::cli {
namespace {

/// --python, else what the launcher says, else where scripts/peers puts it in the repository around the current folder.
std::string peer_python(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* said = std::getenv("ADDNORM_PEERS_PYTHON"); said != nullptr && *said != '\0') return said;
  std::error_code gone;
  return bench::installed_python(std::filesystem::current_path(gone)).string();
}

/// For those who change the bench on a machine without bf16; bench/README.md.
bool bf16_anyway() {
  const char* said = std::getenv("ADDNORM_BENCH_BF16");
  return said != nullptr && std::string_view(said) == "emulate";
}

std::vector<std::pair<std::string, std::string>> groups_and_shapes() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const std::string& group : bench::group_names()) {
    std::string shapes;
    for (const std::string& shape : bench::shape_names(group)) shapes += (shapes.empty() ? "" : " ") + shape;
    lines.emplace_back(group, shapes.empty() ? "the limits of this machine alone; the others measure them too" : shapes);
  }
  return lines;
}

}  // namespace

void add_bench(Program& program) {
  const auto o = std::make_shared<bench::Options>();
  Command command = program.command("bench", "kernels and training steps against this machine's limits, PyTorch and oneDNN");
  command.positional("groups", o->groups, "what to measure, see below (default: all kernels)");
  command.option("--threads", o->threads, "thread counts, e.g. 1,2 (default: 1 and, where there are several cores, 2)");
  command.option("--shape SHAPE,...", o->shapes, "only these shapes, e.g. 2048x384,4096x64; --help lists them");
  command.option("--python PATH", o->python, "interpreter that has PyTorch, e.g. .venv/bin/python (default: of scripts/peers)");
  command.option("--init NAME", o->init, "train-step, decode: how weights start; 'addnorm arrangements --inits' lists the rules");
  command.option("--quick", o->quick, "fewer rounds and no torch.compile: a first look");
  command.option("--json", o->json, "one JSON object on stdout; bench/README.md describes it");
  command.section(
      "Groups and their shapes (rows x width; tokens x inputs x outputs; batch x heads x length x d_head; A, B, C: "
      "models, bench/README.md)",
      groups_and_shapes());
  command.examples({"addnorm bench", "addnorm bench add-norm --shape 2048x384 --threads 2",
                    "addnorm bench gemm attention --json > bench.json", "addnorm bench train-step --shape A"});
  command.run([o] {
    o->python = peer_python(o->python);
    o->bf16_anyway = bf16_anyway();
    o->words = option_word;
    const bench::Report report = bench::run(*o, std::cerr);
    (o->json ? bench::print_json : bench::print_table)(report, std::cout);
    return 0;
  });
}

}  // namespace addnorm::cli
