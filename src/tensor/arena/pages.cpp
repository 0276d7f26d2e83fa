#include "tensor/arena/pages.h"

#include <algorithm>
#include <cstdint>

#include "addnorm/core/checked.h"
#include "tensor/arena/size_class.h"
#include "tensor/arena/system.h"

namespace addnorm {
namespace {

constexpr std::size_t kHugePage = system_memory::kBoundary;
constexpr std::size_t kAccessStep = std::size_t{16} << 20;  // made accessible at a time
constexpr std::size_t kLargestOffset = 64 * kCacheLine;

char* align_up(char* p, std::size_t step) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (step - address % step) % step;
}
char* align_down(char* p, std::size_t step) { return p - reinterpret_cast<std::uintptr_t>(p) % step; }

}  // namespace

char* ArenaPages::carve(std::size_t bytes, bool& is_zero) {
  is_zero = false;
  if (char* hole = carve_hole(bytes)) return hole;
  for (Range& range : ranges_)
    if (range.room() >= bytes)
      if (char* memory = carve_range(range, bytes, is_zero)) return memory;
  if (!system_memory::can_hold(bytes_accessible() + bytes) || !reserve(bytes)) return nullptr;
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
    if (!system_memory::can_hold(bytes_accessible() + more)) return nullptr;
    if (!system_memory::open(range.accessible, more)) return nullptr;
    poison(range.accessible, more);
    range.accessible += more;
  }
  char* memory = range.top;
  range.top += bytes;
  is_zero = system_memory::kOpensZeros && memory >= range.unused;
  range.unused = std::max(range.unused, range.top);
  return memory;
}

bool ArenaPages::reserve(std::size_t bytes) {
  const auto needed = checked_round_up(bytes + kHugePage + kLargestOffset, kHugePage);  // the start is aligned, then shifted
  if (!needed) return false;
  std::size_t size = std::max(*needed, system_memory::wish());
  for (; size > *needed; size = std::max(*needed, size / 2))
    if (try_reserve(size)) return true;
  return try_reserve(*needed);
}

bool ArenaPages::try_reserve(std::size_t bytes) {
  ranges_.reserve(ranges_.size() + 1);
  char* const start = system_memory::reserve(bytes);
  if (start == nullptr) return false;
  char* begin = align_up(start, kHugePage);
  char* first = begin + (1 + ranges_.size()) * 25 * kCacheLine % kLargestOffset;
  const Range range{
      .mapping = start, .begin = begin, .first = first, .top = first, .unused = begin, .accessible = begin, .end = start + bytes};
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
  const std::size_t page = system_memory::page();
  for (const PageSpan& hole : holes_) {
    char* begin = align_up(hole.begin, page);
    char* end = align_down(hole.end, page);
    if (begin < end) system_memory::discard(begin, static_cast<std::size_t>(end - begin));
  }
}

// The next owner of these addresses must not inherit our marks.
bool ArenaPages::unmap(const Range& range) {
  const auto marked = static_cast<std::size_t>(range.accessible - range.begin);
  unpoison(range.begin, marked);
  if (system_memory::release(range.mapping, static_cast<std::size_t>(range.end - range.mapping))) return true;
  poison(range.begin, marked);
  return false;
}

// Beyond the huge page in which the top lies, everything becomes reserved address space again.
void ArenaPages::lower_top(Range& range) {
  char* keep = std::min(align_up(range.top, kHugePage), range.accessible);
  const auto bytes = static_cast<std::size_t>(range.accessible - keep);
  if (bytes == 0) return;
  if (!system_memory::close(keep, bytes)) return;
  unpoison(keep, bytes);  // no longer ours to mark until it is made accessible again
  range.accessible = keep;
  range.unused = std::min(range.unused, keep);  // mapped anew
}

std::size_t ArenaPages::bytes_accessible() const {
  std::size_t total = 0;
  for (const Range& range : ranges_) total += static_cast<std::size_t>(range.accessible - range.begin);
  return total;
}

}  // namespace addnorm
