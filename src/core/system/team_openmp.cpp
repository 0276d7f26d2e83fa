// Threads of OpenMP: one pool for us and for oneDNN.
#include <omp.h>

#include "core/system/team.h"

namespace addnorm::team {

int offered() { return omp_get_max_threads(); }
bool inside() { return omp_in_parallel() != 0; }

void run_blocks(int threads, std::size_t blocks, detail::BlockBody body, void* context) {
  const auto count = static_cast<std::ptrdiff_t>(blocks);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::ptrdiff_t block = 0; block < count; ++block) body(context, static_cast<std::size_t>(block));
}

void run_tasks(int threads, std::size_t tasks, detail::TaskBody body, void* context) {
  const auto count = static_cast<std::ptrdiff_t>(tasks);
#pragma omp parallel num_threads(threads)
  {
    const auto worker = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(monotonic : dynamic, 1)
    for (std::ptrdiff_t task = 0; task < count; ++task) body(context, static_cast<std::size_t>(task), worker);
  }
}

}  // namespace addnorm::team
