// operator new that fails at one allocation of many. Linked with failing_new.cpp, which replaces it.
#pragma once

#include <cstddef>
#include <new>

namespace addnorm::test {

/// While it lives, allocation number `number` of this thread, counted from 0 on, throws std::bad_alloc; all others succeed.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::size_t number);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  static bool happened();  ///< for the last one that lived
};

/// body() with allocation 0, 1, 2, ... failing, until it makes fewer; check() after each. What else than std::bad_alloc and our
/// own errors comes out of body() is passed on. Returns how many allocations there were.
template <class Caught, class Body, class Check>
std::size_t with_every_allocation_failing(Body&& body, Check&& check) {
  for (std::size_t number = 0;; ++number) {
    try {
      const FailingAllocation failing(number);
      body();
    } catch (const std::bad_alloc&) {
    } catch (const Caught&) {  // an error that was being reported without memory, or reported in another way
    }
    check();
    if (!FailingAllocation::happened()) return number;
  }
}

}  // namespace addnorm::test
