// Runs a body with several thread counts, so that a test can demand the same bits from all of them.
#pragma once

#include "addnorm/core/parallel.h"

namespace addnorm::test {

/// body() with 1, 2, 3, 4 and 7 threads; the count from before is restored.
template <class Body>
void with_every_thread_count(Body&& body) {
  const int before = threads();
  for (const int count : {1, 2, 3, 4, 7}) {
    set_threads(count);
    body();
  }
  set_threads(before);
}

}  // namespace addnorm::test
