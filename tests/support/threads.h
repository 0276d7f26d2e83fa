// Runs a body with several thread counts, so that a test can demand the same bits from all of them.
#pragma once

#include <gtest/gtest.h>

#include "addnorm/core/parallel.h"

namespace addnorm::test {

/// The number of threads is again that from before when this goes.
struct RestoreThreads {
  ~RestoreThreads() { set_threads(before); }
  int before = threads();
};

/// body() with 1, 2, 3, 4 and 7 threads; the count from before is restored.
template <class Body>
void with_every_thread_count(Body&& body) {
  const RestoreThreads restore;
  for (const int count : {1, 2, 3, 4, 7}) {
    set_threads(count);
    body();
  }
}

/// A program of thousands of tiny calls, which would mostly wake threads, runs on one:
///   const auto* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);
class OneThread : public testing::Environment {
 public:
  void SetUp() override { set_threads(1); }
};

}  // namespace addnorm::test
