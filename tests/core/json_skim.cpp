// Skimming against the parser: whatever is skimmed, the parser reads the same.
#include "core/json/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "core/json/json.h"

namespace addnorm {
namespace {

/// Lines as records have them, some with what records do not have.
class Lines {
 public:
  explicit Lines(unsigned seed) : random_(seed) {}

  std::string object(int depth) {
    std::string text = "{";
    for (std::size_t i = 0, n = below(6); i < n; ++i)
      text += (i ? "," : "") + space() + name() + space() + ":" + space() + value(depth) + space();
    return text + "}";
  }
  std::string damaged(std::string text) {
    const std::string bytes = "\"\\{}[]:,.+-eE019ntf \n\x01\x7f\x80";
    for (std::size_t times = 1 + below(2); times > 0 && !text.empty(); --times) {
      const std::size_t at = below(text.size());
      if (below(2) == 0) text.erase(at, 1 + below(2));
      if (below(2) == 0) text.insert(std::min(at, text.size()), 1, bytes[below(bytes.size())]);
    }
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string any_of(std::initializer_list<const char*> texts) { return texts.begin()[below(texts.size())]; }
  std::string space() { return any_of({"", "", "", " ", "\t", "\r\n"}); }
  std::string name() {
    return any_of({"\"step\"", "\"loss\"", "\"a\"", "\"b\"", "\"c d\"", "\"\"", "\"\\u0061\"", "\"\u00e9\""});
  }
  std::string value(int depth) {
    const std::size_t kind = below(depth > 0 ? 10 : 8);
    if (kind < 5)
      return any_of({"0",
                     "-0",
                     "7",
                     "-12",
                     "1.5",
                     "2.5e-3",
                     "1E+05",
                     "0.1e9",
                     "01",
                     "1.",
                     ".5",
                     "1e400",
                     "1e-400",
                     "-",
                     "+1",
                     "nan",
                     "18446744073709551615",
                     "18446744073709551616",
                     "123456789012345678901234567890.125",
                     "3.4028234e38"});
    if (kind == 5) return any_of({"true", "false", "null", "nul", "True"});
    if (kind < 8) return any_of({"\"\"", "\"stack\"", "\"a b\"", "\"a\\n\"", "\"\u20ac\"", "\"\x7f\"", "\"\\x\"", "\"open"});
    if (kind == 8) return object(depth - 1);
    std::string text = "[";
    for (std::size_t i = 0, n = below(4); i < n; ++i) text += (i ? "," : "") + space() + value(depth - 1) + space();
    return text + "]";
  }
  std::mt19937_64 random_;
};

/// Whether it was skimmed.
bool agrees(const std::string& text) {
  std::vector<SkimmedField> fields;
  if (!skim(text, fields)) return false;
  const Json json = parsed_or_null(text);
  EXPECT_TRUE(json.is_object()) << text;
  if (!json.is_object() || json.size() != fields.size()) return ADD_FAILURE() << text, true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, value] = json.items()[i];
    EXPECT_EQ(fields[i].name, name) << text;
    EXPECT_EQ(parsed(fields[i].value, "value"), value) << text;
    const double number = skimmed_number(fields[i].value);
    EXPECT_TRUE(value.is_number() ? number == value.number() : std::isnan(number)) << text;
    EXPECT_EQ(skimmed_whole(fields[i].value), value.is_unsigned() ? std::optional(value.whole()) : std::nullopt) << text;
    std::vector<std::string_view> items;
    EXPECT_EQ(skim_items(fields[i].value, items), value.is_array()) << text;
    for (std::size_t k = 0; k < items.size(); ++k) EXPECT_EQ(parsed(items[k], "item"), value[k]) << text;
  }
  return true;
}

TEST(Skimming, ReadsWhatTheParserReads) {
  Lines lines(1);
  int skimmed = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = lines.object(2);
    skimmed += agrees(text);
    skimmed += agrees(lines.damaged(text));
  }
  EXPECT_GT(skimmed, 10'000) << "nearly nothing was skimmed: the test shows nothing";
}

TEST(Skimming, TakesTheLinesThatRunsWrite) {
  EXPECT_TRUE(agrees(R"({"step":12,"loss":3.3912,"gradient_norm":1.2e-05,"learning_rate":0.001,"seconds":0.04,"tokens":512})"));
  EXPECT_TRUE(agrees(R"({"step":1,"probe_loss":3.4,"stacks":[{"name":"stack","units":["layers.0.self"],"spread":[0.5,null]}]})"));
}

TEST(Skimming, LeavesToTheParserWhatOnlyItCanTell) {
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += (i ? ",\"f" : "\"f") + std::to_string(i) + "\":1";
  std::vector<SkimmedField> fields;
  for (const std::string& text : {many + "}", std::string(R"({"a":"\u0041"})"), std::string(R"({"a":1e300})"),
                                  std::string(R"({"a":[[[[[[[[[[1]]]]]]]]]]})")}) {
    EXPECT_FALSE(skim(text, fields)) << text;
    EXPECT_TRUE(parsed_or_null(text).is_object()) << text;
  }
  EXPECT_FALSE(skim(R"({"a":1,"a":2})", fields)) << "a field is given twice";
  EXPECT_FALSE(skim(R"({"a":{"b":1,"b":2}})", fields));
}

}  // namespace
}  // namespace addnorm
