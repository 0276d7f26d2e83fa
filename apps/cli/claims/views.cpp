#include "cli/claims/claims.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "addnorm/claims/claim.h"
#include "addnorm/core/error.h"
#include "addnorm/core/version.h"
#include "addnorm/residual/diagram.h"
#include "claims/list.h"
#include "cli/terminal/figures.h"

namespace addnorm::cli {
namespace {

std::string text_of(const Json& result, std::string_view name) {
  const Json* found = result.find(name);
  return found && found->is_string() ? found->text() : "";
}

Json::Array items_of(const Json& result, std::string_view name) {
  const Json* found = result.find(name);
  return found && found->is_array() ? found->array_items() : Json::Array{};
}

/// Verdicts in the order in which they are counted. One that has more words than its kind is of that kind: "true only if ..." of
/// every condition, "true with Xavier's weights; ...", "mixed: seen with Xavier's weights, ...".
constexpr const char* kVerdicts[] = {"true",  "true only if", "true with",     "false",       "false with", "seen at this scale",
                                     "mixed", "not seen",     "not seen with", "not decided", "failed"};

std::string kind_of_verdict(const Json& result) {
  const std::string verdict = text_of(result, "verdict");
  std::string longest;
  for (const std::string kind : kVerdicts)
    if (verdict.starts_with(kind) && kind.size() > longest.size()) longest = kind;
  return longest.empty() ? verdict : longest;
}

/// Cells side by side, each wrapped to its width.
std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns.push_back(wrapped(cells[i], widths[i]));
    height = std::max(height, columns.back().size());
  }
  std::string all;
  for (std::size_t row = 0; row < height; ++row) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += padded(row < columns[i].size() ? columns[i][row] : "", widths[i]) + "  ";
    all += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return all;
}

/// Markdown takes | apart, and < for HTML.
std::string for_markdown(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_') all += '\\';
    all += c;
  }
  return all;
}

constexpr const char* kPapers = "Papers";

/// The text that the source names first, of a statement.
std::string section_of(const Json& result) {
  if (text_of(result, "kind") != "S") return kPapers;
  const std::string source = text_of(result, "source");
  const auto text = std::ranges::find_if(kTexts, [&](const char* name) { return source.starts_with(name); });
  return text == kTexts.end() ? kPapers : *text;
}

std::vector<std::string> sections() {
  std::vector<std::string> all(kTexts.begin(), kTexts.end());
  all.emplace_back(kPapers);
  return all;
}

constexpr const char* kHead = R"(# What the texts and papers say, and what was measured

This page is assembled by `addnorm lab claims --write FOLDER` from the files in [FILES/](FILES), one per claim, each written by a
run of this program. Every verdict, every sentence of what was measured, and every measured number in it comes from those files. Typed in by people
are this introduction, the statements with their sources, what was looked for, what was changed, why verdicts are what they are beside
others, and the table of what was left out.

**S-claims** are the checkable statements of the four texts that the project began with, in their order and in our words. Their verdict
is `true`, `false`, or `true only if ...` with the condition; where it is not decided under some weights, `true with Xavier's weights; ...`. **C-claims** are claims of papers, looked at on a small scale; their
verdict is `seen at this scale`, `mixed` or `not seen`. A small experiment cannot refute what a paper says of a large one, and none is
called refuted. Where the numbers allow neither, a verdict is `not decided`.

**Everything that is compared starts alike.** How weights start is a factor of its own, and large enough to turn verdicts round. Claims
that compare arrangements, norms, optimizers or depths are therefore measured twice: all that they compare starts by Xavier's rule, and
all of it by GPT-2's (N(0, 0.02²), output matrices of branches by 1/√(2L) of it). They have a verdict under each, and one of both: where the
two differ, the weights are the condition, or the verdict is mixed. At the widths of these experiments (32 and 64) GPT-2's rule makes
branches much weaker than Xavier's, and than at the width of GPT-2. Gains that are part of an arrangement's formula stay under either rule,
as DeepNorm's β and ReZero's 0; claims on an initialisation itself keep it for what they are about, and say so under "Start".
`addnorm lab claims --init NAME` repeats those that compare under any other rule of `addnorm arrangements --inits`.

The skips are not all that carries a gradient. Of deep post-LN they pass hardly anything by themselves
(`addnorm preflight --arrangement post-ln --layers 24` prints how much), and yet before the first step the gradient at the bottom is larger than that at the
top, as branches carry it. A run that fails loses it later, when tokens have become alike at the top and branches pass nothing on
(S45, S47, S72).

A verdict follows from the numbers of the run and from nothing else: each claim has one function that measures and one that judges what
was measured, and the second would say the opposite of other numbers (tests find such numbers for each of them). Numbers are means over
seeds, ± is the standard deviation over seeds. A difference counts where all of its 95 % interval (Welch's) is on one side of 0, and two losses as alike only where
all of it is within 0.05 nats; what is neither is not decided.

That a setting trains is said where every seed trains, that it does not where none does; anything between decides neither, in any claim that
asks for it. A claim that says what helps is not decided where nothing has to be helped.

What was known when the experiments were written: the two benches on the built-in language (6 layers at 5e-3, 16 layers at 1e-3) were
looked for, as settings in which post-LN fails and pre-LN trains within some seconds; S46 shows a rate at which both train. Claims that
share them (S01, S07, S23, S42, S43, S45 to S47, S50 to S54), and those on deep feed-forward stacks (S03, S15, S28, S32, S55, S58) and single units
(S14, S38, S56, S61, S69), had been
tried in some form before their thresholds were written down: they say that the effect is there in that setting, not how common it is. Close
to them are C1 (the runs of S15), C9 and C12 (18 layers instead of 16). All of that was with Xavier's weights; GPT-2's were added later, with
the settings and thresholds as they were. Where
an experiment or a threshold was changed after its own outcome had been seen, the claim says what it was before.

"Trains" in a measurement means: the mean of the last 20 losses has come three quarters of the way from the unigram
to the bigram loss of the data; on words turned round, which have no such bigram, half of the way from the unigram loss to 0. Repeat any line by the command under it; how to add one: [adding-a-claim.md](adding-a-claim.md).
)";

bool by_another_version(const Json& r) { return text_of(r, "version") != version(); }

/// Which results were not made by the program that assembles the page; "": all were.
std::string of_other_versions(const std::vector<Json>& results) {
  std::string ids;
  for (const Json& r : results)
    if (by_another_version(r)) ids += concat(ids.empty() ? "" : ", ", text_of(r, "id"), " (", text_of(r, "version"), ")");
  return ids.empty() ? "" : concat("\nAssembled by version ", version(), "; measured by another one: ", ids, ".\n");
}

std::string link_to(const std::string& id) { return concat("[", id, "](#", id, ")"); }

/// Under one rule, or under each.
std::string measured_lines(const Json& r) {
  std::string lines;
  for (const Json& rule : items_of(r, "inits"))
    lines += concat("- **With ", whose_weights(text_of(rule, "init")), " weights ", for_markdown(text_of(rule, "verdict")),
                    ":** ", for_markdown(text_of(rule, "measured")), "\n");
  return lines.empty() ? concat("- **Measured:** ", for_markdown(text_of(r, "measured")), "\n") : lines;
}

std::string see_lines(const Json& r) {
  std::string lines;
  for (const Json& other : items_of(r, "see"))
    lines += concat("- **See ", link_to(text_of(other, "id")), ":** ", for_markdown(text_of(other, "why")), "\n");
  return lines;
}

/// What it was before, without the verdict of now.
std::string earlier_text(const Json& r) {
  const Json* earlier = r.find("earlier");
  return earlier
             ? concat("was \"", text_of(*earlier, "verdict"), "\" ", text_of(*earlier, "since"), ": ", text_of(*earlier, "why"))
             : "";
}

std::string run_line(const Json& r) {
  const auto seconds = r.find("seconds");
  const auto scale = r.find("scale");
  return concat("- `", text_of(r, "command"), "` · ", r["seeds"].integer(), " seeds · scale ",
                scale && scale->is_number() ? concat(scale->number()) : "?", " · ",
                seconds ? fixed(seconds->number(), seconds->number() < 10 ? 1 : 0) : "?", " s · ", text_of(r, "date"),
                " · version ", text_of(r, "version"), by_another_version(r) ? " (another than this page's)" : "", "\n");
}

std::string entry(const Json& r) {
  const auto line = [](const char* label, const std::string& text) {
    return text.empty() ? "" : concat("- **", label, ":** ", for_markdown(text), "\n");
  };
  return concat("<a id=\"", text_of(r, "id"), "\"></a>\n\n### ", text_of(r, "id"), ": ", text_of(r, "verdict"), "\n\n",
                for_markdown(text_of(r, "claim")), "\n\n", measured_lines(r), see_lines(r),
                line("Looked for", text_of(r, "expected")), line("Start", text_of(r, "start")),
                line("Changed after a first look", text_of(r, "changed")), line("Verdict", earlier_text(r)),
                line("Source", text_of(r, "source")), run_line(r));
}

/// All whose verdict is another one than it was, by what changed it.
std::string changed_verdicts(const std::vector<Json>& results) {
  std::string all;
  for (const VerdictSince since :
       {VerdictSince::held_equal, VerdictSince::measured_again, VerdictSince::seeds_by_one_rule, VerdictSince::asked_otherwise}) {
    std::string lines;
    for (const Json& r : results)
      if (const Json* earlier = r.find("earlier"); earlier && text_of(*earlier, "since") == text_of(since))
        lines += concat("- ", link_to(text_of(r, "id")), " was \"", for_markdown(text_of(*earlier, "verdict")), "\", now \"",
                        for_markdown(text_of(r, "verdict")), "\": ", for_markdown(text_of(*earlier, "why")), ".\n");
    if (!lines.empty()) all += concat("\nVerdicts ", text_of(since), ":\n\n", lines);
  }
  return all.empty() ? ""
                     : concat(
                           "\n## Verdicts that changed\n\nAt first a claim was measured with one kind of weights, mostly "
                           "Xavier's for all that it compares.\n",
                           all);
}

}  // namespace

std::string claims_counted(const std::vector<Json>& results) {
  std::string all = concat(results.size(), results.size() == 1 ? " claim: " : " claims: ");
  bool first = true;
  for (const std::string verdict : kVerdicts) {
    const auto count = std::ranges::count(results, verdict, kind_of_verdict);
    if (count == 0) continue;
    all += concat(first ? "" : ", ", count, " ", verdict, verdict.ends_with(" if") || verdict.ends_with(" with") ? " ..." : "");
    first = false;
  }
  return all;
}

std::string claims_table(const std::vector<Json>& results, const Terminal& terminal) {
  const std::size_t columns = std::clamp<std::size_t>(terminal.columns == 0 ? 140 : terminal.columns, 80, 180);
  const std::size_t left = columns - 4 - 6;
  const std::vector<std::size_t> widths{4, left * 36 / 100, left * 40 / 100, left - left * 36 / 100 - left * 40 / 100};
  std::string all = line_of({"", "claim", "measured", "verdict"}, widths);
  for (const Json& result : results) {
    std::string measured = text_of(result, "measured");
    for (const Json& other : items_of(result, "see"))
      measured += concat(". See ", text_of(other, "id"), ": ", text_of(other, "why"));
    all += "\n" + line_of({text_of(result, "id"), text_of(result, "claim"), measured, text_of(result, "verdict")}, widths);
  }
  return all + "\n" + claims_counted(results) + "\n";
}

std::string claims_page(const std::vector<Json>& results, const std::filesystem::path& files) {
  const std::string folder = files.generic_string();
  std::string head = kHead;
  for (std::size_t at; (at = head.find("FILES")) != std::string::npos;) head.replace(at, 5, folder);
  std::string all = concat(head, "\n", claims_counted(results), ".\n", of_other_versions(results),
                           "\n| | claim | verdict |\n| --- | --- | --- |\n");
  for (const Json& r : results)
    all += concat("| [", text_of(r, "id"), "](", folder, "/", text_of(r, "id"), ".json) | ", for_markdown(text_of(r, "claim")),
                  " | ", for_markdown(text_of(r, "verdict")), " |\n");
  all += changed_verdicts(results);
  for (const std::string& section : sections()) {
    bool first = true;
    for (const Json& r : results) {
      if (section_of(r) != section) continue;
      if (first) all += concat("\n## ", section, "\n");
      first = false;
      all += "\n" + entry(r);
    }
  }
  all +=
      "\n## What was left out\n\nStatements of the texts that no experiment of this kind can decide:\n\n| statement | source | "
      "reason |\n| --- | --- | --- |\n";
  const auto add = [&](const std::vector<LeftOut>& left_out) {
    for (const LeftOut& one : left_out)
      all += concat("| ", for_markdown(one.statement), " | ", one.source, " | ", for_markdown(one.reason), " |\n");
  };
  add(left_out_statements());
  all += "\nPublished claims of arrangements that are not built here:\n\n| claim | source | reason |\n| --- | --- | --- |\n";
  add(left_out_claims());
  return all;
}

}  // namespace addnorm::cli
