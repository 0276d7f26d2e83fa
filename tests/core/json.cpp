// Our JSON against an independent one: the same documents are taken, and written alike.
#include "core/json/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "addnorm/core/error.h"
#include "core/json/record.h"
#include "support/near.h"

namespace addnorm {
namespace {

using Theirs = nlohmann::ordered_json;

std::string their_dump(const Theirs& value, int indent) {
  return value.dump(indent, ' ', false, Theirs::error_handler_t::replace);
}

/// What they make of a text, without names given twice; nothing where it is no JSON.
std::optional<Theirs> theirs(const std::string& text) {
  std::vector<std::set<std::string>> names;
  bool twice = false;
  const auto watch = [&](int, Theirs::parse_event_t event, Theirs& value) {
    if (event == Theirs::parse_event_t::object_start) names.emplace_back();
    if (event == Theirs::parse_event_t::object_end) names.pop_back();
    if (event == Theirs::parse_event_t::key) twice |= !names.back().insert(value.get<std::string>()).second;
    return true;
  };
  try {
    Theirs value = Theirs::parse(text, watch);
    return twice ? std::nullopt : std::optional(std::move(value));
  } catch (const Theirs::exception&) {
    return std::nullopt;
  }
}

std::optional<Json> ours(const std::string& text) {
  try {
    return parsed(text, "text");
  } catch (const DataError&) {
    return std::nullopt;
  }
}

/// Made-up documents, and damaged ones.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string any_of(std::initializer_list<const char*> texts) { return texts.begin()[below(texts.size())]; }

  std::string number() {
    if (below(4) == 0)
      return any_of({"0", "-0", "18446744073709551615", "18446744073709551616", "9223372036854775808", "-9223372036854775808",
                     "-9223372036854775809", "1e400", "-1e-400", "0.000e999", "1E+2", "1e-05", "0.0001", "1e15", "1e14", "5e-324",
                     "123456789012345.5", "1e99999999999999999999", "1e-99999999999999999999"});
    std::string text = std::to_string(static_cast<std::int64_t>(random_()) >> below(64));
    if (below(2) == 0) text = text.substr(0, 8) + "." + std::to_string(below(1000));
    if (below(3) == 0) text = text.substr(0, 9) + "e" + any_of({"", "+", "-"}) + std::to_string(below(310));
    return text;
  }
  std::string string() {
    std::string text = "\"";
    for (std::size_t i = below(6); i > 0; --i)
      text += any_of({"a", "B", " ", "/", "\\/", "\\\"", "\\\\", "\\b\\f\\n\\r\\t", "\\u0000", "\\u001F", "\\uD83d\\uDE00",
                      "\\u00e9", "\x7f", "\u00e9", "\u20ac", "\U0001F600"});
    return text + '"';
  }
  std::string value(int depth) {
    const std::size_t kind = below(depth > 0 ? 7 : 5);
    if (kind < 2) return number();
    if (kind < 4) return string();
    if (kind == 4) return any_of({"null", "true", "false"});
    std::string text = kind == 5 ? "[" : "{";
    for (std::size_t i = 0, n = below(5); i < n; ++i)
      text.append(i ? "," : "").append(space()).append(kind == 5 ? "" : string() + ":").append(value(depth - 1));
    return text + space() + (kind == 5 ? ']' : '}');
  }
  std::string space() { return any_of({"", "", " ", "\n\t", "\r "}); }

  /// No zero bytes: they take these for the end of the text.
  std::string damaged(std::string text) {
    const std::string bytes = "\"\\{}[]:,.+-eE0159untrfalsD8c/ \n\t\x01\x7f\x80\xBF\xC0\xC3\xE0\xED\xA0\xF0\x90\xF4\xF5\xFF";
    for (std::size_t times = 1 + below(3); times > 0; --times) {
      const std::size_t at = below(text.size() + 1);
      if (below(3) > 0) text.erase(at, below(3));
      if (below(3) > 0) text.insert(std::min(at, text.size()), 1, bytes[below(bytes.size())]);
    }
    return text;
  }
  std::string bytes(std::size_t length) {
    const std::string leads = "\xE0\xA0\x80\xF0\x90\xED\xC3";
    std::string text(length, ' ');
    for (char& c : text) c = below(2) ? static_cast<char>(below(256)) : leads[below(leads.size())];
    return text;
  }
  double real() { return std::bit_cast<double>(random_()); }

 private:
  std::mt19937_64 random_;
};

/// Both take it or neither does. True where what they write differs: they do not find the shortest digits of every number.
bool differs(const std::string& text) {
  const auto expected = theirs(text);
  const auto found = ours(text);
  EXPECT_EQ(found.has_value(), expected.has_value()) << text;
  if (!found || !expected) return false;
  bool different = false;
  for (const int indent : {-1, 0, 2}) {
    const std::string mine = found->dump(indent), other = their_dump(*expected, indent);
    different |= mine != other;
    EXPECT_LE(mine.size(), other.size()) << text;
    EXPECT_EQ(parsed(mine, "ours"), *found) << text;
    EXPECT_EQ(parsed(other, "theirs"), *found) << text;
  }
  return different;
}

TEST(Json, TakesAndWritesMadeUpDocumentsAsTheOtherDoes) {
  Maker make(1);
  int different = 0;
  for (int i = 0; i < 4000; ++i) different += differs(make.space() + make.value(4) + make.space());
  EXPECT_LT(different, 40);
}

TEST(Json, RefusesDamagedDocumentsAsTheOtherDoes) {
  Maker make(2);
  int refused = 0, different = 0;
  constexpr int kTexts = 10000;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = make.damaged(make.value(3));
    refused += !ours(text);
    different += differs(text);
  }
  EXPECT_GT(refused, kTexts / 10);  // both kinds are seen
  EXPECT_LT(refused, kTexts * 9 / 10);
  EXPECT_LT(different, 50);
}

TEST(Json, ReplacesWhatIsNotUtf8AsTheOtherDoes) {
  Maker make(3);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = make.bytes(make.below(8));
    ASSERT_EQ(Json(text).dump(), their_dump(Theirs(text), -1));
  }
}

TEST(Json, WritesTheShortestDigitsThatGiveTheSameNumber) {
  Maker make(4);
  int different = 0, many = 0;
  while (many < 100000) {
    const double value = make.real();
    if (!std::isfinite(value)) continue;
    ++many;
    const std::string text = Json(value).dump(), other = their_dump(Theirs(value), -1);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(parsed(text, "").number()), std::bit_cast<std::uint64_t>(value)) << text;
    ASSERT_LE(text.size(), other.size());
    different += text != other;
  }
  EXPECT_LT(different, many / 200);  // theirs is the shortest for nearly all, ours for all
}

TEST(Json, WritesWhatIsNotFiniteAsNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
}

TEST(Json, SaysWhereTheTextIsWrong) {
  const auto says = [](const std::string& text, std::initializer_list<std::string> parts) {
    return test::throws_saying<DataError>([&] { parsed(text, "my.json"); }, parts);
  };
  EXPECT_TRUE(says("", {"my.json: not JSON: line 1, column 1", "a value is expected", "the text ends"}));
  EXPECT_TRUE(says("{\"a\": 1,\n  b: 2}", {"line 2, column 3", "name of a field"}));
  EXPECT_TRUE(says("[1, 2", {"line 1, column 6", "',' or ']'"}));
  EXPECT_TRUE(says("{\"a\" 1}", {"':' is expected"}));
  EXPECT_TRUE(says("[1] 2", {"nothing more"}));
  EXPECT_TRUE(says("[\"a\nb\"]", {"line 1, column 4", "control character"}));
  EXPECT_TRUE(says("\"\xC3\x28\"", {"column 2", "UTF-8"}));
  EXPECT_TRUE(says("\"\\x\"", {"after \\"}));
  EXPECT_TRUE(says("\"\\u12g4\"", {"four digits"}));
  EXPECT_TRUE(says("[1.]", {"a digit"}));
  EXPECT_TRUE(says("[-1e999]", {"column 2", "-1e999", "too large"}));
  EXPECT_TRUE(says("{\"a\": {\"b\": 1, \"c\": 2, \"b\": 3}}", {"my.json", "\"b\" is given twice"}));
  EXPECT_TRUE(says(std::string("{}\0", 3), {"nothing more"}));
  EXPECT_TRUE(says(std::string(100000, '['), {"nested deeper than 64"}));
  EXPECT_EQ(parsed(std::string(64, '[') + std::string(64, ']'), "").size(), 1u);
}

TEST(Json, KeepsOrderAndComparesNumbersByValue) {
  Json object{{"b", 1}, {"a", std::vector<int>{1, -2}}, {"c", "text"}, {"d", nullptr}};
  object["e"]["f"] = 0.5;
  object["g"].push_back(true);
  EXPECT_EQ(object.dump(), R"({"b":1,"a":[1,-2],"c":"text","d":null,"e":{"f":0.5},"g":[true]})");
  object["b"] = object["e"];  // a part of itself
  object.erase("e");
  object.erase("not there");
  EXPECT_EQ(object.dump(), R"({"b":{"f":0.5},"a":[1,-2],"c":"text","d":null,"g":[true]})");
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(1), Json(1u));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(parsed("[1, 2]", ""), parsed("[1]", ""));
  EXPECT_NE(parsed(R"({"a": 1, "b": 2})", ""), parsed(R"({"b": 2, "a": 1})", ""));
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).integer(), std::numeric_limits<std::int64_t>::min());
}

TEST(Json, RefusesToBeTakenForWhatItIsNot) {
  const Json text("a"), object{{"a", 1}}, large(std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { text.number(); }, {"a number", "string"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { text.items(); }, {"an object", "string"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { Json(text).push_back(1); }, {"an array", "string"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { object.at("b"); }, {"'b'"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { large.integer(); }, {"63 bits"}));
  EXPECT_EQ(text.find("a"), nullptr);
  EXPECT_EQ(text.size(), 0u);
}

TEST(JsonRecord, ReadsWholeNumbersOfEveryWidthAndRefusesWhatDoesNotFit) {
  const Json large = std::uint64_t{1} << 33;
  const JsonAt at{"run.json", "seed"};
  unsigned narrow = 7;
  unsigned long long wide = 0;
  read(large, wide, at);
  EXPECT_EQ(wide, std::uint64_t{1} << 33);
  try {
    read(large, narrow, at);
    ADD_FAILURE() << "taken";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "run.json: seed is 8589934592; it must be at most 4294967295 on this platform");
  }
  EXPECT_EQ(narrow, 7u);
}

}  // namespace
}  // namespace addnorm
