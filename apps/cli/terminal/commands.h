// Every sub-command: each describes itself to the program and lives in a file of its name.
#pragma once

#include "cli/terminal/command.h"

namespace addnorm::cli {

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
