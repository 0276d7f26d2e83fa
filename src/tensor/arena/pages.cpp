#include "tensor/arena/pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "addnorm/core/checked.h"
#include "tensor/arena/poison.h"
#include "tensor/arena/size_class.h"

namespace addnorm {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kAccessStep = std::size_t{16} << 20;       // made accessible at a time
constexpr std::size_t kWideReservation = std::size_t{64} << 30;  // address space alone costs nothing
constexpr std::size_t kLargestOffset = 64 * kCacheLine;

char* align_up(char* p, std::size_t step) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (step - address % step) % step;
}
char* align_down(char* p, std::size_t step) { return p - reinterpret_cast<std::uintptr_t>(p) % step; }

// Where address space is limited (ulimit -v), a quarter at a time: others need some too, and many small ranges waste their ends.
std::size_t reservation_wish() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min(kWideReservation, limit.rlim_cur / 4 / kHugePage * kHugePage) : kWideReservation;
}

// Linux grants more than it has and kills the process when the pages are touched; an error now is better than that.
bool machine_can_hold(std::size_t bytes) {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return true;
  return bytes / info.mem_unit <= info.totalram + info.totalswap;
}

}  // namespace

char* ArenaPages::carve(std::size_t bytes, bool& is_zero) {
  is_zero = false;
  if (char* hole = carve_hole(bytes)) return hole;
  for (Range& range : ranges_)
    if (range.room() >= bytes)
      if (char* memory = carve_range(range, bytes, is_zero)) return memory;
  if (!machine_can_hold(bytes_accessible() + bytes) || !reserve(bytes)) return nullptr;
  return carve_range(ranges_.back(), bytes, is_zero);
}

char* ArenaPages::carve_hole(std::size_t bytes) {
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole)
    if (hole->size() >= bytes && (best == holes_.end() || hole->size() < best->size())) best = hole;
  if (best == holes_.end()) return nullptr;
  char* memory = best->begin;
  best->begin += bytes;
  if (best->begin == best->end) holes_.erase(best);
  return memory;
}

char* ArenaPages::carve_range(Range& range, std::size_t bytes, bool& is_zero) {
  if (range.accessible - range.top < static_cast<std::ptrdiff_t>(bytes)) {
    const auto missing = static_cast<std::size_t>(range.top + bytes - range.accessible);
    const auto reserved = static_cast<std::size_t>(range.end - range.accessible);
    const auto rounded = checked_round_up(missing, kAccessStep);
    const std::size_t more = std::min(rounded.value_or(reserved), reserved);
    if (!machine_can_hold(bytes_accessible() + more)) return nullptr;
    if (mprotect(range.accessible, more, PROT_READ | PROT_WRITE) != 0) return nullptr;
    poison(range.accessible, more);
    range.accessible += more;
  }
  char* memory = range.top;
  range.top += bytes;
  is_zero = memory >= range.unused;
  range.unused = std::max(range.unused, range.top);
  return memory;
}

bool ArenaPages::reserve(std::size_t bytes) {
  const auto needed = checked_round_up(bytes + kHugePage + kLargestOffset, kHugePage);  // the start is aligned, then shifted
  if (!needed) return false;
  std::size_t size = std::max(*needed, reservation_wish());
  for (; size > *needed; size = std::max(*needed, size / 2))
    if (try_reserve(size)) return true;
  return try_reserve(*needed);
}

bool ArenaPages::try_reserve(std::size_t bytes) {
  ranges_.reserve(ranges_.size() + 1);
  // Private memory without access is not charged against the system's limit; mprotect charges what becomes accessible.
  void* mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return false;
  char* start = static_cast<char*>(mapping);
  char* begin = align_up(start, kHugePage);
  char* first = begin + (1 + ranges_.size()) * 25 * kCacheLine % kLargestOffset;
  const Range range{
      .mapping = start, .begin = begin, .first = first, .top = first, .unused = begin, .accessible = begin, .end = start + bytes};
  madvise(begin, static_cast<std::size_t>(range.end - begin), MADV_HUGEPAGE);  // a wish: without it everything works, slower
  ranges_.push_back(range);
  return true;
}

void ArenaPages::give_back(std::vector<PageSpan> spans) {
  spans.insert(spans.end(), holes_.begin(), holes_.end());
  holes_.reserve(spans.size());
  std::ranges::sort(spans, {}, &PageSpan::begin);
  holes_.clear();
  for (Range& range : ranges_) {
    const auto first = holes_.size();
    for (const PageSpan& span : spans) {
      if (span.begin < range.begin || span.begin >= range.end) continue;
      if (holes_.size() > first && holes_.back().end == span.begin)
        holes_.back().end = span.end;
      else
        holes_.push_back(span);
    }
    if (holes_.size() > first && holes_.back().end == range.top) {
      range.top = holes_.back().begin;
      holes_.pop_back();
    }
    lower_top(range);
  }
  std::erase_if(ranges_, [](const Range& range) { return range.top == range.first && unmap(range); });
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const PageSpan& hole : holes_) {
    char* begin = align_up(hole.begin, page);
    char* end = align_down(hole.end, page);
    if (begin < end) madvise(begin, static_cast<std::size_t>(end - begin), MADV_DONTNEED);
  }
}

// Whoever gets these addresses next must not inherit our marks.
bool ArenaPages::unmap(const Range& range) {
  const auto marked = static_cast<std::size_t>(range.accessible - range.begin);
  unpoison(range.begin, marked);
  if (munmap(range.mapping, static_cast<std::size_t>(range.end - range.mapping)) == 0) return true;
  poison(range.begin, marked);
  return false;
}

// Beyond the huge page in which the top lies, everything becomes reserved address space again.
void ArenaPages::lower_top(Range& range) {
  char* keep = std::min(align_up(range.top, kHugePage), range.accessible);
  const auto bytes = static_cast<std::size_t>(range.accessible - keep);
  if (bytes == 0) return;
  if (mmap(keep, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return;
  unpoison(keep, bytes);  // no longer ours to mark until it is made accessible again
  madvise(keep, bytes, MADV_HUGEPAGE);
  range.accessible = keep;
  range.unused = std::min(range.unused, keep);  // mapped anew
}

std::size_t ArenaPages::bytes_accessible() const {
  std::size_t total = 0;
  for (const Range& range : ranges_) total += static_cast<std::size_t>(range.accessible - range.begin);
  return total;
}

}  // namespace addnorm
