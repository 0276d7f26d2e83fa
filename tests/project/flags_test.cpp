// Arithmetic means what the source says: no fast-math, and a product and a sum are fused only where a kernel asks for it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace addnorm {
namespace {

static_assert(__FINITE_MATH_ONLY__ == 0, "with -ffinite-math-only isnan(x) folds to false");

volatile float zero = 0;

TEST(Flags, KeepNanInfinityAndTheSignOfZero) {
  const float nan = zero / zero;
  EXPECT_TRUE(std::isnan(nan));
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(std::isinf(1.0f / zero));
  EXPECT_TRUE(std::signbit(-zero + -zero));
}

TEST(Flags, KeepDenormals) {
  volatile float smallest = std::numeric_limits<float>::min();
  EXPECT_GT(smallest / 2.0f, 0.0f);
}

TEST(Flags, DoNotReorderSums) {
  volatile float large = 0x1p24f;
  EXPECT_EQ((large + 1.0f) - large, 0.0f);
}

#if defined(__x86_64__) && defined(__GNUC__)
/// The compiler may use fused multiply-add here; -ffp-contract=off must keep it from doing so.
__attribute__((target("fma"), noinline)) float product_minus(float a, float b, float c) { return a * b - c; }

TEST(Flags, DoNotFuseAProductWithASum) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "skipped: this CPU has no fused multiply-add";
  volatile float a = 1.0f + 0x1p-12f;  // a * a = 1 + 2^-11 + 2^-24: the last bit is lost in a rounded product
  const float rounded = a * a;
  EXPECT_EQ(product_minus(a, a, rounded), 0.0f);
  EXPECT_NE(std::fma(a, a, -rounded), 0.0f);
}
#endif

/// Each line of compile_commands.json that compiles one of our library's sources.
template <class Check>
int for_each_library_command(Check check) {
  std::ifstream file(ADDNORM_COMPILE_COMMANDS);
  int seen = 0;
  for (std::string line; std::getline(file, line);)
    if (line.find("\"command\"") != std::string::npos && line.find(ADDNORM_SOURCE_DIR "/src/") != std::string::npos) {
      check(line);
      ++seen;
    }
  return seen;
}

TEST(Flags, OfEveryLibrarySourcePinContractionAndHaveNoFastMath) {
  const int seen = for_each_library_command([](const std::string& command) {
    EXPECT_NE(command.find("-ffp-contract=off"), std::string::npos) << command;
    for (const char* forbidden : {"-ffast-math", "-Ofast", "-funsafe-math", "-ffinite-math", "-fassociative-math",
                                  "-freciprocal-math", "-march=native", "-fno-signed-zeros"})
      EXPECT_EQ(command.find(forbidden), std::string::npos) << forbidden << " in " << command;
  });
  EXPECT_GE(seen, 10) << "compile_commands.json does not list the library";
}

}  // namespace
}  // namespace addnorm
