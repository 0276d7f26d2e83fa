// What a run is given: options, and data of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include "support/near.h"
#include "train/run/options_json.h"
#include "train/run/prepared_run.h"
#include "train/run/runs.h"

namespace addnorm {
namespace {

using test::run_options;
using test::Runs;
using test::story;

struct OpenedData : Runs {
  std::unique_ptr<RunSource> opened(const std::string& text, const std::string& more = "") const {
    return open_source(given(text, more), folder.path / "cache");
  }
  RunOptions given(const std::string& text, const std::string& more = "") const {
    return run_options(concat("\"data\": [\"", folder.write("text.txt", text).string(), "\"]", more)).options;
  }
};

TEST_F(OpenedData, HasBaselinesOfItsLabelsWhateverTheModelAndTheSeed) {
  const auto baselines = [&](const std::string& options) {
    const RunOptions o = run_options_from_json(concat("{\"seq_len\": 64, ", options, "}"), "the test").options;
    return open_source(o, folder.path / "cache")->datasets(o).baselines.value();
  };
  const auto file = [&](const char* name, const char* text) {
    return concat(R"("data": [")", folder.write(name, text).string(), R"("], )");
  };
  const Baselines language = baselines("\"model\": \"lm\"");
  const Baselines masked = baselines("\"model\": \"encoder\"");
  EXPECT_EQ(masked.unigram, language.unigram);
  EXPECT_EQ(masked.bigram, language.bigram);
  EXPECT_TRUE(std::isnan(masked.floor)) << "what comes after a word helps, too";

  const std::string pairs = file("pairs.tsv", "ab\tba\nabb\tbba\nb\tb\n"), labelled = file("labelled.tsv", "x\tab\nx\tb\ny\ta\n");
  const std::string table = file("table.csv", "a,label\n1,x\n2,y\n3,x\n");
  const std::string all = R"("validation": 0, )";
  EXPECT_DOUBLE_EQ(baselines(pairs + all + R"("model": "seq2seq")").uniform, std::log(3.0)) << "a, b, and the end";
  const double two_to_one = std::log(3.0) - 2 * std::log(2.0) / 3;
  EXPECT_NEAR(baselines(labelled + all + R"("model": "classifier")").unigram, two_to_one, test::double_tolerance().atol);
  EXPECT_NEAR(baselines(table + all + R"("model": "mlp")").unigram, two_to_one, test::double_tolerance().atol);

  for (const char* task :
       {R"("model": "seq2seq", "task": "reverse")", R"("model": "lm", "task": "copy")", R"("model": "mlp", "task": "mixture")"}) {
    SCOPED_TRACE(task);
    const Baselines one = baselines(task), other = baselines(concat(task, R"(, "seed": 2)"));
    EXPECT_GT(one.uniform, 1);
    EXPECT_LE(one.unigram, one.uniform);
    EXPECT_EQ(one.unigram, other.unigram);
    EXPECT_LT(one.floor, 1);
  }
}

TEST_F(OpenedData, BitsPerByteAreOfTheBytesThatAreMeasured) {
  std::string text(1800, 'a');
  for (int i = 0; i < 200; ++i) text += "\u00e9";  // two bytes each, in the last tenth alone
  const RunOptions o = given(text);
  const auto source = opened(text);
  EXPECT_EQ(source->datasets(o).validation->bytes_per_label(), 2);
  EXPECT_EQ(source->datasets(o).train->bytes_per_label(), 1);
  EXPECT_DOUBLE_EQ(source->everything(o)->bytes_per_label(), (1799 + 400) / 1999.0);
}

TEST_F(OpenedData, APreparedRunHasTheOptionsThatTheRunItselfRecords) {
  RunRequest asked = request("a");
  asked.given = run_options(concat(R"("steps": 2, "data": [")", folder.write("text.txt", story()).string(), "\"]"));
  const PreparedRun before = prepared_run(asked.given, asked.given.options, asked.cache, {});
  ASSERT_TRUE(before.source);
  EXPECT_TRUE(before.data.train);
  EXPECT_GT(before.options.model.vocab, 0u);
  test::Watcher watcher;
  train_run(asked, watcher);
  const std::string recorded = read_run_record(RunFolder{asked.folder}).options;
  EXPECT_TRUE(differences(recorded, to_json(before.options)).empty());
  const GivenOptions stored = run_options_from_json(recorded, "run.json");
  const PreparedRun again = prepared_run(stored, stored.options, asked.cache, {}, PlanOf::begun_run);
  EXPECT_TRUE(differences(recorded, to_json(again.options)).empty());
}

TEST(OptionsAsJson, AreTheSameAsOptionsAsText) {
  for (const char* more : {"\"steps\": 20", R"("lr": 1, "dropout": 0.1, "warmup_steps": 0)", R"("own_arrangement":
       {"name": "mine", "unit": {"post": true}}, "eps": 1e-9)"}) {
    RunOptions options = planned(run_options(more), {});
    options.model.vocab = 10;
    options.model = completed(options.model);
    const Json value = json_of(options);
    EXPECT_EQ(value.dump(), to_json(options));
    EXPECT_EQ(parsed(value.dump(), "t").dump(), value.dump()) << "names of folders hash it";
    const GivenOptions again = run_options_of(value, "t");
    EXPECT_TRUE(differing_fields(value, json_of(again.options)).empty());
    EXPECT_EQ(repeated_options(value, "t").dump(), options_to_repeat(to_json(options), "t"));
  }
}

TEST_F(OpenedData, ATextShorterThanTheContextIsMeasuredAsOneWindow) {
  const auto all = opened("abcde")->everything(given("abcde"));
  EXPECT_EQ(all->size(), 1u);
  EXPECT_EQ(all->batch(0, 1).counted(), 4u);
}

TEST_F(OpenedData, T08WhatIsNoTextIsNamedUnlessBytesAreAskedFor) {
  std::string wide;
  for (const char letter : story()) wide += {letter, '\0'};
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{{"\x1F\x8B\x08 and more \xFF", "gzip"},
                                                                                       {"PK\x03\x04 \xFF\xFE", "zip"},
                                                                                       {"\xFF\xFE" + wide, "UTF-16"},
                                                                                       {wide, "UTF-16"}}) {
    try {
      opened(text);
      ADD_FAILURE() << expected;
    } catch (const DataError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(expected), std::string::npos) << message;
      EXPECT_NE(message.find("text.txt"), std::string::npos) << message;
    }
    EXPECT_NO_THROW(opened(text, ", \"tokenizer\": \"bytes\""));
  }
  EXPECT_EQ(opened(story())->datasets(given(story())).tokens, "characters: the text is UTF-8 and has 38 different ones");
}

TEST(RunOptions, OfARunAreRepeatedWithoutWhatIsPlannedOrDecidedByItsDataAnyway) {
  const GivenOptions given = run_options_from_json(
      R"({"layers": 2, "d_model": 32, "heads": 2, "seq_len": 8, "steps": 100, "batch_size": 4, "lr": 0.002, "seed": 9})",
      "a test");
  RunOptions planned_options = planned(given, {});
  planned_options.model.vocab = 5;
  planned_options.model = completed(planned_options.model);
  const GivenOptions again = run_options_from_json(options_to_repeat(to_json(planned_options), "a test"), "a test");
  EXPECT_EQ(again.given, given.given);
  EXPECT_EQ(again.options.lr, 0.002);
  EXPECT_NO_THROW(require_used(again));
}

TEST(RunOptions, GoThroughJsonUnchanged) {
  const GivenOptions given =
      run_options("\"steps\": 7, \"schedule\": \"inverse-sqrt\", \"on_nan\": \"rollback\", \"arrangement\": \"PostLN\"");
  EXPECT_EQ(given.options.model.arrangement, "post-ln");
  EXPECT_TRUE(given.given.contains("steps"));
  const GivenOptions again = run_options_from_json(to_json(given.options), "again");
  EXPECT_EQ(to_json(again.options), to_json(given.options));
}

TEST(RunOptions, T10SlipsAreAnsweredWithNameAndRange) {
  const auto answer = [](const std::string& text) {
    try {
      planned(run_options_from_json(text, "my.json"), {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, std::string>>{{R"({"stpes": 3})", "did you mean steps?"},
                                                        {R"({"lyers": 3})", "did you mean layers?"},
                                                        {R"({"lr": "fast"})", "lr is \"fast\"; it must be a number"},
                                                        {R"({"lr": -1})", "lr is -1"},
                                                        {R"({"batch_size": 0})", "batch_size is 0"},
                                                        {R"({"steps": 0})", "steps is 0"},
                                                        {R"({"steps": -3})", "steps is -3; it must be a whole number"},
                                                        {R"({"schedule": "cosin"})", "did you mean cosine?"},
                                                        {R"({"optimizer": "adamm"})", "did you mean adam"},
                                                        {R"({"validation": 1.5})", "validation is 1.5"},
                                                        {R"({"keep": 1})", "keep is 1"},
                                                        {R"({"label_smoothing": 2})", "label_smoothing is 2"},
                                                        {R"({"steps": 9, "warmup_steps": 10})", "warmup_steps is 10"},
                                                        {R"([1])", "an object of options"}}) {
    EXPECT_NE(answer(text).find(expected), std::string::npos) << text << "\n" << answer(text);
  }
}

/// What is said against options, in the words of a caller; where `run`, by a run of them.
std::string said(const std::string& text, const FieldWords& words, bool run = false) {
  const test::TemporaryFolder folder;
  test::Watcher watcher(0);
  try {
    const GivenOptions given = run_options_from_json(text, "my.json", words);
    require_used(given);
    planned(given, {});
    if (run) train_run({.folder = folder.path / "run", .given = given}, watcher);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunOptions, MessagesNameFieldsAndWordsOfACallerThatHasSome) {
  const FieldWords words = [](const std::string& field) { return "<" + field + ">"; };
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"epochs": 3})",
            "my.json: there is no field 'epochs': steps are counted, not epochs: say how many with {steps}.\nOne pass over a "
            "text of "
            "N tokens is N / ({batch_size} x {seq_len}) of them"},
           {R"({"grad_accum": 0})", "{grad_accum} is 0; it must be at least 1"},
           {R"({"d_ff": 0})", "{d_ff} is 0; it must be at least 1 (left out: 4 times {d_model})"},
           {R"({"probe_every": 0})", "{probe_every} is 0; it must be at least 1 step. {probes} off records nothing"},
           {R"({"lr": -1})", "{lr} is -1; it must be a number from 0 on"},
           {R"({"lr": 1, "min_lr": 2})", "{min_lr} is 2; it must be 0 ... 1 ({lr})"},
           {R"({"steps": 9, "warmup_steps": 10})",
            "{warmup_steps} is 10; it must be 0 ... 9 ({steps}), or the learning rate never gets as high as {lr}"},
           {R"({"spike_guard": -1})", "{spike_guard} is -1; it must be a number from 0 on"},
           {R"({"label_smoothing": 1})", "{label_smoothing} is 1; it must be 0 or more and below 1"},
           {R"({"clip_grad_norm": -1})", "{clip_grad_norm} is -1; it must be a number from 0 on (0: no clipping)"},
           {R"({"beta1": 1})", "{beta1} is 1; it must be from 0 to below 1"},
           {R"({"momentum": 0.5})", "{momentum} has no effect on this {optimizer}; sgd has it. Leave it out"},
           {R"({"tokenizer": "bytes"})",
            "{tokenizer} has no effect without {data}: made-up data has its own tokens. Leave it out"},
           {R"({"decay_all": true, "weight_decay": 0})", "{decay_all} has no effect where {weight_decay} is 0"}}) {
    EXPECT_EQ(said(text, words), with_fields_called(expected, words));
    EXPECT_EQ(said(text, nullptr), with_fields_called(expected, nullptr));
  }
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"heads": 5, "d_model": 64})", "{heads} is 5; it must divide {d_model} (64), or {d_head} be given"},
           {R"({"model": "classifier"})",
            "a classifier needs {data} FILE with lines label<TAB>text; numbers (CSV) go with {model} mlp"},
           {R"({"task": "copy", "model": "encoder"})", "{task} is 'copy'; an encoder has language, or {data} with text"},
           {R"({"task": "sort", "model": "seq2seq", "seq_len": 2})", "{seq_len} is 2; the task sort needs "}}) {
    EXPECT_TRUE(said(text, words, true).starts_with(with_fields_called(expected, words))) << said(text, words, true);
    EXPECT_NE(said(text, nullptr, true).find(with_fields_called(expected, nullptr)), std::string::npos)
        << said(text, nullptr, true);
  }
}

TEST_F(Runs, MessagesOfFoldersNameFieldsAndWordsOfACallerThatHasSome) {
  const FieldWords words = [](const std::string& field) { return "<" + field + ">"; };
  RunRequest none = request("none", "", true), there = request("there");
  EXPECT_TRUE(refusal(none).ends_with("has no run to resume. Leave resume out to begin one there, or say resume_or_start"));
  none.given.options.words = words;
  EXPECT_TRUE(refusal(none).ends_with("has no run to resume. Leave <resume> out to begin one there, or say <resume_or_start>"));
  test::Watcher watcher(6);
  train_run(there, watcher);
  EXPECT_TRUE(refusal(there).ends_with("has a run already. resume goes on with it; another folder keeps both"));
  there.given.options.words = words;
  EXPECT_TRUE(refusal(there).ends_with("has a run already. <resume> goes on with it; another <folder> keeps both"));
  RunRequest other = request("there", "\"steps\": 20, \"lr\": 0.5", true);
  other.given.options.words = words;
  EXPECT_NE(refusal(other).find("\n  <lr>: 0.001 in the run, 0.5 now\n"), std::string::npos) << refusal(other);
}

TEST(RunOptions, ExplanationsNameFieldsAndWordsOfACallerThatHasSome) {
  const auto help = [](const FieldWords& words) {
    const std::vector<OptionText> all = option_texts(words);
    return std::ranges::find(all, "kv_heads", &OptionText::name)->help;
  };
  EXPECT_EQ(help(nullptr), "grouped queries; divides heads (default: as heads)");
  EXPECT_EQ(help([](const std::string& field) { return "-" + field; }), "grouped queries; divides -heads (default: as -heads)");
}

TEST(RunOptions, PlansFitTheAmountOfText) {
  const RunOptions small = planned(run_options_from_json("{}", "t"), {.tokens = 5000});
  const RunOptions large = planned(run_options_from_json("{}", "t"), {.tokens = 50'000'000});
  EXPECT_LT(small.model.d_model, large.model.d_model);
  EXPECT_LT(small.model.seq_len, large.model.seq_len);
  const RunOptions tiny = planned(run_options_from_json("{}", "t"), {.tokens = 60});
  EXPECT_EQ(tiny.model.seq_len, 14u);
  EXPECT_NO_THROW(planned(run_options_from_json("{}", "t"), {.tokens = 8}));
  EXPECT_THROW(planned(run_options_from_json("{}", "t"), {.tokens = 7}), DataError);
  EXPECT_LE(*planned(run_options_from_json(R"({"steps": 3})", "t"), {.tokens = 5000}).warmup_steps, 3u);
  EXPECT_EQ(planned(run_options_from_json(R"({"hidden_size": 40})", "t"), {.tokens = 5000}).model.d_model, 40u);
}

}  // namespace
}  // namespace addnorm
