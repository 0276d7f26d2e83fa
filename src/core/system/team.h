// The threads that loops run on. One source file for each way of having threads; ADDNORM_THREADS chooses (cmake/platform.cmake).
#pragma once

#include "addnorm/core/parallel.h"

namespace addnorm::team {

int offered();  ///< how many threads the system offers, at least 1
bool inside();  ///< whether the caller already runs in one of the two loops below

/// body for every block, each thread taking one run of consecutive blocks; at most `threads` of them.
void run_blocks(int threads, std::size_t blocks, detail::BlockBody body, void* context);
/// body for every task, handed out in order to whichever worker is free; worker < threads.
void run_tasks(int threads, std::size_t tasks, detail::TaskBody body, void* context);

}  // namespace addnorm::team
