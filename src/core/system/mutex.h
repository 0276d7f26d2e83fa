// A mutex, also for platforms without threads, whose standard library may have none.
#pragma once

#ifdef __STDCPP_THREADS__  // of the standard: a program can have several threads
#include <mutex>

namespace addnorm {
using Mutex = std::mutex;
using MutexLock = std::lock_guard<std::mutex>;
}  // namespace addnorm
#else

namespace addnorm {

struct Mutex {
  void lock() {}
  void unlock() {}
};
struct MutexLock {
  explicit MutexLock(Mutex&) {}
  ~MutexLock() {}  // else a lock would be an unused variable
};

}  // namespace addnorm
#endif
