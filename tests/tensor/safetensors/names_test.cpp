// The order of names against that of std::sort: lengths, common beginnings and bytes at which comparing by pieces could go wrong.
#include "tensor/safetensors/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace addnorm::safetensors {
namespace {

using Names = std::vector<std::string>;

/// Sorts, compares with std::sort, and finds every name and none beside them.
void expect_sorted(const Names& names) {
  const auto name = [&](std::uint32_t i) { return std::string_view(names[i]); };
  NameOrder order;
  ASSERT_EQ(order.sort(names.size(), name), std::nullopt);
  Names sorted = names;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < names.size(); ++i) ASSERT_EQ(names[order[i]], sorted[i]) << "at place " << i;
  for (std::uint32_t i = 0; i < names.size(); ++i) ASSERT_EQ(order.find(names[i], name), i);
  for (const std::string& other : names) {
    const std::string longer = other + '\0';
    ASSERT_EQ(order.find(longer, name).has_value(), std::ranges::binary_search(sorted, longer));
  }
}

/// Names of few different bytes and of 0 to 40 of them, most with one of a few beginnings; none twice.
Names random_names(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % n; };
  const auto bytes = [&](std::size_t count) {
    std::string out;
    while (out.size() < count)
      out += std::string_view(
          "a\0\xff"
          "b",
          4)[below(4)];
    return out;
  };
  const std::string beginnings[] = {"", bytes(6), bytes(7), bytes(8), bytes(30)};
  std::set<std::string> names;
  for (std::size_t i = 1 + below(200); i > 0; --i) names.insert(beginnings[below(5)] + bytes(below(11)));
  Names out(names.begin(), names.end());
  std::ranges::shuffle(out, random);
  return out;
}

TEST(SafetensorsNames, AreInTheOrderOfTheirBytes) {
  expect_sorted({});
  expect_sorted({""});
  expect_sorted({"layers.10.w", "layers.9.w", "head.w", "layers.1.w", "layers.10.b"});
  for (unsigned seed = 0; seed < 500; ++seed) expect_sorted(random_names(seed));
}

TEST(SafetensorsNames, ThatBeginEachOtherAreSortedByLength) {
  Names names;  // every key parts a few from the rest: more levels than are gone down
  for (std::size_t i = 0; i < 1000; ++i) names.push_back(std::string((i * 271) % 1000 * 4, 'a'));
  expect_sorted(names);
}

TEST(SafetensorsNames, GivenTwiceAreReportedTheLeastFirst) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Names names = random_names(seed);
    const std::string least = *std::ranges::min_element(names), other = names.back();
    names.push_back(other);
    names.push_back(least);
    NameOrder order;
    const auto twice = order.sort(names.size(), [&](std::uint32_t i) { return std::string_view(names[i]); });
    ASSERT_TRUE(twice.has_value());
    ASSERT_EQ(names[*twice], least);
    names.pop_back();
    ASSERT_EQ(names[order.sort(names.size(), [&](std::uint32_t i) { return std::string_view(names[i]); }).value()], other);
  }
}

}  // namespace
}  // namespace addnorm::safetensors
