// Address space by mmap, in huge pages where there are any.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

#include "tensor/arena/system.h"

namespace addnorm::system_memory {

const bool kOpensZeros = true;

// Address space alone costs nothing. Where it is limited (ulimit -v), a quarter at a time: others need some too, and many small
// ranges waste their ends.
std::size_t wish() {
  constexpr std::size_t kWide = std::size_t{64} << 30;
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min(kWide, limit.rlim_cur / 4 / kBoundary * kBoundary) : kWide;
}

// Linux grants more than it has and kills the process when the pages are touched; an error now is better than that.
bool can_hold(std::size_t bytes) {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return true;
  return bytes / info.mem_unit <= info.totalram + info.totalswap;
}

// Private memory without access is not charged against the system's limit; mprotect charges what becomes accessible. Huge pages
// are a hint: without them everything works, slower.
char* reserve(std::size_t bytes) {
  void* mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  madvise(mapping, bytes, MADV_HUGEPAGE);
  return static_cast<char*>(mapping);
}

bool release(char* reserved, std::size_t bytes) { return munmap(reserved, bytes) == 0; }

bool open(char* begin, std::size_t bytes) { return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0; }

bool close(char* begin, std::size_t bytes) {
  if (mmap(begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
  madvise(begin, bytes, MADV_HUGEPAGE);
  return true;
}

void discard(char* begin, std::size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); }

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace addnorm::system_memory
