// run.json, the differences between two of them, and metrics.jsonl through every kind of end.
#include "addnorm/train/run_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "addnorm/core/version.h"
#include "addnorm/model/config.h"
#include "core/json/json.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::text_of;
using test::throws_saying;
using test::write_text;

class Run : public testing::Test {
 protected:
  static std::string line(std::int64_t step) { return concat("{\"step\": ", step, ", \"loss\": 1.5}"); }
  static std::string lines(std::int64_t first, std::int64_t last) {
    std::string all;
    for (std::int64_t step = first; step <= last; ++step) all += line(step) + "\n";
    return all;
  }

  test::TemporaryFolder folder;
  RunFolder run{folder.path};
};

TEST_F(Run, RecordComesBackAsItWasWritten) {
  const RunRecord record = new_run_record(R"({"lr": 0.001, "data": "ä\n.txt", "optimizer": {"kind": "adamw"}})");
  write_run_record(run, record);
  const RunRecord back = read_run_record(run);
  EXPECT_EQ(back.options, record.options);
  EXPECT_EQ(back.machine, record.machine);
  EXPECT_EQ(back.version, version());
  EXPECT_EQ(back.begun, record.begun);
  EXPECT_EQ(back.begun.size(), std::string("2026-11-16T15:20:00Z").size());
  EXPECT_NE(back.machine.find("\"threads_granted\":"), std::string::npos);
}

TEST_F(Run, RecordThatIsNoneIsRefusedByFileAndField) {
  const std::string file = run.record().string();
  const auto reading = [&] { read_run_record(run); };
  EXPECT_TRUE(throws_saying<DataError>(reading, {file}));
  write_text(run.record(), "[1]");
  EXPECT_TRUE(throws_saying<DataError>(reading, {file, "array"}));
  write_text(run.record(), R"({"version": "1", "begun": "", "machine": {}})");
  EXPECT_TRUE(throws_saying<DataError>(reading, {file, "lacks options"}));
  write_text(run.record(), R"({"version": "1", "begun": "", "machine": {}, "options": 3})");
  EXPECT_TRUE(throws_saying<DataError>(reading, {file, "options", "3", "object"}));
  write_text(run.record(), R"({"version": 1, "machine": {}, "options": {}})");
  EXPECT_TRUE(throws_saying<DataError>(reading, {file, "version", "string"}));
  EXPECT_THROW(new_run_record("no json"), DataError);
}

TEST(InitialisationRecord, DescribesBothStacks) {
  ModelConfig config{.vocab = 50, .layers = 3, .d_model = 16, .heads = 2, .seq_len = 8, .arrangement = "deepnorm"};
  using Lines = std::vector<std::string>;
  const auto drawn = [&] {
    Lines all;
    const Json record = parsed(initialisation_record(completed(config)), "the record");
    for (const Json& line : record.at("drawn").array_items()) {
      std::string& text = all.emplace_back();
      for (const auto& [name, value] : line.items()) text += concat(text.empty() ? "" : ", ", name, ": ", value.text());
    }
    return all;
  };
  EXPECT_EQ(drawn(),
            (Lines{"what: W_q, W_k, rule: Xavier normal", "what: W_v, W_o, W_1, W_2, rule: Xavier normal, times (8L)^−¼ = 0.4518",
                   "what: embeddings, rule: N(0, 1/d)"}));
  config.model = ModelKind::seq2seq;
  config.target_vocab = 40;
  config.decoder_layers = 2;
  EXPECT_EQ(drawn(),
            (Lines{"stack: encoder, what: W_q, W_k, rule: Xavier normal",
                   "stack: encoder, what: W_v, W_o, W_1, W_2, rule: Xavier normal, times 0.87·(N^4·M)^(−1/16) = 0.633",
                   "stack: encoder, what: embeddings, rule: N(0, 1/d)", "stack: decoder, what: W_q, W_k, rule: Xavier normal",
                   "stack: decoder, what: W_v, W_o, W_1, W_2, rule: Xavier normal, times (12M)^−¼ = 0.4518",
                   "stack: decoder, what: embeddings, rule: N(0, 1/d)"}));
  config.arrangement = "post-ln";
  config.init.rule = "t5";
  config.tied = false;
  const auto begins = [](const char* text) { return [text](const std::string& line) { return line.starts_with(text); }; };
  EXPECT_EQ(std::ranges::count_if(drawn(), begins("stack: encoder, what: embeddings, rule: N(0, 1)")), 1);
  EXPECT_EQ(std::ranges::count_if(drawn(), begins("stack: decoder, what: embeddings, a head of its own, rule: N(0, 1)")), 1);
}

TEST(InitialisationRecord, SaysOfAModelOfNumbersWhatItHas) {
  const auto drawn = [](const std::string& rule) {
    const ModelConfig config{
        .model = ModelKind::mlp, .features = 5, .classes = 3, .layers = 2, .d_model = 8, .init = {.rule = rule}};
    return parsed(initialisation_record(completed(config)), "the record").at("drawn").dump();
  };
  EXPECT_EQ(drawn("xavier"), R"([{"what":"W_1, W_2, in.weight, out.weight","rule":"Xavier uniform"}])");
  EXPECT_EQ(drawn("pytorch"), R"x([{"what":"W_1, W_2","rule":"Xavier uniform"},)x"
                              R"x({"what":"biases of W_1 and W_2, in.weight, out.weight","rule":"U(±1/√fan_in)"}])x");
}

TEST(InitialisationRecord, SaysTheGainsOfAFormulaByStack) {
  const ModelConfig config{.model = ModelKind::seq2seq,
                           .vocab = 50,
                           .layers = 2,
                           .decoder_layers = 4,
                           .d_model = 16,
                           .heads = 2,
                           .seq_len = 8,
                           .arrangement = "deepnorm"};
  const Json record = parsed(initialisation_record(completed(config)), "the record");
  EXPECT_EQ(record.at("contained"), Json::array({"encoder: W_v, W_o, W_1, W_2: times 0.87·(N^4·M)^(−1/16)",
                                                 "decoder: W_v, W_o, W_1, W_2: times (12M)^−¼"}));
}

TEST_F(Run, DifferencesNameTheFieldAndBothValues) {
  const auto found =
      differences(R"({"lr": 0.001, "steps": 10, "model": {"layers": 2, "norm": "rms"}, "old": true, "same": [1, 2]})",
                  R"({"same": [1, 2], "lr": 0.5, "steps": 10.0, "model": {"layers": 4, "norm": "rms"}, "new": null})");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].text(), "lr: 0.001 in the run, 0.5 now");
  EXPECT_EQ(found[1].text(), "model.layers: 2 in the run, 4 now");
  EXPECT_EQ(found[2].text(), "old: true in the run, nothing now");
  EXPECT_EQ(found[3].text(), "new: nothing in the run, null now");
  EXPECT_TRUE(differences("{}", "{}").empty());
  EXPECT_THROW(differences("{}", "3"), DataError);
}

TEST_F(Run, MetricsAreThereAsSoonAsTheyAreWritten) {
  MetricsLog log(run.metrics(), 0);
  log.append(line(1));
  EXPECT_EQ(text_of(run.metrics()), lines(1, 1));
  log.append(line(2));
  log.sync();
  EXPECT_EQ(text_of(run.metrics()), lines(1, 2));
  EXPECT_TRUE(log.working());
}

TEST_F(Run, T09ResumedMetricsHaveEveryStepOnceWhereverTheFileEnded) {
  const std::string whole = lines(1, 9);
  const std::size_t length = line(1).size() + 1;
  for (std::size_t end = 0; end <= whole.size(); end += 3)
    for (const std::int64_t step : {0, 4, 9}) {
      write_text(run.metrics(), whole.substr(0, end));
      const auto kept = std::min<std::int64_t>(step, static_cast<std::int64_t>(end / length));
      MetricsLog log(run.metrics(), step);
      log.append(line(step + 1));
      EXPECT_EQ(text_of(run.metrics()), lines(1, kept) + line(step + 1) + "\n") << end << " bytes, resumed at " << step;
      EXPECT_EQ(log.dropped(), (end + length - 1) / length - static_cast<std::size_t>(kept)) << end;
    }
}

TEST_F(Run, T09LinesThatAreNoneOfOursGoAndThoseWithoutStepStay) {
  const std::string good = "{\"note\": \"resumed\"}\n" + lines(1, 2);
  write_text(run.metrics(),
             "{\"step\": 7}\n" + good + std::string(3, '\0') + "\n{\"step\": \"2\"}\n[]\n" + std::string(3'000'000, 'x') + "\n");
  EXPECT_EQ(MetricsLog(run.metrics(), 2).dropped(), 5u);
  EXPECT_EQ(text_of(run.metrics()), good);
}

TEST_F(Run, MetricsThatCannotBeOpenedAreReportedOnceAndWrittenWhenTheyCan) {
  std::vector<std::string> reported;
  const RunFolder later{folder.path / "later"};
  MetricsLog log(later.metrics(), 0, [&](const std::string& message) { reported.push_back(message); });
  for (std::int64_t step = 1; step <= 5; ++step) log.append(line(step));
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_NE(reported[0].find(later.metrics().string()), std::string::npos);
  EXPECT_FALSE(log.working());
  fs::create_directory(later.path);
  log.append(line(6));
  EXPECT_EQ(text_of(later.metrics()), lines(1, 6));
  EXPECT_TRUE(log.working());
}

}  // namespace
}  // namespace addnorm
