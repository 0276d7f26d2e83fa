// docs/testing.md, S-15 to S-38: headers that are not JSON, not the right JSON, or promise what the data does not hold.
#include <string>
#include <vector>

#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

const std::string kF32 = "\"F32\"";

std::string header(std::initializer_list<std::pair<std::string, std::string>> members) {
  std::string out = "{";
  for (const auto& [name, value] : members) out += (out.size() == 1 ? "\"" : ",\"") + name + "\":" + value;
  return out + "}";
}
// One tensor "a" of the given shape and type over `bytes` bytes of data.
std::string one(const std::string& dtype, const std::string& shape, std::size_t bytes = 4) {
  return framed(header({{"a", entry(dtype, shape, concat("[0,", bytes, "]"))}}), std::string(bytes, 'x'));
}
std::string with_offsets(const std::string& offsets, std::size_t bytes = 4) {
  return framed(header({{"a", entry(kF32, "[1]", offsets)}}), std::string(bytes, 'x'));
}
std::string f32(std::size_t begin, std::size_t end) {
  return entry(kF32, concat("[", (end - begin) / 4, "]"), concat("[", begin, ",", end, "]"));
}
std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_F(Safetensors, ST15_RejectsDeepNesting) {
  EXPECT_TRUE(rejects(framed(std::string(10000, '['))));
  EXPECT_TRUE(rejects(framed(repeated("{\"a\":", 10000))));
  EXPECT_TRUE(rejects(framed("{\"a\":" + std::string(10000, '[')), {"'a'", "an array"}));
  EXPECT_TRUE(rejects(framed("{\"__metadata__\":" + repeated("{\"a\":", 10000)), {"__metadata__", "an object"}));
  EXPECT_TRUE(rejects(framed(R"({"a":{"shape":)" + std::string(10000, '[')), {"'a'", "shape contains an array"}));
}

TEST_F(Safetensors, ST16_RejectsInvalidUtf8AndLoneSurrogates) {
  for (const std::string& bad : std::vector<std::string>{"\xff", "\xc0\x80", "\xe2\x28\xa1", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                                         "\\ud800", "\\udc00", "\\ud800\\u0041", "\\u12", "\\x41"})
    EXPECT_TRUE(rejects(framed(header({{"a" + bad, f32(0, 4)}}), "abcd"), {"not JSON"})) << bad;
  EXPECT_TRUE(rejects(framed("\xff{}")));
  EXPECT_TRUE(accepts(framed(header({{"\\ud83d\\ude00 \xe2\x82\xac", f32(0, 4)}}), "abcd"), 1));
}

TEST_F(Safetensors, ST17_RejectsControlCharactersInNames) {
  for (const char* bad : {"\\u0000", "\\n", "\\u001b[2J", "\\u007f", "\x7f"})
    EXPECT_TRUE(rejects(framed(header({{std::string("a") + bad, f32(0, 4)}}), "abcd"), {"control characters"})) << bad;
  for (const std::string& bad : {std::string("\0", 1), std::string("\n"), std::string("\x1b")})
    EXPECT_TRUE(rejects(framed(header({{"a" + bad, f32(0, 4)}}), "abcd"), {"not JSON"}));
}

TEST_F(Safetensors, ST17_AcceptsANameOfAMegabyteAndShortensItInMessages) {
  const std::string name(1'000'000, 'n');
  EXPECT_TRUE(accepts(framed(header({{name, f32(0, 4)}}), "abcd"), 1));
  EXPECT_TRUE(rejects(framed(header({{name, f32(0, 8)}}), "abcd"), {"nnn...'", "1000000 bytes"}));
}

TEST_F(Safetensors, ST18_RejectsATopLevelThatIsNoObject) {
  for (const char* json : {"[]", "\"a\"", "1", "null", "true", "[{}]", "   "}) EXPECT_TRUE(rejects(framed(json))) << json;
}

TEST_F(Safetensors, ST19_RejectsATensorGivenTwiceWithTheSameRange) {
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"a", f32(0, 4)}}), "abcd"), {"'a'", "twice"}));
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"\\u0061", f32(0, 4)}}), "abcd"), {"'a'", "twice"}));
}

TEST_F(Safetensors, ST20_RejectsATensorGivenTwiceWithAnotherRange) {
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"b", f32(4, 8)}, {"a", f32(8, 12)}}), "abcdefghijkl"), {"'a'", "twice"}));
  EXPECT_TRUE(
      rejects(framed(header({{"a", f32(0, 4)}, {"a", entry("\"I64\"", "[1]", "[4,12]")}}), "abcdefghijkl"), {"'a'", "twice"}));
}

TEST_F(Safetensors, ST21_RejectsAFieldGivenTwice) {
  for (const char* twice : {R"("shape":[1])", R"("dtype":"F32")", R"("data_offsets":[0,4])"})
    EXPECT_TRUE(rejects(framed(concat(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],)", twice, "}}"), "abcd"),
                        {"'a'", "twice"}));
}

TEST_F(Safetensors, ST22_RejectsMetadataGivenTwice) {
  EXPECT_TRUE(rejects(framed(header({{"__metadata__", "{}"}, {"__metadata__", "{}"}})), {"__metadata__", "twice"}));
  EXPECT_TRUE(rejects(framed(header({{"__metadata__", R"({"k":"1","k":"2"})"}})), {"'k'", "twice"}));
}

TEST_F(Safetensors, ST23_TakesOnlyStringsAsMetadata) {
  for (const char* bad :
       {"null", "1", "\"x\"", "[]", R"({"k":1})", R"({"k":null})", R"({"k":{}})", R"({"k":["v"]})", R"({"k":true})"})
    EXPECT_TRUE(rejects(framed(header({{"__metadata__", bad}})), {"__metadata__"})) << bad;
  EXPECT_TRUE(accepts(framed(header({{"__metadata__", "{}"}})), 0));
  const SafetensorsReader reader =
      open(framed(header({{"__metadata__", R"({"format":"pt","a":"line\nbreak"})"}, {"w", f32(0, 4)}}), "abcd"));
  EXPECT_EQ(reader.metadata("format"), "pt");
  EXPECT_EQ(reader.metadata("a"), "line\nbreak");
  EXPECT_EQ(reader.metadata("b"), std::nullopt);
  EXPECT_EQ(reader.metadata().size(), 2u);
}

TEST_F(Safetensors, ST24_RejectsWhatIsAlmostJson) {
  const std::string good = header({{"a", f32(0, 4)}});
  for (const std::string& bad :
       std::vector<std::string>{"{\"a\":" + f32(0, 4) + ",}", "{/* */\"a\":" + f32(0, 4) + "}", "\xef\xbb\xbf" + good, good + "x",
                                good + "}", good + "{}", good + std::string("\0", 1), good + std::string("\0{}", 3), good + "//",
                                "{'a':1}", good + "\v", "\f" + good})
    EXPECT_TRUE(rejects(framed(bad, "abcd"))) << bad;
  for (const char* literal : {"NaN", "Infinity", "-Infinity", "nan", "0x1", "01", "+1", "1.", ".5"})
    EXPECT_TRUE(rejects(one(kF32, concat("[", literal, "]"))));
  EXPECT_TRUE(accepts(framed(good + " \t\r\n ", "abcd"), 1));
  EXPECT_TRUE(accepts(framed(" \t\r\n " + good, "abcd"), 1));
}

TEST_F(Safetensors, ST24_SaysAtWhichByteTheHeaderIsNoJsonAndWhatIsExpectedThere) {
  const std::string where = "the header is not JSON at its byte ";
  EXPECT_TRUE(rejects(framed("{"), {where + "1: the name of a field is expected", "the text ends"}));
  EXPECT_TRUE(rejects(framed("{\"a\" 1}"), {where + "5: ':' is expected"}));
  EXPECT_TRUE(rejects(framed("{\"a\":?}"), {where + "5: a value is expected"}));
  EXPECT_TRUE(rejects(framed("{\"a\\x\":1}"), {where + "4: after \\"}));
  EXPECT_TRUE(rejects(framed("{\"a\xff\":1}"), {where + "3: the bytes are not UTF-8"}));
  EXPECT_TRUE(rejects(framed(R"({"a":{"shape":[01]}})"), {where + "16: ',' or ']' is expected"}));
  EXPECT_TRUE(rejects(framed("{} x"), {where + "3: nothing more is expected"}));
  EXPECT_TRUE(rejects(framed(std::string("{}\0", 3)), {where + "2: a NUL byte"}));
}

TEST_F(Safetensors, ST25_AcceptsNoTensorsOverNoDataOnly) {
  EXPECT_TRUE(accepts(framed("{}"), 0));
  EXPECT_TRUE(rejects(framed("{}", "x"), {"1 bytes belong to no tensor"}));
}

TEST_F(Safetensors, ST26_RejectsMissingAndUnknownFields) {
  const auto tensor = [](const char* fields) { return framed(concat("{\"a\":{", fields, "}}"), "abcd"); };
  EXPECT_TRUE(rejects(tensor(R"("shape":[1],"data_offsets":[0,4])"), {"'a'", "dtype is missing"}));
  EXPECT_TRUE(rejects(tensor(R"("dtype":"F32","data_offsets":[0,4])"), {"'a'", "shape is missing"}));
  EXPECT_TRUE(rejects(tensor(R"("dtype":"F32","shape":[1])"), {"'a'", "data_offsets is missing"}));
  EXPECT_TRUE(rejects(tensor(""), {"'a'", "missing"}));
  EXPECT_TRUE(
      rejects(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"stride":[1])"), {"'a'", "unknown field 'stride'"}));
  EXPECT_TRUE(rejects(framed(R"({"a":null})"), {"'a'", "null"}));
}

TEST_F(Safetensors, ST27_RejectsUnknownDtypes) {
  for (const char* bad : {"F128", "f32", "", "FLOAT", "F32 "})
    EXPECT_TRUE(rejects(one(concat('"', bad, '"'), "[1]"), {"'a'", concat("'", bad, "'"), "F6_E2M3"})) << bad;
  for (const char* bad : {"32", "null", "[\"F32\"]", "{}"}) EXPECT_TRUE(rejects(one(bad, "[1]"), {"'a'", "dtype"})) << bad;
}

TEST_F(Safetensors, ST27_OpensEveryOfficialDtypeAndNamesThoseItCannotRead) {
  struct Official {
    const char* name;
    std::size_t bytes;  // of eight elements
  };
  for (const Official& type : {Official{"F4", 4},
                               {"F6_E2M3", 6},
                               {"F6_E3M2", 6},
                               {"U8", 8},
                               {"I8", 8},
                               {"F8_E5M2", 8},
                               {"F8_E4M3", 8},
                               {"F8_E8M0", 8},
                               {"F8_E4M3FNUZ", 8},
                               {"F8_E5M2FNUZ", 8},
                               {"I16", 16},
                               {"U16", 16},
                               {"I32", 32},
                               {"U32", 32},
                               {"C64", 64},
                               {"U64", 64},
                               {"I64", 64},
                               {"BOOL", 8}}) {
    const SafetensorsReader reader = open(one(concat('"', type.name, '"'), "[8]", type.bytes));
    EXPECT_EQ(reader.info("a").dtype, type.name);
    EXPECT_TRUE(throws_saying<DataError>([&] { reader.read("a"); }, {"'a'", type.name, "not supported"}));
    EXPECT_TRUE(throws_saying<DataError>([&] { reader.count_values("a"); }, {"'a'", type.name}));
  }
  const SafetensorsReader floats = open(one(kF32, "[1]"));
  EXPECT_TRUE(throws_saying<DataError>([&] { floats.read_i64("a"); },
                                       {"'a'", "is F32", "read_i64, which reads I64, I32, I16, I8, U32, U16, U8; use read"}));
  EXPECT_TRUE(
      throws_saying<DataError>([&] { floats.read_bool("a"); }, {"'a'", "is F32", "read_bool, which reads BOOL; use read"}));
  const SafetensorsReader integers = open(one("\"I32\"", "[1]"));
  EXPECT_TRUE(throws_saying<DataError>([&] { integers.read("a"); }, {"is I32", "which reads F32, F64, F16, BF16; use read_i64"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { integers.read_bool("a"); }, {"is I32", "use read_i64"}));
  const std::string nothing_to_count = "BF16; integers and BOOL have no NaN to count";
  EXPECT_TRUE(throws_saying<DataError>([&] { integers.count_values("a"); }, {"is I32", nothing_to_count}));
  EXPECT_TRUE(throws_saying<DataError>([&] { open(one("\"U64\"", "[1]", 8)).count_values("a"); }, {nothing_to_count}));
  EXPECT_TRUE(throws_saying<DataError>([&] { open(one("\"BOOL\"", "[4]")).count_values("a"); }, {nothing_to_count}));
  EXPECT_TRUE(throws_saying<DataError>([&] { open(one("\"F8_E4M3\"", "[4]")).count_values("a"); }, {"convert it to F32"}));
}

TEST_F(Safetensors, ST28_RejectsShapesThatAreNoListOfCounts) {
  for (const char* bad : {"1", "null", "\"[1]\"", "{}", "[-1]", "[1.5]", "[1e0]", "[1e3]", "[\"4\"]", "[18446744073709551616]",
                          "[null]", "[true]", "[[1]]", "[-0]", "[1.0]"})
    EXPECT_TRUE(rejects(one(kF32, bad), {"'a'", "shape"})) << bad;
  EXPECT_TRUE(rejects(one(kF32, "[9007199254740993]"), {"'a'", "36028797018963972"}));  // 2^53 + 1, exactly
  EXPECT_TRUE(rejects(one(kF32, "[1" + repeated(",1", 999) + "]"), {"'a'", "more than 8 axes"}));
  EXPECT_TRUE(rejects(one(kF32, "[1" + repeated(",1", 8) + "]"), {"'a'", "more than 8 axes"}));
  EXPECT_TRUE(accepts(one(kF32, "[1" + repeated(",1", 7) + "]"), 1));
}

TEST_F(Safetensors, ST29_RejectsShapesWhoseProductWraps) {
  for (const char* bad : {"[2,18446744073709551614]", "[2,9223372036854775807]", "[4194305,4194305,211106198978564]",
                          "[4294967296,4294967296]", "[4611686018427387905]", "[18446744073709551615,2,0]"})
    EXPECT_TRUE(rejects(one(kF32, bad), {"'a'", "64 bits"})) << bad;
  EXPECT_TRUE(accepts(one(kF32, "[0,18446744073709551615]", 0), 1));
  EXPECT_TRUE(rejects(one(kF32, "[0,18446744073709551615]", 4), {"'a'"}));
}

TEST_F(Safetensors, ST30_RejectsBadOffsets) {
  for (const char* bad :
       {"[0]", "[]", "[0,4,8]", "[4,0]", "[-4,0]", "[0.0,4.0]", "[0,4.0]", "[\"0\",\"4\"]", "4", "null", "{}", "[[0,4]]", "[0,8]",
        "[0,18446744073709551615]", "[18446744073709551612,0]", "[18446744073709551612,18446744073709551615]",
        "[18446744073709551611,18446744073709551615]", "[0,18446744073709551616]"})
    EXPECT_TRUE(rejects(with_offsets(bad), {"'a'"})) << bad;
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 8)}}), "abcd"), {"'a'", "ends at 8", "4 bytes of data"}));
}

TEST_F(Safetensors, ST31_RejectsRangesThatDisagreeWithTheShape) {
  EXPECT_TRUE(rejects(one(kF32, "[2]", 4), {"'a'", "hold 4 bytes", "[2]", "needs 8"}));
  EXPECT_TRUE(rejects(one(kF32, "[1]", 8), {"'a'", "hold 8 bytes", "needs 4"}));
  EXPECT_TRUE(rejects(one("\"F64\"", "[1]", 4), {"needs 8"}));
  EXPECT_TRUE(rejects(one(kF32, "[1048576]", 4), {"needs 4194304"}));
}

TEST_F(Safetensors, ST32_RejectsGapsAndTrailingBytes) {
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"b", f32(5, 9)}}), std::string(9, 'x')),
                      {"'b'", "begins at 5, expected 4", "hole"}));
  EXPECT_TRUE(rejects(framed(header({{"a", f32(1, 5)}}), std::string(5, 'x')), {"'a'", "begins at 1, expected 0"}));
  for (const std::string& extra :
       {std::string("x"), std::string(4096, '\0'), std::string("\x80\x04\x95."), std::string("PK\x03\x04....")})
    EXPECT_TRUE(rejects(one(kF32, "[1]") + extra, {concat(extra.size(), " bytes belong to no tensor")}));
}

TEST_F(Safetensors, ST33_RejectsOverlaps) {
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"b", f32(3, 7)}}), std::string(7, 'x')), {"'b'", "overlaps tensor 'a'"}));
  EXPECT_TRUE(rejects(framed(header({{"a", f32(0, 4)}, {"b", f32(0, 4)}}), std::string(4, 'x')), {"overlaps"}));
  EXPECT_TRUE(
      rejects(framed(header({{"a", f32(0, 12)}, {"b", f32(4, 8)}}), std::string(12, 'x')), {"'b'", "overlaps tensor 'a'"}));
}

TEST_F(Safetensors, ST34_AcceptsEmptyTensorsBetweenOthersOnly) {
  const auto empty = [](int at) { return entry(kF32, "[0]", concat("[", at, ",", at, "]")); };
  EXPECT_TRUE(accepts(framed(header({{"z", empty(0)}, {"a", f32(0, 4)}, {"b", f32(4, 8)}}), "abcdefgh"), 3));
  EXPECT_TRUE(accepts(framed(header({{"z", empty(4)}, {"a", f32(0, 4)}, {"b", f32(4, 8)}}), "abcdefgh"), 3));
  EXPECT_TRUE(accepts(framed(header({{"z", empty(8)}, {"a", f32(0, 4)}, {"b", f32(4, 8)}}), "abcdefgh"), 3));
  EXPECT_TRUE(accepts(framed(header({{"z", empty(4)}, {"a", f32(0, 4)}, {"y", empty(4)}}), "abcd"), 3));
  EXPECT_TRUE(accepts(framed(header({{"z", entry(kF32, "[3,0,2]", "[0,0]")}})), 1));
  EXPECT_TRUE(rejects(framed(header({{"z", empty(2)}, {"a", f32(0, 4)}}), "abcd"), {"'z'"}));
  EXPECT_TRUE(rejects(framed(header({{"z", empty(5)}, {"a", f32(0, 4)}}), "abcd"), {"'z'"}));
  EXPECT_EQ(open(framed(header({{"z", entry(kF32, "[3,0,2]", "[0,0]")}}))).read("z").shape(), (Shape{3, 0, 2}));
}

TEST_F(Safetensors, ST35_ReadsATensorWithoutAxes) {
  const SafetensorsReader reader = open(one(kF32, "[]"));
  EXPECT_EQ(reader.info("a").shape, Shape{});
  EXPECT_EQ(reader.read("a").elements(), 1u);
}

TEST_F(Safetensors, ST36_RejectsNarrowTypesThatDoNotFillWholeBytes) {
  EXPECT_TRUE(rejects(one("\"F4\"", "[3]", 2), {"'a'", "F4", "whole bytes"}));
  EXPECT_TRUE(rejects(one("\"F6_E2M3\"", "[3]", 3), {"'a'", "F6_E2M3", "whole bytes"}));
  EXPECT_TRUE(accepts(one("\"F6_E2M3\"", "[4]", 3), 1));
}

TEST_F(Safetensors, ST37_AcceptsAHeaderInAnotherOrderThanTheData) {
  std::string data(8, '\0');
  data[3] = '\x40';  // 2.0f
  data[7] = '\x41';  // 8.0f
  const SafetensorsReader reader = open(framed(header({{"last", f32(4, 8)}, {"first", f32(0, 4)}}), data));
  EXPECT_EQ(reader.name(0), "first");
  EXPECT_EQ(reader.read("first").item(), 2.0);
  EXPECT_EQ(reader.read("last").item(), 8.0);
}

TEST_F(Safetensors, ST38_ReadsDataThatIsNotAligned) {
  for (std::size_t pad = 0; pad < 8; ++pad) {
    const SafetensorsReader reader = open(framed(header({{"a", entry("\"BOOL\"", "[1]", "[0,1]")},
                                                         {"b", entry("\"F64\"", "[1]", "[1,9]")},
                                                         {"c", entry("\"F16\"", "[1]", "[9,11]")}}) +
                                                     std::string(pad, ' '),
                                                 std::string("\x01\0\0\0\0\0\0\xf8\x3f\x00\x3e", 11)));
    EXPECT_EQ(reader.read_bool("a"), std::vector<std::uint8_t>{1});
    EXPECT_EQ(reader.read("b").item(), 1.5);
    EXPECT_EQ(reader.read("c").item(), 1.5);
  }
}

TEST_F(Safetensors, SaysWhichNameIsMeantWhenATensorIsNotThere) {
  const SafetensorsReader reader = open(framed(header({{"blocks.0.weight", f32(0, 4)}}), "abcd"));
  EXPECT_TRUE(reader.contains("blocks.0.weight"));
  EXPECT_FALSE(reader.contains("blocks.0"));
  EXPECT_TRUE(throws_saying<UsageError>([&] { reader.read("blocks.0.wieght"); },
                                        {"'blocks.0.wieght'", "did you mean 'blocks.0.weight'"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { reader.name(1); }, {"there are 1"}));
}

}  // namespace
}  // namespace addnorm::test
