// Runs a body with several thread counts, so that a test can demand the same bits from all of them.
#pragma once

#include <gtest/gtest.h>

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

/// A program of thousands of tiny calls, which would mostly wake threads, runs on one:
///   const auto* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);
class OneThread : public testing::Environment {
 public:
  void SetUp() override { set_threads(1); }
};

}  // namespace addnorm::test
