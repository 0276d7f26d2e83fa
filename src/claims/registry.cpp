// The claims by their ids, and what is left out of them.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "claims/list.h"

namespace addnorm {
namespace {

/// "s7", "S-07" and "S07" are one.
std::string short_id(std::string_view id) {
  std::string name = folded(id);
  while (name.size() > 2 && name[1] == '0') name.erase(1, 1);
  return name;
}

/// 7 of "s7", "S-07" and "S07"; nothing where it is no letter with a number after it.
std::optional<int> number_of(std::string_view id) {
  const std::string name = short_id(id);
  int number = 0;
  if (name.size() < 2) return std::nullopt;
  const auto read = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return read.ec == std::errc() && *read.ptr == '\0' ? std::optional(number) : std::nullopt;
}

/// Those of the letter, or of both where it is neither S nor C, whose numbers are nearest: two at most. "" where there is no
/// number.
std::string nearest_claims(std::string_view id) {
  const std::optional<int> number = number_of(id);
  if (!number) return "";
  const char letter = short_id(id).front();
  const bool known_letter = letter == 's' || letter == 'c';
  std::vector<std::pair<int, std::string>> near;
  for (const Claim& claim : claims())
    if (!known_letter || short_id(claim.id).front() == letter)
      near.emplace_back(std::abs(number_of(claim.id).value_or(0) - *number), claim.id);
  std::ranges::stable_sort(near, {}, &std::pair<int, std::string>::first);
  return near[0].first == near[1].first ? concat(near[0].second, ", ", near[1].second) : near[0].second;
}

/// "S01 ... S74".
std::string first_and_last(ClaimKind kind) {
  const Claim *first = nullptr, *last = nullptr;
  for (const Claim& claim : claims()) {
    if (claim.kind() != kind) continue;
    if (first == nullptr) first = &claim;
    last = &claim;
  }
  return concat(first->id, " ... ", last->id);
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all{
#define CLAIM(name) lab::name::claim(),
#include "claims/list.inc"
#undef CLAIM
  };
  return all;
}

const Claim& claim_named(std::string_view id) {
  for (const Claim& claim : claims())
    if (short_id(claim.id) == short_id(id)) return claim;
  const std::string nearest = nearest_claims(id);
  throw UsageError(concat("no claim ", id, nearest.empty() ? "" : "; nearest: ", nearest, "; there are ",
                          first_and_last(ClaimKind::statement), " and ", first_and_last(ClaimKind::published),
                          ". 'addnorm lab claims --list' has what each says"));
}

// What the texts say and no experiment of ours can decide.
const std::vector<LeftOut>& left_out_statements() {
  static const std::vector<LeftOut> all{
      {"Many modern Transformers are pre-normed.", kClassicalTransformer,
       "about what people build, not about what happens in a network"},
      {"Add & Norm is the standard of modern Transformers.", concat(kLecture, ", takeaways"),
       "the same; it was the standard in 2017, and most large models since GPT-2 norm inside the branch instead"},
      {"Residual connections are also called skip connections.", concat(kChapter23, "; ", kLecture), "a matter of words"},
      {"Residual connections came with ResNet in 2015 and went on into Transformers.", concat(kChapter23, ", introduction"),
       "history; question 7 of the same text is answered from the catalogue (S30)"},
      {"RAdam's paper is of 2021.", concat(kClassicalTransformer, ", reference"),
       "a date: arXiv 1908.03265 is of 2019, the conference of 2020"},
      {"Warm-up is costly.", kClassicalTransformer,
       "costly compared with what? How many steps it takes is chosen by whoever trains"},
      {"A bypass conveyor belt on an assembly line.", concat(kLecture, ", analogy"),
       "a picture; what it says of robustness is S59"},
      {"Learning objectives, prerequisites, and what the lecture covers.", kLecture, "about the lecture"},
  };
  return all;
}

// What papers say of arrangements that are not built here.
const std::vector<LeftOut>& left_out_claims() {
  static const std::vector<LeftOut> all{
      {"C26: products of the mixing matrices of hyper-connections grow without bound, those of their manifold-constrained form "
       "do not.",
       "Xie et al. 2025", "neither hyper-connections nor their constrained form are built"},
      {"C27: attention over the outputs of all layers lowers the loss, bounds the stream and evens gradients.",
       "Attention Residuals, 2026", "attention residuals are not built"},
      {"C36: mixing the first layer's values into those of every layer lowers the loss and keeps attention less concentrated.",
       "Zhou et al. 2024, arXiv 2410.17897", "value residuals are not built"},
  };
  return all;
}

}  // namespace addnorm
