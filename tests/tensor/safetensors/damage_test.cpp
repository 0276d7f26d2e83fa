// docs/testing.md, S-39, S-40, S-42, S-43, and random damage: every verdict is compared with that of the oracle.
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "tensor/safetensors/oracle.h"
#include "tensor/safetensors/support.h"

namespace addnorm::test {
namespace {

class SafetensorsDamage : public Safetensors {
 protected:
  /// Opens the bytes and compares the verdict with the oracle's. What was accepted is written again and must be accepted again.
  bool agrees(const std::string& bytes, bool write_again, bool& accepted) {
    try {
      const SafetensorsReader reader = open(bytes);
      accepted = true;
      if (write_again) rewrite(reader);
    } catch (const DataError&) {
      accepted = false;
    }
    return accepted == oracle_accepts(bytes);
  }

  void rewrite(const SafetensorsReader& reader) {
    SafetensorsWriter writer;
    for (const auto& [key, value] : reader.metadata()) writer.set_metadata(key, value);
    for (std::size_t i = 0; i < reader.size(); ++i) {
      const std::string name(reader.name(i));
      const std::string_view type = reader.info(name).dtype;
      if (type == "I64") writer.add_i64(name, reader.info(name).shape, reader.read_i64(name));
      if (type == "BOOL") writer.add_bool(name, reader.info(name).shape, reader.read_bool(name));
      if (type == "F32" || type == "F64" || type == "F16" || type == "BF16") writer.add(name, reader.read(name));
    }
    const auto again = folder_.path() / "again";
    writer.save(again);
    EXPECT_TRUE(oracle_accepts(read_file(again)));
    EXPECT_LE(SafetensorsReader(again).size(), reader.size());
  }
};

std::string three_hundred_bytes() {
  std::string json = R"({"__metadata__":{"k":"v"},"b":)" + entry("\"F32\"", "[2,3]", "[0,24]") +
                     ",\"a\":" + entry("\"I64\"", "[1]", "[24,32]") + ",\"z\":" + entry("\"BF16\"", "[0]", "[32,32]") + "}";
  json.resize(260, ' ');
  return framed(json, std::string(32, '\1'));
}

TEST_F(SafetensorsDamage, ST39_RejectsAFileCutAnywhere) {
  const std::string whole = three_hundred_bytes();
  ASSERT_EQ(whole.size(), 300u);
  ASSERT_TRUE(accepts(whole, 3));
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_TRUE(rejects(whole.substr(0, n))) << n << " bytes";
}

TEST_F(SafetensorsDamage, ST40_AnyFlippedBitOfTheHeaderIsRejectedOrHarmless) {
  const std::string whole = three_hundred_bytes();
  int loaded = 0, rejected = 0;
  for (std::size_t i = 0; i < 268; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      bool accepted = false;
      ASSERT_TRUE(agrees(flipped, false, accepted))
          << "byte " << i << " bit " << bit << ": " << (accepted ? "accepted" : "rejected");
      ++(accepted ? loaded : rejected);
    }
  EXPECT_GT(rejected, 1000);
  EXPECT_GT(loaded, 5);  // a name with another letter is a good file
}

TEST_F(SafetensorsDamage, ST42_AFileThatChangesAfterOpeningIsAnError) {
  SafetensorsWriter writer;
  writer.add("w", Tensor::full({50'000}, 1.0));
  writer.save(file());
  const auto size = std::filesystem::file_size(file());
  for (const auto other : {size - 1, size / 2, std::uintmax_t{3}, size + 1}) {
    writer.save(file());
    const SafetensorsReader reader(file());
    std::filesystem::resize_file(file(), other);
    EXPECT_TRUE(throws_saying<DataError>([&] { reader.read("w"); }, {file().native(), "while being read"}));
    EXPECT_TRUE(throws_saying<DataError>([&] { reader.count_values("w"); }, {file().native()}));
  }
}

TEST_F(SafetensorsDamage, ST42_AFileThatIsCutDuringReadingIsAnError) {
  SafetensorsWriter writer;
  writer.add("w", Tensor::full({1'000'000}, 1.0));
  writer.save(file());
  const auto size = std::filesystem::file_size(file());
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      std::filesystem::resize_file(file(), size / 2);
      std::filesystem::resize_file(file(), size);
    }
  });
  int failed = 0;
  for (int turn = 0; turn < 200 || (failed == 0 && turn < 100'000); ++turn) {  // on a busy machine the other may start late
    try {
      const SafetensorsReader reader(file());
      EXPECT_EQ(reader.read("w").elements(), 1'000'000u);
    } catch (const DataError&) {
      ++failed;
    }
  }
  stop = true;
  other.join();
  EXPECT_GT(failed, 0);
}

TEST_F(SafetensorsDamage, ST43_ReadsBeyondFourGibibytesAndSaysWhenMemoryIsNotEnough) {
  const std::uint64_t big = std::uint64_t{5} << 40;  // no machine of today holds it
  const std::string json =
      concat("{\"big\":", entry("\"F32\"", concat("[", big / 4, "]"), concat("[0,", big, "]")),
             ",\"big int\":", entry("\"I64\"", concat("[", big / 8, "]"), concat("[", big, ",", 2 * big, "]")),
             ",\"end\":", entry("\"F32\"", "[2]", concat("[", 2 * big, ",", 2 * big + 8, "]")), "}");
  write_file(file(), framed(json));
  const auto start = static_cast<off_t>(8 + json.size() + 2 * big);
  const float values[] = {1.5f, -2.5f};
  std::FILE* out = std::fopen(file().c_str(), "r+b");
  ASSERT_NE(out, nullptr);
  const bool sparse = pwrite(fileno(out), values, sizeof values, start) == sizeof values;
  std::fclose(out);
  if (!sparse) GTEST_SKIP() << "skipped: the temporary folder cannot hold a sparse file of 10 TiB";
  const SafetensorsReader reader(file());
  EXPECT_SAME_BITS(reader.read("end").values<float>(), std::span<const float>(values));
  EXPECT_TRUE(throws_saying<Error>([&] { reader.read("big"); }, {file().native(), "'big'", "out of memory", "TiB"}));
  if (!kSanitized) {
    EXPECT_TRUE(
        throws_saying<Error>([&] { reader.read_i64("big int"); }, {file().native(), "'big int'", "out of memory", "TiB"}));
  }
}

// Random damage with a sense of structure: a random table of tensors, written in a random style, then up to three mutations.
class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string file() {
    std::vector<std::string> members;
    std::size_t offset = 0;
    const std::size_t count = below(4);
    for (std::size_t i = 0; i < count; ++i) members.push_back(tensor(i, offset));
    if (below(3) == 0) members.insert(members.begin(), R"("__metadata__":{"format":"pt","\u0061":"\ud83d\ude00"})");
    if (below(2) == 0) std::shuffle(members.begin(), members.end(), random_);
    std::string json = "{";
    for (std::size_t i = 0; i < members.size(); ++i) json += concat(i ? "," : "", space(), members[i]);
    json += concat(space(), "}", std::string(below(9), ' '));
    std::string data(offset, '\0');
    for (char& c : data) c = static_cast<char>(below(2));
    std::string length = length_bytes(json.size());
    const std::size_t mutations = below(4);
    for (std::size_t i = 0; i < mutations; ++i) mutate(json, data, length);
    if (length.empty()) length = length_bytes(json.size());
    return length + json + data;
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::string tensor(std::size_t i, std::size_t& offset) {
    struct Type {
      const char* name;
      std::size_t bits;
    };
    static constexpr Type kTypes[] = {{"F32", 32}, {"F64", 64},  {"I64", 64}, {"BOOL", 8},
                                      {"F16", 16}, {"BF16", 16}, {"F4", 4},   {"U8", 8}};
    const Type& type = kTypes[below(std::size(kTypes))];
    std::string shape;
    std::size_t elements = 1;
    const std::size_t rank = below(4);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::size_t size = below(8) == 0 ? 0 : 1 + below(3);
      elements *= size;
      shape += concat(axis ? "," : "", space(), size);
    }
    const std::size_t end = offset + elements * type.bits / 8;
    const std::string fields[] = {concat("\"dtype\":\"", type.name, "\""), concat("\"shape\":[", shape, "]"),
                                  concat("\"data_offsets\":[", offset, ",", space(), end, "]")};
    offset = end;
    const std::size_t first = below(3);
    return concat("\"t", i, "\":{", fields[first], ",", space(), fields[(first + 1) % 3], ",", fields[(first + 2) % 3], "}");
  }

  void mutate(std::string& json, std::string& data, std::string& length) {
    switch (below(9)) {
      case 0:
        return change_number(json, length);
      case 1:
        return replace_word(json, length);
      case 2:
        return insert_fragment(json, length);
      case 3:
        return repeat_piece(json, length);
      case 4:
        json.erase(below(json.size() + 1), 1 + below(3));
        return length.clear();
      case 5:
        if (!json.empty()) json[below(json.size())] = static_cast<char>(below(256));
        return;
      case 6:
        data.append(1 + below(4), '\0');
        return;
      case 7:
        data.resize(data.size() - std::min(data.size(), below(5)));
        return;
      default:
        length = length_bytes(json.size() + below(5) - 2);
        return;
    }
  }

  void change_number(std::string& json, std::string& length) {
    static const char* const kNumbers[] = {
        "0",  "1",   "2",   "4",  "8",     "16",   "18446744073709551615", "18446744073709551616", "9223372036854775808",
        "-1", "1.0", "1e2", "01", "\"1\"", "null", "4611686018427387905"};
    std::vector<std::size_t> digits;
    for (std::size_t i = 0; i < json.size(); ++i)
      if (json[i] >= '0' && json[i] <= '9' && (i == 0 || std::string_view("[, ").find(json[i - 1]) != std::string_view::npos))
        digits.push_back(i);
    if (digits.empty()) return;
    const std::size_t at = digits[below(digits.size())];
    json.replace(at, json.find_first_of(",] }", at) - at, kNumbers[below(std::size(kNumbers))]);
    length.clear();
  }

  void replace_word(std::string& json, std::string& length) {
    static const char* const kWords[] = {"dtype", "shape", "data_offsets", "F32", "F64",          "I64",     "BOOL",
                                         "U8",    "t0",    "t1",           "t2",  "__metadata__", "F6_E3M2", "\\u0074\\u0030"};
    const std::string from = kWords[below(std::size(kWords))];
    const auto at = json.find(from);
    if (at == std::string::npos) return;
    json.replace(at, from.size(), kWords[below(std::size(kWords))]);
    length.clear();
  }

  void insert_fragment(std::string& json, std::string& length) {
    static const std::string kFragments[] = {" ",
                                             "\n",
                                             "\t",
                                             std::string("\0", 1),
                                             "\xef\xbb\xbf",
                                             "\"",
                                             "\\u0000",
                                             "\\ud800",
                                             "\\n",
                                             "\xc3\xa9",
                                             "\xff",
                                             "{",
                                             "}",
                                             "[",
                                             "]",
                                             ",",
                                             ":",
                                             "//",
                                             ",\"x\":1",
                                             ",\"t0\":{}",
                                             "\"__metadata__\":{},",
                                             "\x7f",
                                             "\xf0\x9f\x98\x80",
                                             "\\/"};
    json.insert(below(json.size() + 1), kFragments[below(std::size(kFragments))]);
    length.clear();
  }

  void repeat_piece(std::string& json, std::string& length) {
    const auto begin = json.find('"', below(json.size() + 1));
    if (begin == std::string::npos) return;
    auto end = json.find_first_of("]}", begin);
    if (end == std::string::npos) return;
    if (below(2) == 0 && end + 1 < json.size() && json[end + 1] == '}') ++end;
    json.insert(begin, concat(json.substr(begin, end + 1 - begin), ","));
    length.clear();
  }

  std::string space() {
    static const char* const kSpaces[] = {"", "", "", " ", "\n", "\t\r "};
    return kSpaces[below(std::size(kSpaces))];
  }

  std::mt19937 random_;
};

TEST_F(SafetensorsDamage, AgreesWithTheOracleOnRandomlyDamagedFiles) {
  int accepted_files = 0, rejected_files = 0;
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const std::string bytes = Mutator(seed).file();
    bool accepted = false;
    ASSERT_TRUE(agrees(bytes, seed % 16 == 0, accepted))
        << "seed " << seed << (accepted ? " was accepted: " : " was rejected: ") << bytes;
    ++(accepted ? accepted_files : rejected_files);
  }
  EXPECT_GT(accepted_files, 800);  // a mutator that breaks everything, or nothing, would prove little
  EXPECT_GT(rejected_files, 800);
}

}  // namespace
}  // namespace addnorm::test
