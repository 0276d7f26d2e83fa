// Verdicts in words, and one verdict out of those under several rules of initialisation.
#include <algorithm>

#include "addnorm/claims/claim.h"
#include "addnorm/core/error.h"

namespace addnorm {
namespace {

/// "Xavier's weights: 2.1. GPT-2's weights: 2.2".
std::string measured_under_each(const std::vector<ClaimUnderRule>& all) {
  std::string text;
  for (const ClaimUnderRule& one : all)
    text += concat(text.empty() ? "" : ". ", whose_weights(one.init), " weights: ", one.verdict.measured);
  return text;
}

std::vector<const ClaimUnderRule*> with_finding(const std::vector<ClaimUnderRule>& all, Finding finding) {
  std::vector<const ClaimUnderRule*> found;
  for (const ClaimUnderRule& one : all)
    if (one.verdict.finding == finding) found.push_back(&one);
  return found;
}

/// "the weights are GPT-2's, or they are Xavier's and the stack is shallow": those under which a statement is true.
std::string conditions(const std::vector<ClaimUnderRule>& all) {
  std::string text;
  const auto add = [&](const ClaimUnderRule& one, const std::string& and_if) {
    text += concat(text.empty() ? "the weights are " : ", or they are ", whose_weights(one.init), and_if);
  };
  for (const ClaimUnderRule* one : with_finding(all, Finding::yes)) add(*one, "");
  for (const ClaimUnderRule* one : with_finding(all, Finding::partly)) add(*one, " and " + one->verdict.condition);
  return text;
}

/// "; with GPT-2's it is not decided", of every rule with that finding.
std::string others_with(const std::vector<ClaimUnderRule>& all, Finding finding, const char* word) {
  std::string text;
  for (const ClaimUnderRule* one : with_finding(all, finding))
    text += concat("; with ", whose_weights(one->init), " it is ", word);
  return text;
}

/// No rule under which it is true, and some that decide nothing.
ClaimVerdict no_where_decided(const std::vector<ClaimUnderRule>& all) {
  std::string where;
  for (const ClaimUnderRule* one : with_finding(all, Finding::no))
    where += concat(where.empty() ? "with " : " and ", whose_weights(one->init), " weights");
  return {Finding::no, where + others_with(all, Finding::open, "not decided")};
}

/// "with Xavier's weights; with GPT-2's it is not decided". True under some rules and open under others: that it is true only
/// under these was not found.
ClaimVerdict true_where_decided(const std::vector<ClaimUnderRule>& all) {
  std::string where;
  const auto add = [&](const ClaimUnderRule& one, const std::string& only_if) {
    where += concat(where.empty() ? "with " : " and with ", whose_weights(one.init), " weights", only_if);
  };
  for (const ClaimUnderRule* one : with_finding(all, Finding::yes)) add(*one, "");
  for (const ClaimUnderRule* one : with_finding(all, Finding::partly)) add(*one, " if " + one->verdict.condition);
  return {Finding::yes, concat(where, others_with(all, Finding::no, "false"), others_with(all, Finding::open, "not decided"))};
}

ClaimVerdict combined_statement(const std::vector<ClaimUnderRule>& all) {
  if (!with_finding(all, Finding::open).empty()) return true_where_decided(all);
  return {Finding::partly, conditions(all) + others_with(all, Finding::no, "false")};
}

/// What was found under one rule, beside what was found under others.
std::string word_under_a_rule(Finding finding) {
  switch (finding) {
    case Finding::yes:
      return "seen";
    case Finding::partly:
      return "partly seen";
    default:
      return verdict_text(ClaimKind::published, {.finding = finding});
  }
}

ClaimVerdict combined_published(const std::vector<ClaimUnderRule>& all) {
  std::string text;
  for (const ClaimUnderRule& one : all) {
    text += concat(text.empty() ? "" : ", ", word_under_a_rule(one.verdict.finding), " with ", whose_weights(one.init),
                   text.empty() ? " weights" : "");
  }
  return {Finding::partly, text};
}

}  // namespace

std::string whose_weights(std::string_view init) {
  if (init == "xavier") return "Xavier's";
  if (init == "gpt2") return "GPT-2's";
  return std::string(init);
}

const char* text_of(VerdictSince since) {
  switch (since) {
    case VerdictSince::held_equal:
      return "before the initialisation was held equal";
    case VerdictSince::measured_again:
      return "before the same was measured again, near its line";
    case VerdictSince::seeds_by_one_rule:
      return "before seeds that disagree were undecided in every claim";
    case VerdictSince::asked_otherwise:
      return "before something else was looked for";
  }
  return "";
}

std::string verdict_text(ClaimKind kind, const ClaimVerdict& verdict) {
  const bool statement = kind == ClaimKind::statement;
  const auto more = [&](const char* word, const char* joint) {
    return verdict.condition.empty() ? std::string(word) : concat(word, joint, verdict.condition);
  };
  switch (verdict.finding) {
    case Finding::yes:
      return more(statement ? "true" : "seen at this scale", " ");
    case Finding::partly:
      return statement ? "true only if " + verdict.condition : more("mixed", ": ");
    case Finding::no:
      return more(statement ? "false" : "not seen", " ");
    case Finding::open:
      return "not decided";
  }
  return "";
}

ClaimVerdict combined(ClaimKind kind, const std::vector<ClaimUnderRule>& all) {
  require(!all.empty(), "combined: no verdict was given; there must be one at least");
  const ClaimVerdict& first = all.front().verdict;
  const bool agree = std::ranges::all_of(all, [&](const ClaimUnderRule& one) {
    return one.verdict.finding == first.finding && one.verdict.condition == first.condition;
  });
  const bool somewhere = std::ranges::any_of(all, [](const ClaimUnderRule& one) {
    return one.verdict.finding == Finding::yes || one.verdict.finding == Finding::partly;
  });
  ClaimVerdict one = agree                          ? first
                     : !somewhere                   ? no_where_decided(all)
                     : kind == ClaimKind::statement ? combined_statement(all)
                                                    : combined_published(all);
  one.measured = measured_under_each(all);
  return one;
}

}  // namespace addnorm
