// The bench of sentence vectors without measuring: its texts, how vectors are compared, what is printed.
#include "bench/jobs/embed.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "addnorm/core/error.h"
#include "bench/bench.h"
#include "bench/print_embed.h"

namespace addnorm::bench {
namespace {

struct Floats {
  explicit Floats(const std::vector<float>& values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  ~Floats() { std::filesystem::remove(path); }
  static inline int made = 0;
  std::filesystem::path path = std::filesystem::temp_directory_path() / concat("addnorm-floats-", getpid(), "-", made++);
};

TEST(BenchEmbed, VectorsAreComparedTextByText) {
  const Floats a({1, 0, 3, 4}), scaled({2, 0, 6, 8}), turned({1, 0, 4, -3}), shorter({1, 0}), nan({1, 0, NAN, 4});
  EXPECT_DOUBLE_EQ(least_cosine(a.path, scaled.path, 2), 1);
  EXPECT_DOUBLE_EQ(least_cosine(a.path, turned.path, 2), 0);
  EXPECT_EQ(least_cosine(a.path, shorter.path, 2), 0);
  EXPECT_EQ(least_cosine(a.path, nan.path, 2), 0);
  EXPECT_EQ(least_cosine(a.path, "/nonexistent", 2), 0);
}

TEST(BenchEmbed, TextsHaveTheTokensThatTheShapeSays) {
  for (const EmbedCase& c : embed_cases()) {
    const auto texts = embed_texts(c);
    ASSERT_EQ(texts.size(), c.shape[0]);
    std::size_t longest = 0;
    for (const auto& text : texts) {
      longest = std::max(longest, text.size());
      EXPECT_EQ(text.front(), 101);
      EXPECT_EQ(text.back(), 102);
    }
    EXPECT_EQ(longest, c.shape[1]) << c.label;
    EXPECT_EQ(embed_texts(c), texts);
  }
}

TEST(BenchEmbed, MixedTextsHaveFiveToAHundredAndTwentyWords) {
  std::size_t fewest = 1000, most = 0;
  for (const auto& text : embed_texts(embed_cases()[3])) {
    fewest = std::min(fewest, text.size() - 2);
    most = std::max(most, text.size() - 2);
  }
  EXPECT_GE(fewest, 5u);
  EXPECT_LE(fewest, 10u);
  EXPECT_GE(most, 115u);
  EXPECT_LE(most, 120u);
}

TEST(BenchEmbed, OperationsAreThoseOfProductsAndPairs) {
  const double d = 384, tokens = 32 * 128;
  EXPECT_DOUBLE_EQ(embed_operations(embed_cases()[2]), 6 * (2 * tokens * 12 * d * d + 4 * 32 * 128 * 128 * d));
}

Result a_row() {
  Result r;
  r.group = "embed";
  r.name = "embed";
  r.shape = {32, 128};
  r.threads = 2;
  r.tokens = 4096;
  r.work = 92e9;
  r.seconds = 0.5;
  r.cosine = 0.9999999;
  r.torch = Result::Rival{0.9, 1.8, 1.7, 1.9};
  r.onnxruntime = Result::Rival{0.6, 1.2, 1.1, 1.3};
  r.ctranslate2 = Result::Rival{0.7, 1.4, 1.3, 1.5};
  r.openvino = Result::Rival{0.8, 1.6, 1.5, 1.7};
  return r;
}

TEST(BenchEmbed, RowsSayTheRatioToEachAndToTheBest) {
  Report report;
  report.results = {a_row(), a_row()};
  report.results[1].onnxruntime.reset();
  std::ostringstream json, table;
  print_json(report, json);
  print_table(report, table);
  const auto rows = nlohmann::json::parse(json.str())["results"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["shape"], (std::vector<int>{32, 128}));
  EXPECT_EQ(rows[0]["threads"], 2);
  EXPECT_EQ(rows[0]["seconds"], 0.5);
  EXPECT_EQ(rows[0]["ratio_to_torch"], 1.8);
  EXPECT_EQ(rows[0]["quartiles_to_torch"], (std::vector<double>{1.7, 1.9}));
  EXPECT_EQ(rows[0]["ratio_to_best"], 1.2);
  EXPECT_EQ(rows[0]["best"], "onnxruntime");
  EXPECT_EQ(rows[0]["onnxruntime_seconds"], 0.6);
  EXPECT_EQ(rows[0]["cosine"], 0.9999999);
  EXPECT_EQ(rows[1]["best"], "ctranslate2");
  EXPECT_FALSE(rows[1].contains("ratio_to_onnxruntime"));
  EXPECT_NE(table.str().find("32 x 128"), std::string::npos) << table.str();
}

TEST(BenchEmbed, PeersInBf16AreATableOfTheirOwnAndNeverTheBestInF32) {
  Report report;
  report.results = {a_row(), a_row()};
  Result& r = report.results[1];
  r.torch_bf16 = Result::Rival{0.4, 0.8, 0.7, 0.9};
  r.openvino_bf16 = Result::Rival{0.25, 0.5, 0.4, 0.6};
  r.cosine_bf16 = 0.9998;
  std::ostringstream json, table;
  print_json(report, json);
  print_table(report, table);
  const auto rows = nlohmann::json::parse(json.str())["results"];
  EXPECT_EQ(rows[1]["ratio_to_best"], 1.2);
  EXPECT_EQ(rows[1]["ratio_to_openvino"], 1.6);
  EXPECT_EQ(rows[1]["best_bf16"], "openvino_bf16");
  EXPECT_EQ(rows[1]["ratio_to_best_bf16"], 0.5);
  EXPECT_EQ(rows[1]["ratio_to_torch_bf16"], 0.8);
  EXPECT_EQ(rows[1]["cosine_bf16"], 0.9998);
  EXPECT_FALSE(rows[0].contains("best_bf16"));
  const std::string text = table.str();
  const auto heading = text.find("peers in bf16, we in f32");
  ASSERT_NE(heading, std::string::npos) << text;
  EXPECT_NE(text.find("0.80      0.50", heading), std::string::npos) << text;
}

TEST(BenchEmbed, LoadingAndMemoryAreRowsOfTheirOwn) {
  Result load, memory;
  load.group = memory.group = "embed";
  load.name = "embed load";
  load.seconds = 0.125;
  memory.name = "embed memory";
  memory.peak_mib = 100;
  memory.weights_mib = 80;
  Report report;
  report.results = {a_row(), load, memory};
  std::ostringstream json, table;
  print_json(report, json);
  print_table(report, table);
  const auto rows = nlohmann::json::parse(json.str())["results"];
  EXPECT_EQ(rows[1], (nlohmann::json{{"name", "embed load"}, {"threads", 1}, {"seconds", 0.125}}));
  EXPECT_EQ(rows[2]["ratio_to_weights"], 1.25);
  EXPECT_NE(table.str().find("125.00 ms"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("100 MiB, 1.25 x the weights"), std::string::npos) << table.str();
}

TEST(BenchEmbed, FindsNoModelWhereThereIsNone) {
  EXPECT_EQ(minilm_folder(""), "");
  EXPECT_EQ(minilm_folder("/nonexistent/bin/python"), "");
  EXPECT_EQ(minilm_bytes(), 4u * 22'565'376);  // 22.7 million with the pooler, which is not computed with
}

}  // namespace
}  // namespace addnorm::bench
