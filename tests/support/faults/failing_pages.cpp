#include "support/faults/failing_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace addnorm::test {
namespace {

thread_local bool armed = false, failed = false;
thread_local std::size_t left = 0;

bool refused() {
  if (!armed) return false;
  if (left > 0) {
    --left;
    return false;
  }
  failed = true;
  errno = ENOMEM;
  return true;
}

}  // namespace

FailingPages::FailingPages(std::size_t first) {
  failed = false;
  left = first;
  armed = true;
}
FailingPages::~FailingPages() { armed = false; }
bool FailingPages::happened() { return failed; }

}  // namespace addnorm::test

extern "C" {

void* mmap(void* at, size_t bytes, int access, int flags, int fd, off_t offset) noexcept {
  if (fd < 0 && addnorm::test::refused()) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, access, flags, fd, offset));
}

int mprotect(void* at, size_t bytes, int access) noexcept {
  if (addnorm::test::refused()) return -1;
  return static_cast<int>(syscall(SYS_mprotect, at, bytes, access));
}

}  // extern "C"
