// N-01 of docs/testing.md: means x deviations x widths x row counts, every allowed pair of two factors' values at least once.
#pragma once

#include <array>
#include <cstddef>
#include <set>
#include <tuple>
#include <vector>

namespace addnorm::test {

inline constexpr std::array kMeans{0.0, 1.0, 1e2, 1e3, 1e4, 1e5, 1e6, -1e4};
inline constexpr std::array kDeviations{1.0, 0.01, 1e-4};
inline constexpr std::array<std::size_t, 22> kWidths{1,   2,   3,   7,   8,   15,  16,   17,   31,   33,   64,
                                                     127, 128, 129, 255, 257, 768, 1023, 1025, 4096, 4099, 32768};
inline constexpr std::array<std::size_t, 9> kRowCounts{0, 1, 2, 3, 63, 64, 65, 1000, 65537};

/// Indices into the four lists above.
struct NormChoice {
  std::size_t mean, deviation, width, rows;
  std::size_t elements() const { return kWidths[width] * kRowCounts[rows]; }
};

/// (factor, value, other factor, value).
using ValuePair = std::tuple<int, std::size_t, int, std::size_t>;
std::set<ValuePair> pairs_of(const std::vector<NormChoice>& choices);

std::vector<NormChoice> allowed_choices(std::size_t most_elements);
/// Greedy: always the choice with the most pairs not seen yet, the smallest of equals.
std::vector<NormChoice> pairwise_choices(std::size_t most_elements);

/// Runs the choices on every instruction set, layer and RMS norm, forward and backward, against the oracle.
void expect_grid_exact(std::size_t most_elements);

}  // namespace addnorm::test
