// No threads: everything runs on the caller's. For platforms that have none.
#include "core/system/team.h"

namespace addnorm::team {

int offered() { return 1; }
bool inside() { return false; }

void run_blocks(int, std::size_t blocks, detail::BlockBody body, void* context) {
  for (std::size_t block = 0; block < blocks; ++block) body(context, block);
}

void run_tasks(int, std::size_t tasks, detail::TaskBody body, void* context) {
  for (std::size_t task = 0; task < tasks; ++task) body(context, task, 0);
}

}  // namespace addnorm::team
