// Short stretches of repeated calls: the unit in which everything here is measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace addnorm::bench {

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The middle value; of an even number the lower of the two. 0 when there is none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Calls body() for about `seconds` and returns the seconds of each call, at least two.
/// The first `warm` calls (fewer when they are long) wake the threads and fill the caches; they do not count.
template <class Body>
std::vector<double> time_calls(double seconds, int warm, Body&& body) {
  double begin = now();
  for (int i = 0; i < warm && now() - begin < seconds / 2; ++i) body();
  std::vector<double> times;
  begin = now();
  double start = begin;
  while (times.size() < 2 || start - begin < seconds) {
    start = now();
    body();
    times.push_back(now() - start);
  }
  return times;
}

}  // namespace addnorm::bench
