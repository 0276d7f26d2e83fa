// addnorm arrangements: what it prints, to whom, and what it answers to names it does not know.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/diagram.h"
#include "cli/arrangements/views.h"
#include "cli/in_process.h"
#include "cli/terminal/command.h"
#include "support/near.h"

namespace addnorm::cli {
namespace {

using test::Outcome;
using test::says;
using Json = nlohmann::json;

Outcome run_arrangements(std::vector<const char*> arguments) {
  Program program("addnorm", "a tool", "1.2");
  add_arrangements(program);
  arguments.insert(arguments.begin(), "arrangements");
  return test::outcome_of(program, std::move(arguments));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Rows all_rows() {
  Rows rows;
  for (const Arrangement& row : arrangements()) rows.push_back(&row);
  return rows;
}

TEST(ArrangementsCommand, ListsEveryArrangementOnALineOfItsOwnInAPipe) {
  const std::string table = arrangements_table(all_rows(), arrangement_view("lm", "layernorm", 12), {});
  EXPECT_EQ(lines_of(table).size(), arrangements().size() + 1);
  EXPECT_TRUE(
      says(table, {"NAME", "FORMULA", "FINAL NORM", "SOURCE", "USED BY", "\npre-ln ", "x' = x + F(LN(x))", "(2017)", "BERT"}));
}

TEST(ArrangementsCommand, FitsTerminals) {
  const ArrangementView view = arrangement_view("lm", "layernorm", 12);
  for (const std::size_t columns : {80u, 100u, 120u, 200u}) {
    for (const std::string& line : lines_of(arrangements_table(all_rows(), view, {.columns = columns})))
      EXPECT_LE(columns_of(line), columns) << line;
    for (const Arrangement* row : all_rows())
      for (const std::string& line : lines_of(arrangements_page({row}, view, {.columns = columns})))
        EXPECT_LE(columns_of(line), columns) << line;
  }
}

TEST(ArrangementsCommand, SpeaksAsciiWhereThereIsNoUnicode) {
  const std::string text =
      run_arrangements({"--ascii"}).out +
      arrangements_page(all_rows(), arrangement_view("seq2seq", "rmsnorm", 6), {.columns = 100, .unicode = false});
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '?'; }));
  EXPECT_TRUE(says(text, {"x' = LN(alpha*x + F(x))", "(+)"}));
}

TEST(ArrangementsCommand, GivesJsonWithEveryField) {
  const Outcome o = run_arrangements({"--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json all = Json::parse(o.out);
  ASSERT_EQ(all.size(), arrangements().size());
  for (const Json& one : all) {
    for (const char* field : {"name", "formula", "entry", "exit", "source", "year", "streams", "final_norm",
                              "extra_params_per_unit", "aliases", "used_by", "known_failure", "skip_gain"})
      EXPECT_TRUE(one.contains(field)) << one["name"] << ' ' << field;
    EXPECT_TRUE(one["final_norm"].is_boolean() && one["year"].is_number() && one["aliases"].is_array());
  }
  EXPECT_EQ(run_arrangements({"--format", "json"}).out, o.out);
}

TEST(ArrangementsCommand, GivesOneArrangementInFull) {
  const Json one = Json::parse(run_arrangements({"deepnorm", "--json", "--layers", "12"}).out);
  ASSERT_EQ(one.size(), 1u);
  const Json& stack = one[0]["stacks"][0];
  EXPECT_EQ(stack["stack"], "decoder-only");
  EXPECT_EQ(stack["symbols"][0], "α = (2L)^¼ = 2.213");
  EXPECT_EQ(stack["init"][1]["rule"], "Xavier normal, times (8L)^−¼ = 0.3195");
  EXPECT_EQ(stack["diagram"]["nodes"].size(), 10u);
  EXPECT_EQ(Json::parse(run_arrangements({"plain", "--json"}).out)[0]["skip_gain"]["6"], nullptr);
  EXPECT_EQ(Json::parse(run_arrangements({"pre-ln", "--json", "--model", "seq2seq"}).out)[0]["stacks"].size(), 2u);
}

TEST(ArrangementsCommand, DescribesOneInFull) {
  const Outcome o = run_arrangements({"deepnorm", "--layers", "100"});
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_TRUE(
      says(o.out, {"x' = LN(α·x + F(x))", "x₀ = e", "y = x", "α = (2L)^¼ = 3.761", "init", "DeepNet", "L = 100", "= 0.188",
                   "contained", "skip gain", "6 layers", "100 layers", "0.965", "known failure", "GLM-130B", "deepnet", "⊕"}));
}

TEST(ArrangementsCommand, SaysWhatNormSkipReallyIs) {
  EXPECT_TRUE(says(run_arrangements({"norm-skip"}).out, {"under the name pre-LN", "post-ln shifted by one norm"}));
}

TEST(ArrangementsCommand, AnswersAnAliasWithTheCanonicalNameOnStderr) {
  for (const char* alias : {"PreLN", "norm_first", "normalize_before", "Pre_Norm", "norm_first=true"}) {
    const Outcome o = run_arrangements({alias, "--json"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(Json::parse(o.out)[0]["name"], "pre-ln");
    EXPECT_EQ(o.err, std::string("addnorm arrangements: ") + alias + " is pre-ln\n");
  }
}

TEST(ArrangementsCommand, DescribesEachArrangementOnce) {
  EXPECT_EQ(Json::parse(run_arrangements({"pre-ln", "post-ln", "PreLN", "pre-ln", "--json"}).out).size(), 2u);
}

TEST(ArrangementsCommand, AnswersAnUnknownNameWithTheNearestAndTheList) {
  const Outcome o = run_arrangements({"prelm"});
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(says(o.err, {"unknown arrangement 'prelm'", "did you mean pre-ln?", "deepnorm"}));
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--norm", "rmsnrm"}).err, {"did you mean rmsnorm?"}));
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--format", "svgg"}).err, {"unknown format 'svgg'", "did you mean svg?"}));
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--model", "seq2sek"}).err, {"unknown model 'seq2sek'", "did you mean seq2seq?"}));
  EXPECT_EQ(run_arrangements({"pre-ln", "--layers", "0"}).code, 2);
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--layers", "0"}).err, {"--layers is 0", "from 1"}));
  EXPECT_TRUE(says(run_arrangements({"--format", "svg"}).err, {"name one arrangement or more"}));
}

/// Every element that opens closes, in order.
testing::AssertionResult is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    const std::string tag = xml.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" \n"));
    if (end == std::string::npos || tag.find('<') != std::string::npos) return testing::AssertionFailure() << "cut off: " << tag;
    if (std::ranges::count(tag, '"') % 2 != 0) return testing::AssertionFailure() << "a quote is missing: " << tag;
    if (tag.starts_with("?") || tag.ends_with("/")) continue;
    if (!tag.starts_with("/")) {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name) return testing::AssertionFailure() << "closed out of order: " << tag;
      open.pop_back();
    }
  }
  return open.empty() ? testing::AssertionSuccess() : testing::AssertionFailure() << "left open: " << open.back();
}

TEST(ArrangementsCommand, DrawsSvgWithoutScripts) {
  for (const Arrangement& row : arrangements()) {
    const std::string svg = run_arrangements({row.name.c_str(), "--format", "svg"}).out;
    EXPECT_TRUE(is_well_formed(svg)) << row.name;
    EXPECT_TRUE(says(svg, {"<?xml", "<svg xmlns=", "prefers-color-scheme: dark", "attention"}));
    EXPECT_EQ(svg.find("script"), std::string::npos);
  }
}

TEST(ArrangementsCommand, DrawsSeveralSideBySideInEveryFormat) {
  for (const char* format : {"text", "svg", "mermaid", "json"}) {
    const Outcome o = run_arrangements({"post-ln", "pre-ln", "--format", format});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(says(o.out, {"post-ln", "pre-ln", "attention"})) << format;
  }
  const std::vector<std::string> lines = lines_of(run_arrangements({"post-ln", "pre-ln"}).out);
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("   post-ln ") && line.find("pre-ln") != std::string::npos;
  }));
  const std::string narrow = arrangements_page({&arrangement_named("normformer"), &arrangement_named("sub-ln")},
                                               arrangement_view("lm", "layernorm", 12), {.columns = 60});
  for (const std::string& line : lines_of(narrow)) EXPECT_LE(columns_of(line), 60u) << line;  // one below the other
}

TEST(ArrangementsCommand, WritesTheChosenNorm) {
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--norm", "rmsnorm"}).out, {"x' = x + F(RMS(x))", "y = RMS(x)", "final RMS"}));
  EXPECT_TRUE(says(run_arrangements({"parallel-2ln", "--norm", "rmsnorm"}).out, {"Attn(RMS_1(x)) + FFN(RMS_2(x))"}));
  EXPECT_TRUE(says(run_arrangements({"parallel-2ln", "--norm", "none"}).out,
                   {"x' = x + Attn(x) + FFN(x)\n", "none: the gain is given for norms"}));
  EXPECT_TRUE(says(run_arrangements({"parallel", "--norm", "rmsnorm"}).out, {"0 per unit, and d per layer\n"}));
  EXPECT_TRUE(
      says(run_arrangements({"dlcl-pre", "--norm", "none"}).out, {"0 per unit, and l for layer l, L + 1 for the exit\n"}));
  EXPECT_TRUE(says(run_arrangements({"pre-ln", "--norm", "none"}).out, {"x' = x + F(x)\n", "y = x\n"}));
}

TEST(ArrangementsCommand, DescribesARowInAFile) {
  const std::string file = ADDNORM_SOURCE_DIR "/examples/halved.json";
  const Outcome o = run_arrangements({"pre-ln", "--arrangement", file.c_str()});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(says(o.out, {"halved-sandwich a row of your own\n", "   pre-ln ", "x' = x + β·LN(F(LN(x)))"}));
  const Outcome missing = run_arrangements({"--arrangement", "no-such-file.json"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(says(missing.err, {"no-such-file.json"}));
}

TEST(ArrangementsCommand, TextsOfAFileDoNotCommandTheTerminal) {
  const std::string file = testing::TempDir() + "/addnorm_hostile_row.json";
  std::ofstream(file) << R"({"name": "mine", "unit": {"in": true}, "source": "\u001b[2Jnobody", "failure": "\u009b31m"})";
  const Outcome page = run_arrangements({"--arrangement", file.c_str()}),
                json = run_arrangements({"--json", "--arrangement", file.c_str()});
  EXPECT_TRUE(says(page.out, {"\\x1b[2Jnobody", "\\u009b31m"}));
  EXPECT_EQ(page.out.find('\x1b'), std::string::npos) << page.out;
  EXPECT_EQ(page.out.find("\u009b"), std::string::npos) << page.out;
  EXPECT_TRUE(says(Json::parse(json.out).dump(), {"\\u001b[2Jnobody"}));
  std::ofstream(file) << R"({"name": "\u009b31m", "unit": {"in": true}})";
  const Outcome named = run_arrangements({"--arrangement", file.c_str()});
  EXPECT_EQ(named.code, 1);
  EXPECT_TRUE(says(named.err, {"name is \"\\u009b31m\"; it must be text without control characters"}));
  std::filesystem::remove(file);
}

TEST(ArrangementsCommand, DescribesBothStacksOfAnEncoderDecoder) {
  EXPECT_TRUE(says(run_arrangements({"deepnorm", "--model", "seq2seq", "--layers", "18"}).out,
                   {"encoder: α = 0.81·(N^4·M)^(1/16) = 1.999", "decoder: α = (3M)^¼ = 2.711", "deepnorm, encoder",
                    "deepnorm, decoder", "self-attention", "cross-attention"}));
}

TEST(ArrangementsCommand, DescribesADecoderThatIsNotAsDeepAsItsEncoder) {
  const Outcome o = run_arrangements({"deepnorm", "--model", "seq2seq", "--layers", "18", "--decoder-layers", "6"});
  EXPECT_TRUE(
      says(o.out, {"encoder: α = 0.81·(N^4·M)^(1/16) = 1.866", "decoder: α = (3M)^¼ = 2.06", "  N = 18, M = 6 encoder: "}))
      << o.err;
  const Json stacks = Json::parse(
      run_arrangements({"deepnorm", "--model", "seq2seq", "--layers", "18", "--decoder-layers", "6", "--json"}).out)[0]["stacks"];
  EXPECT_EQ(stacks[0]["layers"], 18);
  EXPECT_EQ(stacks[1]["layers"], 6);
  EXPECT_EQ(run_arrangements({"deepnorm", "--decoder-layers", "6"}).code, 2);
  EXPECT_TRUE(says(run_arrangements({"deepnorm", "--decoder-layers", "6"}).err,
                   {"--decoder-layers has no effect except with --model seq2seq"}));
  EXPECT_TRUE(says(run_arrangements({"deepnorm", "--model", "seq2seq", "--decoder-layers", "0"}).err,
                   {"--decoder-layers is 0", "from 1"}));
}

TEST(ArrangementsCommand, ListsInitsOfBothStacks) {
  const Outcome o = run_arrangements({"--inits", "--model", "seq2seq", "--layers", "2", "--decoder-layers", "4"});
  EXPECT_TRUE(says(o.out, {"encoder: W_v, W_o, W_1, W_2: Xavier normal, times 0.87·(N^4·M)^(−1/16) = ",
                           "decoder: W_v, W_o, W_1, W_2: Xavier normal, times (12M)^−¼ = ",
                           "encoder: W_o, W_2: N(0, 0.02²), times 1/√(2L) = 0.5\n",
                           "decoder: W_o, W_2: N(0, 0.02²), times 1/√(2L) = 0.3536\n"}));
  const Json gpt2 = Json::parse(run_arrangements({"--inits", "--model", "seq2seq", "--json"}).out)[1];
  EXPECT_EQ(gpt2["init"][0]["stack"], "encoder");
  EXPECT_EQ(gpt2["init"].back()["stack"], "decoder");
  EXPECT_FALSE(Json::parse(run_arrangements({"--inits", "--json"}).out)[1]["init"][0].contains("stack"));
}

TEST(ArrangementsCommand, SaysWhatAFormulaContainsOfBothStacks) {
  EXPECT_TRUE(says(run_arrangements({"deepnorm", "--model", "seq2seq"}).out,
                   {"contained     encoder: W_v, W_o, W_1, W_2: times 0.87·(N^4·M)^(−1/16)\n",
                    "                decoder: W_v, W_o, W_1, W_2: times (12M)^−¼\n"}));
  EXPECT_EQ(Json::parse(run_arrangements({"deepnorm", "--model", "seq2seq", "--json"}).out)[0]["init"]["contained"].size(), 2u);
}

TEST(ProcessStringsOfOtherTools, NameArrangements) {
  const auto name = [](const ProcessStrings& s) { return arrangement_of(s).arrangement->name; };
  EXPECT_EQ(name({"n", "da", "n"}), "pre-ln");
  EXPECT_EQ(name({"n", "da", ""}), "pre-ln-nofinal");
  EXPECT_EQ(name({"", "dan", ""}), "post-ln");
  EXPECT_EQ(name({"n", "dr", "n"}), "pre-ln");  // Sockeye's r adds
  EXPECT_EQ(name({"", "drn", ""}), "post-ln");
  EXPECT_EQ(name({"", "da", ""}), "residual");
  EXPECT_EQ(name({"n", "nda", "n"}), "sandwich");
  EXPECT_EQ(arrangement_of({"r", "da", "r"}).norm, "rmsnorm");  // Marian's r is a norm
  EXPECT_EQ(arrangement_of({"n", "da", "n"}).norm, "layernorm");
  EXPECT_TRUE(test::throws_saying<UsageError>([] { arrangement_of({"n", "dah", ""}); }, {"highway", "'dah'"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([] { arrangement_of({"x", "da", ""}); }, {"letter 'x'", "known"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([] { arrangement_of({"n", "n", "n"}); }, {"no arrangement", "pre-ln 'n' 'a' 'n'"}));
  const Outcome outcome = run_arrangements({"--preprocess", "n", "--postprocess", "da", "--postprocess-top", "n", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(says(outcome.out, {"\"pre-ln\""}));
  EXPECT_TRUE(says(outcome.err, {"is pre-ln with layernorm"}));
}

TEST(ArrangementsCommand, ListsInitsAsTextOrJsonAndRefusesWhatThatListDoesNotTake) {
  EXPECT_TRUE(says(run_arrangements({"--inits"}).out, {"arrangement ", "gpt2 ", "W_o, W_2: N(0, 0.02²), times 1/√(2L)"}));
  EXPECT_EQ(Json::parse(run_arrangements({"--inits", "--json"}).out).size(), init_rules().size());
  EXPECT_EQ(run_arrangements({"--inits", "--format", "json"}).out, run_arrangements({"--inits", "--json"}).out);
  const auto refused = [](const std::vector<const char*>& arguments, std::initializer_list<std::string> parts) {
    const Outcome o = run_arrangements(arguments);
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_EQ(o.out, "");
    return says(o.err, parts);
  };
  EXPECT_TRUE(refused({"--inits", "--format", "svg"}, {"--format svg", "arrangements", "text or json"}));
  EXPECT_TRUE(refused({"--inits", "--format", "mermaid"}, {"--format mermaid", "text or json"}));
  EXPECT_TRUE(refused({"--inits", "--format", "jsn"}, {"unknown format 'jsn'", "did you mean json?"}));
  EXPECT_TRUE(refused({"--inits", "--init", "gpt2"}, {"--init gpt2", "--inits lists"}));
  EXPECT_TRUE(refused({"--inits", "--norm", "rmsnorm"}, {"--norm rmsnorm", "--inits lists"}));
  EXPECT_TRUE(refused({"--inits", "pre-ln"}, {"--inits lists", "names of arrangements"}));
}

TEST(ArrangementsCommand, AnswersAnAliasOfAnInitWithTheCanonicalNameOnStderr) {
  for (const char* alias : {"normal", "Llama", "BERT"}) {
    const Outcome o = run_arrangements({"post-ln", "--init", alias});
    EXPECT_EQ(o.err, std::string("addnorm arrangements: init ") + alias + " is bert\n");
    EXPECT_EQ(o.out, run_arrangements({"post-ln", "--init", "bert"}).out);
  }
  EXPECT_EQ(run_arrangements({"post-ln", "--init", "bert"}).err, "");
}

TEST(ArrangementsCommand, TakesTheInitOfTheArrangementInAnyCase) {
  const Outcome o = run_arrangements({"deepnorm", "--init", "Arrangement"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, run_arrangements({"deepnorm"}).out);
}

TEST(ArrangementsCommand, PutsARowOfOnesOwnWhereItIsNamed) {
  const std::string file = testing::TempDir() + "/addnorm_own_row.json";
  std::ofstream(file) << R"({"name": "mine", "unit": {"in": true}})";
  const Outcome outcome = run_arrangements({"mine", "pre-ln", "--json", "--arrangement", file.c_str()});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LT(outcome.out.find("\"mine\""), outcome.out.find("\"pre-ln\""));
  std::ofstream(file) << R"({"name": "pre-ln", "unit": {}})";
  const Outcome taken = run_arrangements({"--arrangement", file.c_str()});
  EXPECT_EQ(taken.code, 2);
  EXPECT_TRUE(says(taken.err, {"name is 'pre-ln'", "give your own another"}));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace addnorm::cli
