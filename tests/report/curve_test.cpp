// Curves and matrices: short, and still true.
#include "report/curve.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "report/numbers.h"
#include "report/probes.h"
#include "support/folder.h"

namespace addnorm {
namespace {

using test::TemporaryFolder;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string line(std::size_t step, const std::string& loss) {
  return concat("{\"step\":", step, ",\"loss\":", loss, ",\"gradient_norm\":", 10 * step, ",\"seconds\":0.5,\"tokens\":8}\n");
}

/// As the page reads it (web/src/packed.ts).
std::vector<double> unpacked(const std::string& text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<double> values;
  for (std::size_t i = 0; i + 3 <= text.size(); i += 3) {
    std::uint32_t code = 0;
    for (std::size_t k = 0; k < 3; ++k) code = code << 6 | static_cast<std::uint32_t>(kDigits.find(text[i + k]));
    values.push_back(code == 0x3FF00 ? kNone : std::bit_cast<float>(code << 14));
  }
  return values;
}

TEST(Numbers, HaveSixDigitsAndNoneThatIsNotFinite) {
  EXPECT_EQ(rounded(3.38450000012).dump(), "3.3845");
  EXPECT_EQ(rounded(-1234567.0).dump(), "-1234570.0");
  EXPECT_TRUE(rounded(kNone).is_null());
  EXPECT_TRUE(rounded(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_EQ(rounded_copy(parsed(R"({"a":[1,12345678,0.12345678,null,"x"]})", "")).dump(),
            R"({"a":[1,12345678,0.123457,null,"x"]})");
}

TEST(PackedNumbers, AreReadBackWithinAThousandth) {
  const std::vector<double> values{0, 1, -1, 0.1, 3.14159, -2.7e-12, 6.02e23, 1e-37, 12345.678};
  const std::vector<double> back = unpacked(packed(values));
  ASSERT_EQ(back.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back[i], values[i], std::abs(values[i]) / 1000) << values[i];
}

TEST(PackedNumbers, AreNothingWhereTheyAreNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> values{kNone, infinite, -infinite, 1e300, std::numeric_limits<float>::max()};
  EXPECT_EQ(packed(values), "/8A/8A/8A/8A/8A");
}

TEST(EvenlySpaced, KeepsTheEndsAndAscends) {
  EXPECT_EQ(evenly_spaced(3, 60), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(evenly_spaced(5, 3), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_TRUE(evenly_spaced(0, 3).empty());
  const std::vector<std::size_t> at = evenly_spaced(1000, 60);
  ASSERT_EQ(at.size(), 60u);
  EXPECT_EQ(at.front(), 0u);
  EXPECT_EQ(at.back(), 999u);
  for (std::size_t i = 1; i < at.size(); ++i) EXPECT_LT(at[i - 1], at[i]);
}

TEST(Curve, OfManyStepsHasMeansOfBlocksAndKeepsEverySpike) {
  const TemporaryFolder folder;
  std::string lines;
  for (std::size_t step = 1; step <= 3'000; ++step) lines += line(step, step == 2'777 ? "99.5" : step == 123 ? "0.25" : "2");
  const Metrics metrics = read_metrics(folder.write("metrics.jsonl", lines));
  Json run;
  put_curves(metrics, block_ends(metrics, 300), true, run);
  const Json& curve = run["curve"];
  EXPECT_LE(curve["step"].size(), 300u);
  EXPECT_GE(curve["step"].size(), 200u);
  EXPECT_EQ(curve["step"].array_items().back().whole(), 3'000u);
  EXPECT_EQ(run["gradient_curve"].size(), curve["step"].size());
  double least = 100, most = 0;
  for (const Json& value : curve["least"].array_items()) least = std::min(least, value.number());
  for (const Json& value : curve["most"].array_items()) most = std::max(most, value.number());
  EXPECT_EQ(least, 0.25);
  EXPECT_EQ(most, 99.5);
  EXPECT_FALSE(run.contains("rate_curve")) << "nothing was recorded";
}

TEST(Curve, OfFewStepsIsWhatWasRecorded) {
  const TemporaryFolder folder;
  const Metrics metrics = read_metrics(folder.write("metrics.jsonl", line(1, "3.5") + line(2, "null") + line(3, "2.5")));
  Json run;
  put_curves(metrics, block_ends(metrics, 300), true, run);
  EXPECT_EQ(run["curve"].dump(), R"({"step":[1,2,3],"loss":[3.5,null,2.5]})");
}

TEST(Metrics, LeaveOutWhatWasRolledBackOrWrittenTwice) {
  const TemporaryFolder folder;
  const std::string lines = line(1, "3") + line(2, "9") + line(3, "9") + R"({"step":1,"rolled_back_from":3})" + "\n" +
                            line(2, "2.5") + "no json\n" + R"({"step":2,"validation_loss":2.25})" + "\n" +
                            R"({"step":2,"stopped":"the loss is not finite"})" + "\n" + R"({"step":3,"lo)";
  const Metrics metrics = read_metrics(folder.write("metrics.jsonl", lines));
  ASSERT_EQ(metrics.steps.size(), 2u);
  EXPECT_EQ(metrics.steps[1].loss, 2.5);
  EXPECT_EQ(metrics.validation_losses, std::vector<double>{2.25});
  EXPECT_EQ(metrics.stopped, "the loss is not finite");
  EXPECT_EQ(metrics.flaws.text(), "line 6 is no JSON object; line 9, the last, breaks off");
}

TEST(Metrics, TakeALastLineThatIsWholeButForItsEnd) {
  const TemporaryFolder folder;
  const std::string two = line(1, "3") + line(2, "2.5");
  const Metrics metrics = read_metrics(folder.write("metrics.jsonl", two.substr(0, two.size() - 1)));
  EXPECT_EQ(metrics.steps.size(), 2u);
  EXPECT_FALSE(metrics.flaws.any());
  for (std::size_t cut = 1; cut < line(2, "2.5").size() - 1; ++cut) {  // in the middle of the second line
    const Metrics fewer = read_metrics(folder.write("metrics.jsonl", two.substr(0, line(1, "3").size() + cut)));
    EXPECT_EQ(fewer.steps.size(), 1u);
    EXPECT_EQ(fewer.flaws.text(), "line 2, the last, breaks off");
  }
}

TEST(Metrics, OfAnyOtherWritingAreReadTheSame) {
  const TemporaryFolder folder;
  const Metrics metrics =
      read_metrics(folder.write("metrics.jsonl",
                                "\n{ \"loss\" : 2.5e0 ,\t\"note\":[1,{\"a\":\"\\u00e9\"}], \"step\":7, \"tokens\": 8 }\r\n"
                                "{\"step\":8,\"stopped\":\"an \\\"odd\\\" end \u00e9\"}\n"));
  ASSERT_EQ(metrics.steps.size(), 1u);
  EXPECT_EQ(metrics.steps[0].step, 7u);
  EXPECT_EQ(metrics.steps[0].loss, 2.5);
  EXPECT_EQ(metrics.steps[0].tokens, 8);
  EXPECT_TRUE(std::isnan(metrics.steps[0].seconds));
  EXPECT_EQ(metrics.stopped, "an \"odd\" end \u00e9");
}

TEST(ShorterCurve, WeighsByStepsAndKeepsTheEnd) {
  const Json curve = parsed(R"({"step":[10,20,21],"loss":[4,2,8]})", "");
  EXPECT_EQ(shorter_curve(curve, 300), curve);
  EXPECT_EQ(shorter_curve(curve, 2).dump(), R"({"step":[20,21],"loss":[3.0,8.0]})");
  EXPECT_EQ(shorter_curve(parsed(R"({"step":[10,20],"loss":[4,null]})", ""), 1).dump(), R"({"step":[20],"loss":[null]})");
}

TEST(ShorterCurve, IsEmptyWhereItIsDamaged) {
  for (const char* text : {R"({"step":[1,2],"loss":[1]})", R"({"step":[2,1],"loss":[1,1]})", R"({"step":["a"],"loss":[1]})", "7"})
    EXPECT_EQ(shorter_curve(parsed(text, ""), 9)["loss"].size(), 0u) << text;
}

std::string probe_line(std::size_t step, std::size_t units, bool full = false) {
  Json names = Json::array(), by_place = Json::array(), by_unit = Json::array();
  for (std::size_t i = 0; i <= units; ++i) by_place.push_back(static_cast<double>(step * 1000 + i));
  for (std::size_t i = 0; i < units; ++i) names.push_back(concat("layers.", i, ".ffn")), by_unit.push_back(nullptr);
  Json stack{{"name", "stack"}, {"units", names}, {"stream_rms", by_place}, {"attention_entropy", by_unit}};
  if (full) stack["lens_loss"] = by_unit;
  return Json{{"step", step}, {"probe_loss", 2.5}, {"stacks", Json::array({stack})}}.dump() + "\n";
}

TEST(ProbeMatrices, HaveARowPerRecordAndSayWhatWasLeftOut) {
  const TemporaryFolder folder;
  std::string lines;
  for (std::size_t step = 1; step <= 100; ++step) lines += probe_line(step, 300);
  const Json all = probe_matrices(folder.write("probes.jsonl", lines), {.records = 60, .units = 256}).stacks;
  ASSERT_EQ(all.size(), 1u);
  const Json& stack = all.array_items().front();
  EXPECT_EQ(stack["step"].size(), 60u);
  EXPECT_EQ(stack["units"].size(), 256u);
  EXPECT_EQ(stack["of_records"].whole(), 100u);
  EXPECT_EQ(stack["of_units"].whole(), 300u);
  const std::vector<double> rms = unpacked(stack["stream_rms"].text());
  ASSERT_EQ(rms.size(), 60u * 257u);
  EXPECT_NEAR(rms.back(), 100'300, 100) << "the last place of the last record";
  EXPECT_TRUE(std::isnan(unpacked(stack["attention_entropy"].text()).front()));
  EXPECT_FALSE(stack.contains("spread")) << "it was not recorded";
}

TEST(ProbeMatrices, KeepWhatStandsBeforeACut) {
  const TemporaryFolder folder;
  const std::string two = probe_line(1, 3) + probe_line(2, 3), more = probe_line(4, 3);
  const ProbeMatrices all = probe_matrices(folder.write("probes.jsonl", two + more.substr(0, more.size() / 2)));
  EXPECT_EQ(all.stacks.array_items().front()["step"].dump(), "[1,2]");
  EXPECT_EQ(all.flaws.text(), "line 3, the last, breaks off");
}

TEST(ProbeMatrices, HaveThreeFullRecordsInPlainNumbers) {
  const TemporaryFolder folder;
  std::string lines;
  for (std::size_t step = 1; step <= 100; ++step) lines += probe_line(step, 2, step % 10 == 0);
  const Json all = probe_matrices(folder.write("probes.jsonl", lines)).stacks;
  const Json& full = all.array_items().front()["full"];
  ASSERT_EQ(full.size(), 3u);
  EXPECT_EQ(full.array_items().front()["step"].whole(), 10u);
  EXPECT_EQ(full.array_items().back()["step"].whole(), 100u);
  EXPECT_EQ(full.array_items().back()["lens_loss"].size(), 2u);
}

TEST(ProbeMatrices, AreEmptyForAFileWithoutRecords) {
  const TemporaryFolder folder;
  const ProbeMatrices none = probe_matrices(folder.write("probes.jsonl", "{}\n[]\nnull\n{\"step\":1,\"stacks\":[7]}\n"));
  EXPECT_EQ(none.stacks.size(), 0u);
  EXPECT_EQ(none.flaws.text(), "line 2 is no JSON object, nor is 1 other");
  EXPECT_THROW(probe_matrices(folder.path / "missing.jsonl"), DataError);
}

}  // namespace
}  // namespace addnorm
