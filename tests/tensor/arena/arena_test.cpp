#include "addnorm/tensor/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "addnorm/core/rng.h"
#include "support/near.h"
#include "support/sanitizer.h"
#include "tensor/arena/pages.h"
#include "tensor/arena/scope.h"
#include "tensor/arena/size_class.h"

namespace addnorm {
namespace {

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(SizeClass, IsTheSmallestThatFitsAndWastesAtMostAnEighth) {
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 40); bytes += 1 + bytes / 97) {
    const std::size_t index = size_class_of(bytes);
    ASSERT_LT(index, kSizeClasses);
    ASSERT_GE(size_of_class(index), bytes);
    if (index > 0) {
      ASSERT_LT(size_of_class(index - 1), bytes) << "a smaller class holds " << bytes;
    }
    ASSERT_EQ(stride_of_class(index) % 64, 0u);
    ASSERT_LE(stride_of_class(index) - bytes, std::max<std::size_t>(63, bytes / 8)) << bytes << " bytes";
  }
  EXPECT_EQ(size_class_of(kLargestRequest), kSizeClasses - 1);
}

TEST(Arena, ReusesTheBlockThatWasReturnedLast) {
  void* a = arena_take(5000);
  void* b = arena_take(5000);
  arena_give_back(a, 5000);
  arena_give_back(b, 5000);
  EXPECT_EQ(arena_take(5001), b);  // the same class
  EXPECT_EQ(arena_take(4999), a);
  arena_give_back(a, 4999);
  arena_give_back(b, 5001);
}

TEST(Arena, LendsLargerFreeBlocksWhereThatIsAllowedAndPutsThemBackWhereTheyBelong) {
  constexpr std::size_t kLarge = std::size_t{37} << 20, kSmall = std::size_t{21} << 20, kTooSmall = std::size_t{5} << 20;
  void* const large = arena_take(kLarge);
  arena_give_back(large, kLarge);
  const std::size_t carved = arena_stats().bytes_carved;
  {
    const BorrowLargerBlocks borrow;
    void* const small = arena_take(kSmall);
    EXPECT_EQ(small, large);
    void* const other = arena_take(kTooSmall);
    EXPECT_EQ(arena_stats().bytes_carved, carved + stride_of_class(size_class_of(kTooSmall)));  // nothing near its size was free
    arena_give_back(other, kTooSmall);
    arena_give_back(small, kSmall);
  }
  void* const again = arena_take(kLarge);  // the whole of it, as before
  EXPECT_EQ(again, large);
  std::memset(again, 1, kLarge);
  arena_give_back(again, kLarge);
  void* const own = arena_take(kSmall);
  EXPECT_NE(own, large);
  arena_give_back(own, kSmall);
  arena_trim();
}

TEST(Arena, AlignsEveryBlockToACacheLineAndStaggersEqualOnes) {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{1} << 16, std::size_t{2} << 20, std::size_t{32} << 20}) {
    std::vector<void*> blocks(16);
    std::set<std::uintptr_t> offsets;
    for (void*& block : blocks) {
      block = arena_take(bytes);
      EXPECT_EQ(address(block) % 64, 0u);
      offsets.insert(address(block) % 4096);
    }
    EXPECT_EQ(offsets.size(), blocks.size()) << "blocks of " << bytes << " bytes start at equal offsets within a page";
    for (void* block : blocks) arena_give_back(block, bytes);
  }
}

TEST(Arena, CountsWhatIsInUseAndThePeak) {
  arena_trim();
  const ArenaStats before = arena_stats();
  {
    const Tensor a({1000});
    const Tensor b = a;  // shares
    EXPECT_EQ(arena_stats().bytes_in_use, before.bytes_in_use + 4000);
    const std::size_t large = before.peak_bytes + (std::size_t{1} << 20);
    void* memory = arena_take(large);
    EXPECT_EQ(arena_stats().peak_bytes, before.bytes_in_use + 4000 + large);
    arena_give_back(memory, large);
    EXPECT_EQ(arena_stats().peak_bytes, before.bytes_in_use + 4000 + large);
  }
  EXPECT_EQ(arena_stats().bytes_in_use, before.bytes_in_use);
}

TEST(Arena, ServesRequestsOfNoBytes) {
  void* a = arena_take(0);
  void* b = arena_take(0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  arena_give_back(a, 0);
  arena_give_back(b, 0);
  EXPECT_EQ(Tensor({3, 0}).values<float>().size(), 0u);
}

// A few hundred tensors of mixed sizes that live as in a training step: most until the way back, some only shortly.
void fake_step() {
  std::vector<Tensor> kept;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto elements = static_cast<std::size_t>(std::exp2(4.0f + 14.0f * uniform_at(RandomKey(7), i)));
    Tensor passing = Tensor::full({elements}, 1.0);
    kept.push_back(Tensor::full({elements / 2 + 1}, 2.0));
    if (i % 5 == 0) kept.push_back(passing);
  }
  while (!kept.empty()) {
    const Tensor gradient = Tensor::zeros(kept.back().shape());
    kept.pop_back();
  }
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(Arena, FromTheSecondStepOnMapsNoPageAndTakesNoPageFault) {
  fake_step();
  const ArenaStats warm = arena_stats();
  long fewest = minor_faults();
  for (int step = 0; step < 8; ++step) {
    const long before = minor_faults();
    fake_step();
    fewest = std::min(fewest, minor_faults() - before);  // something else in the process may fault now and then
    EXPECT_EQ(arena_stats().bytes_mapped, warm.bytes_mapped);
    EXPECT_EQ(arena_stats().bytes_carved, warm.bytes_carved);
  }
  if (!test::kSanitized) {
    EXPECT_EQ(fewest, 0);
  }
}

std::size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long total = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return static_cast<std::size_t>(resident) * 4096;
}

TEST(Arena, TrimGivesFreeMemoryBackAndKeepsWhatIsInUse) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::vector<Tensor> kept;
  {
    std::vector<Tensor> passing;
    for (int i = 0; i < 16; ++i) {
      passing.push_back(Tensor::full({kBytes / 16 / 4}, 1.0));
      kept.push_back(Tensor::full({100}, i));  // between the large ones: holes remain
    }
  }
  const ArenaStats before = arena_stats();
  const std::size_t resident = resident_bytes();
  arena_trim();
  EXPECT_LE(arena_stats().bytes_carved + kBytes, before.bytes_carved);
  if (!test::kSanitized) {
    EXPECT_LE(resident_bytes() + kBytes / 2, resident);
  }
  for (int i = 0; i < 16; ++i) EXPECT_EQ(kept[static_cast<std::size_t>(i)].values<float>()[99], static_cast<float>(i));
  const ArenaStats trimmed = arena_stats();
  const Tensor again = Tensor::full({kBytes / 16 / 4}, 3.0);  // taken from a hole
  EXPECT_EQ(arena_stats().bytes_mapped, trimmed.bytes_mapped);
  kept.clear();
  for (int i = 0; i < 3; ++i) arena_trim();  // twice in a row, and with nothing to give
  EXPECT_EQ(again.values<float>()[77], 3.0f);
}

TEST(ArenaPages, ARangeInWhichNothingIsLeftIsUnmappedWithoutMarks) {
  ArenaPages pages;
  bool is_zero = false;
  char* block = pages.carve(4096, is_zero);
  ASSERT_NE(block, nullptr);
  EXPECT_GT(pages.bytes_accessible(), 0u);
  pages.give_back({{block, block + 4096}});
  EXPECT_EQ(pages.bytes_accessible(), 0u);
#ifdef ADDNORM_ASAN
  EXPECT_FALSE(__asan_address_is_poisoned(block)) << "the next owner of this address must not inherit our marks";
#endif
}

TEST(ArenaPages, SayThatMemoryIsZeroOnlyWhereNobodyWrote) {
  ArenaPages pages;
  bool is_zero = false;
  const auto carve = [&](std::size_t bytes) {
    char* block = pages.carve(bytes, is_zero);
    unpoison(block, bytes);
    if (is_zero) {
      EXPECT_EQ(std::count(block, block + bytes, '\0'), static_cast<std::ptrdiff_t>(bytes));
    }
    std::memset(block, 1, bytes);
    return PageSpan{block, block + bytes};
  };
  const PageSpan first = carve(4096), second = carve(8192);
  EXPECT_TRUE(is_zero);
  pages.give_back({second});  // the top sinks, and what was written stays
  carve(4096);
  EXPECT_FALSE(is_zero);
  carve(8192);  // half of it was written to
  EXPECT_FALSE(is_zero);
  const PageSpan large = carve(std::size_t{32} << 20);
  EXPECT_TRUE(is_zero);
  pages.give_back({large});  // whole huge pages of it are mapped anew
  carve(std::size_t{4} << 20);
  EXPECT_FALSE(is_zero) << "it begins in a page that was written to";
  carve(4096);
  EXPECT_TRUE(is_zero);
  pages.give_back({first});
  carve(4096);
  EXPECT_FALSE(is_zero) << "a hole";
}

TEST(Arena, ZeroedMemoryIsZeroWhereverItComesFrom) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{5000}, std::size_t{3} << 20}) {
    for (int turn = 0; turn < 3; ++turn) {
      auto* memory = static_cast<char*>(arena_take_zeroed(bytes));
      EXPECT_EQ(std::count(memory, memory + bytes, '\0'), static_cast<std::ptrdiff_t>(bytes));
      std::memset(memory, 7, bytes);
      arena_give_back(memory, bytes);
      if (turn == 1) arena_trim();
    }
  }
}

TEST(Arena, IsSafeToUseFromManyThreads) {
  const std::size_t in_use = arena_stats().bytes_in_use;
  std::vector<std::thread> threads;
  for (std::uint64_t id = 0; id < 4; ++id)
    threads.emplace_back([id] {
      std::vector<Tensor> held;
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const auto size = 1 + static_cast<std::size_t>(5000.0f * uniform_at(RandomKey(id), i));
        held.push_back(Tensor::full({size}, static_cast<double>(id)));
        if (held.size() > 20) {
          const Tensor& oldest = held.front();
          for (const float v : oldest.values<float>()) ASSERT_EQ(v, static_cast<float>(id));
          held.erase(held.begin());
        }
        if (i % 500 == 0) arena_trim();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena_stats().bytes_in_use, in_use);
}

TEST(Arena, SaysWhatWasNeededWhenThereIsNoMemory) {
  const std::size_t in_use = arena_stats().bytes_in_use;
  EXPECT_TRUE(test::throws_saying<Error>([] { Tensor t({std::size_t{1} << 42}); }, {"needs 16 TiB"}));
  EXPECT_TRUE(test::throws_saying<Error>([] { Tensor t({std::size_t{1} << 50}); }, {"needs 4 PiB"}));
  EXPECT_TRUE(test::throws_saying<Error>([] { Tensor t({(std::size_t{1} << 62) - 1}); }, {"needs 16 EiB"}));
  EXPECT_TRUE(test::throws_saying<Error>([] { arena_take(SIZE_MAX); }, {"no more"}));
  EXPECT_EQ(arena_stats().bytes_in_use, in_use);
}

// Three turns of another size each: free blocks must find their way back. Then more than is left. 42: as expected.
int use_a_gibibyte_of_address_space() {
  const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
  setrlimit(RLIMIT_AS, &limit);
  for (std::size_t turn = 0; turn < 3; ++turn) {
    std::vector<Tensor> held;
    for (int i = 0; i < 20; ++i) {
      held.emplace_back(Shape{(6 + turn) << 20});
      held.back().data<float>()[i] = 1.0f;
    }
  }
  try {
    Tensor t({std::size_t{1} << 28});
  } catch (const Error&) {
    return 42;
  }
  return 1;
}

TEST(ArenaDeathTest, WorksWithinALimitedAddressSpace) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need the address space themselves";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(use_a_gibibyte_of_address_space()), testing::ExitedWithCode(42), "");
}

TEST(ArenaScope, RefusesToReadATensorThatOutlivedIt) {
  Tensor outside({4}), survivor, nested, kept;
  {
    const ArenaScope step;
    survivor = Tensor::full({4}, 7.0);
    EXPECT_EQ(survivor.values<float>()[3], 7.0f);
    EXPECT_EQ(step.bytes_alive(), 16u);
    {
      const ArenaScope inner;
      nested = Tensor::full({1}, 1.0);
      EXPECT_EQ(inner.bytes_alive(), 4u);
    }
    {
      const OutsideArenaScopes stays;
      kept = Tensor::full({4}, 5.0);
    }
    EXPECT_EQ(step.bytes_alive(), 16u);
    std::ranges::copy(survivor.values<float>(), outside.data<float>());
  }
  EXPECT_EQ(outside.values<float>()[0], 7.0f);
  EXPECT_EQ(kept.values<float>()[0], 5.0f);
  for (const Tensor& gone : {survivor, nested, survivor.reshape({2, 2})}) {
    EXPECT_TRUE(test::throws_saying<UsageError>([&] { gone.data<float>(); }, {"ArenaScope", "ended"}));
    EXPECT_TRUE(test::throws_saying<UsageError>([&] { gone.clone(); }, {"ArenaScope"}));
  }
}

TEST(ArenaScope, MayEndInAnyOrderAndTensorsBelongToTheInnermostThatIsOpen) {
  auto outer = std::make_unique<ArenaScope>();
  auto inner = std::make_unique<ArenaScope>();
  const Tensor of_inner = Tensor::full({4}, 1.0);
  outer.reset();
  EXPECT_EQ(of_inner.values<float>()[0], 1.0f) << "its own scope is open";
  const Tensor also_of_inner = Tensor::full({4}, 2.0);
  EXPECT_EQ(inner->bytes_alive(), 32u);
  inner.reset();
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { also_of_inner.data<float>(); }, {"ArenaScope", "ended"}));
  EXPECT_EQ(Tensor::full({4}, 3.0).values<float>()[0], 3.0f) << "no scope is open";
}

TEST(ArenaScope, MayEndInsideOrAfterAStretchOutsideOfScopes) {
  auto step = std::make_unique<ArenaScope>();
  auto outside = std::make_unique<OutsideArenaScopes>();
  step.reset();
  EXPECT_EQ(Tensor::full({4}, 3.0).values<float>()[0], 3.0f);
  outside.reset();
  EXPECT_EQ(Tensor::full({4}, 4.0).values<float>()[0], 4.0f) << "the interrupted scope is over";

  outside = std::make_unique<OutsideArenaScopes>();
  step = std::make_unique<ArenaScope>();
  outside.reset();
  const Tensor made = Tensor::full({4}, 5.0);
  EXPECT_EQ(step->bytes_alive(), 16u);
  step.reset();
  EXPECT_EQ(Tensor::full({4}, 6.0).values<float>()[0], 6.0f);
}

TEST(ArenaScope, MayEndOnAnotherThread) {
  auto step = std::make_unique<ArenaScope>();
  std::thread([&step] {
    const ArenaScope its_own;
    const Tensor made = Tensor::full({4}, 1.0);
    step.reset();
    EXPECT_EQ(made.values<float>()[0], 1.0f);
    EXPECT_EQ(its_own.bytes_alive(), 16u);
  }).join();
  EXPECT_EQ(Tensor::full({4}, 2.0).values<float>()[0], 2.0f);
}

TEST(ArenaScope, ThoseEndedElsewhereUnderAnOpenOneLeaveWithTheNextOneOpened) {
  auto first = std::make_unique<ArenaScope>();
  const std::weak_ptr<ArenaScope::Record> record = current_arena_scope();
  const ArenaScope second;
  std::thread([&first] { first.reset(); }).join();
  const ArenaScope third;
  EXPECT_TRUE(record.expired());
}

TEST(ArenaScope, NeverHandsTheMemoryOfASurvivorToAnother) {
  Tensor survivor;
  const float* memory = nullptr;
  {
    const ArenaScope step;
    survivor = Tensor::full({64}, 7.0);
    memory = survivor.data<float>();
  }
  std::vector<Tensor> others;
  for (int i = 0; i < 100; ++i) others.push_back(Tensor::full({64}, 1.0));
  EXPECT_EQ(memory[63], 7.0f);
}

#ifdef ADDNORM_TEST_ASAN
TEST(ArenaDeathTest, AddressSanitizerSeesOverrunsAndUseAfterRelease) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Tensor t = Tensor::zeros({5});
  volatile float* p = t.data<float>();
  EXPECT_DEATH(p[5] = 1.0f, "use-after-poison");
  EXPECT_DEATH(p[15] = 1.0f, "use-after-poison");  // the rest of the block
  t = Tensor();
  EXPECT_DEATH(p[0] = 1.0f, "use-after-poison");
}
#endif

}  // namespace
}  // namespace addnorm
