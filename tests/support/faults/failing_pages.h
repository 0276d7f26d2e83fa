// A system that has no more pages. Linked with failing_pages.cpp, which stands in place of mmap and mprotect.
#pragma once

#include <cstddef>

namespace addnorm::test {

/// While it lives, this thread gets no memory from mmap (files are mapped as ever) and mprotect: from call number `first` on,
/// counted from 0, all are refused (ENOMEM).
class FailingPages {
 public:
  explicit FailingPages(std::size_t first = 0);
  ~FailingPages();
  FailingPages(const FailingPages&) = delete;
  FailingPages& operator=(const FailingPages&) = delete;
  static bool happened();  ///< for the last one that lived
};

}  // namespace addnorm::test
