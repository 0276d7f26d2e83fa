// Values: conversions, S-41 of docs/testing.md, and the real files of the test data.
#include <cmath>
#include <limits>

#include "support/data.h"
#include "tensor/half.h"
#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

using SafetensorsValues = Safetensors;

// By the definition of binary16, in double: independent of the bit tricks of the code.
double value_of_f16(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double mantissa = static_cast<double>(bits & 1023);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

std::string all_halves() {
  std::string data;
  for (unsigned bits = 0; bits < 65536; ++bits) data.append({static_cast<char>(bits & 255), static_cast<char>(bits >> 8)});
  return data;
}

TEST_F(SafetensorsValues, EveryF16BecomesExactlyItsFloat32) {
  const Tensor t = open(framed("{\"h\":" + entry("\"F16\"", "[256,256]", "[0,131072]") + "}", all_halves())).read("h");
  ASSERT_EQ(t.shape(), (Shape{256, 256}));
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float got = t.values<float>()[bits];
    const double want = value_of_f16(bits);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got) >> 13 & 1023u, bits & 1023u) << "the payload of a NaN";
    } else {
      ASSERT_EQ(static_cast<double>(got), want);
    }
    ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0);
  }
}

TEST_F(SafetensorsValues, EveryBf16BecomesExactlyItsFloat32) {
  const Tensor t = open(framed("{\"h\":" + entry("\"BF16\"", "[65536]", "[0,131072]") + "}", all_halves())).read("h");
  for (unsigned bits = 0; bits < 65536; ++bits) ASSERT_EQ(std::bit_cast<std::uint32_t>(t.values<float>()[bits]), bits << 16);
}

TEST_F(SafetensorsValues, EveryHalfComesBackFromItsFloat32) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_f16(from_f16(half)), half);
    ASSERT_EQ(to_bf16(from_bf16(half)), half);
  }
}

TEST_F(SafetensorsValues, OtherFloatsBecomeTheNearestHalfOfTwoTheEvenOne) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {  // every gap between neighbours, up to infinity
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const float a = from_f16(low), b = bits + 1 == 0x7c00 ? 65536.0f : from_f16(high), middle = a + (b - a) / 2;
    ASSERT_EQ(to_f16(middle), bits % 2 == 0 ? low : high);
    ASSERT_EQ(to_f16(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(to_f16(-std::nextafter(middle, 1e9f)), high | 0x8000);
  }
  EXPECT_EQ(to_f16(1e9f), 0x7c00);
  EXPECT_EQ(to_bf16(1.00390625f), 0x3f80);  // half way: even
  EXPECT_EQ(to_bf16(std::nextafter(1.00390625f, 2.0f)), 0x3f81);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);  // beyond the largest: infinity
  const float quiet = std::bit_cast<float>(0x7f800001u);          // a NaN whose payload does not fit
  EXPECT_EQ(to_bf16(quiet), 0x7fc0);
  EXPECT_EQ(to_f16(quiet), 0x7e00);
}

TEST_F(SafetensorsValues, BytesOfAnyTypeAreReadAndWrittenAsTheyAre) {
  const std::vector<std::byte> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{200}, std::byte{5}, std::byte{6}};
  SafetensorsWriter writer;
  writer.add_bytes("halves", "F16", {3}, bytes);
  writer.add_bytes("small", "F8_E5M2", {2, 3}, bytes);
  EXPECT_THROW(writer.add_bytes("none", "F16", {2}, bytes), UsageError);
  EXPECT_THROW(writer.add_bytes("none", "F128", {3}, bytes), UsageError);
  EXPECT_THROW(writer.add_bytes("none", "F4", {12}, bytes), UsageError);
  writer.save(file());
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.info("small").dtype, "F8_E5M2");
  EXPECT_EQ(reader.read_bytes("small"), bytes);
  EXPECT_EQ(reader.read_bytes("halves"), bytes);
  std::vector<float> part(2);
  reader.read_into("halves", 1, part);
  EXPECT_EQ(part[0], reader.read("halves").values<float>()[1]);
  EXPECT_THROW(reader.read_into("halves", 2, part), UsageError);
  EXPECT_THROW(reader.read_into("small", 0, part), DataError);
}

TEST_F(SafetensorsValues, LongHalvesAreReadInBlocks) {
  constexpr std::size_t kCount = 300'001;  // more than one block, and not a whole number of them
  std::string data(2 * kCount, '\0');
  for (std::size_t i = 0; i < kCount; ++i) data[2 * i + 1] = static_cast<char>(0x3c + i % 4);  // 1, 1.25.. in steps
  const Tensor t =
      open(framed("{\"h\":" + entry("\"F16\"", concat("[", kCount, "]"), concat("[0,", 2 * kCount, "]")) + "}", data)).read("h");
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(t.values<float>()[i], from_f16(static_cast<std::uint16_t>((0x3c + i % 4) << 8)));
}

TEST_F(SafetensorsValues, ST41_CountsWhatIsNotFiniteAndLoadsIt) {
  SafetensorsWriter writer;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  writer.add("bad", Tensor::of({6}, {nan, inf, -inf, 1e-40f, 0.0f, -nan}));
  writer.add("good", Tensor::of({2}, {1.0f, -0.0f}));
  Tensor wide = Tensor::full({100'000}, 1.0, DType::f64);
  wide.data<double>()[99'999] = std::numeric_limits<double>::infinity();
  writer.add("wide", wide);
  writer.save(file());
  const SafetensorsReader reader(file());
  const ValueCounts bad = reader.count_values("bad");
  EXPECT_EQ(bad.nan, 2u);
  EXPECT_EQ(bad.infinite, 2u);
  EXPECT_EQ(bad.subnormal, 1u);
  EXPECT_FALSE(bad.all_finite());
  EXPECT_TRUE(reader.count_values("good").all_finite());
  EXPECT_EQ(reader.count_values("wide").infinite, 1u);
  EXPECT_SAME_BITS(reader.read("bad").values<float>(), Tensor::of({6}, {nan, inf, -inf, 1e-40f, 0.0f, -nan}).values<float>());
  const SafetensorsReader halves = open(framed(
      "{\"f\":" + entry("\"F16\"", "[65536]", "[0,131072]") + ",\"b\":" + entry("\"BF16\"", "[65536]", "[131072,262144]") + "}",
      all_halves() + all_halves()));
  EXPECT_EQ(halves.count_values("f").nan, 2u * 1023);
  EXPECT_EQ(halves.count_values("f").infinite, 2u);
  EXPECT_EQ(halves.count_values("f").subnormal, 0u);  // float32 holds them as normal numbers
  EXPECT_EQ(halves.count_values("b").nan, 2u * 127);
  EXPECT_EQ(halves.count_values("b").subnormal, 2u * 127);
}

TEST_F(SafetensorsValues, NarrowIntegersAreWidenedWithTheirSign) {
  struct Case {
    const char* type;
    std::size_t bytes;
    std::int64_t first;  // of the bytes ff..ff, then 01 00..
  };
  for (const Case& c : {Case{"I64", 8, -1},
                        {"I32", 4, -1},
                        {"I16", 2, -1},
                        {"I8", 1, -1},
                        {"U32", 4, 4294967295},
                        {"U16", 2, 65535},
                        {"U8", 1, 255}}) {
    const std::string data = std::string(c.bytes, '\xff') + "\1" + std::string(c.bytes - 1, '\0');
    const std::string json = concat("{\"i\":", entry(concat('"', c.type, '"'), "[2]", concat("[0,", 2 * c.bytes, "]")), "}");
    EXPECT_EQ(open(framed(json, data)).read_i64("i"), (std::vector<std::int64_t>{c.first, 1})) << c.type;
  }
  const SafetensorsReader reader = open(framed("{\"i\":" + entry("\"U64\"", "[1]", "[0,8]") + "}", "abcdefgh"));
  EXPECT_TRUE(
      throws_saying<DataError>([&] { reader.read_i64("i"); }, {"'i'", "is U64", "read_i64, which reads I64", "may not fit"}));
}

TEST_F(SafetensorsValues, ABoolThatIsNeitherZeroNorOneIsAnError) {
  const SafetensorsReader reader = open(framed("{\"m\":" + entry("\"BOOL\"", "[3]", "[0,3]") + "}", std::string("\1\0\7", 3)));
  EXPECT_TRUE(throws_saying<DataError>([&] { reader.read_bool("m"); }, {"'m'", "element 2 is 7"}));
}

TEST_F(SafetensorsValues, EveryRealFileOpensAndReads) {
  ADDNORM_NEEDS_DATA("torch");
  std::size_t files = 0;
  for (const char* part : {"models", "torch"})
    for (const auto& found : std::filesystem::recursive_directory_iterator(test_data() / part)) {
      if (found.path().extension() != ".safetensors") continue;
      SCOPED_TRACE(found.path());
      ++files;
      const SafetensorsReader reader(found.path());
      EXPECT_GT(reader.size(), 0u);
      for (std::size_t i = 0; i < reader.size(); ++i) {
        const std::string name(reader.name(i));
        const SafetensorsInfo info = reader.info(name);
        if (info.dtype == "I64" || info.dtype == "I32")
          EXPECT_EQ(reader.read_i64(name).size(), info.shape.elements());
        else if (info.dtype == "BOOL")
          EXPECT_EQ(reader.read_bool(name).size(), info.shape.elements());
        else
          EXPECT_EQ(reader.read(name).shape(), info.shape);
      }
    }
  EXPECT_GE(files, 19u);
}

TEST_F(SafetensorsValues, TheLayerNormReferenceHoldsWhatItsNameSays) {
  ADDNORM_NEEDS_DATA("torch/layernorm_basic.safetensors");
  const SafetensorsReader reader(test_data() / "torch/layernorm_basic.safetensors");
  for (std::size_t i = 0; i < reader.size(); ++i) EXPECT_TRUE(reader.count_values(reader.name(i)).all_finite()) << reader.name(i);
}

}  // namespace
}  // namespace addnorm::test
