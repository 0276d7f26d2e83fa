// Choices: what the literature leaves open about single arrangements, and which of them has it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/nn/kinds.h"

namespace addnorm {

struct Arrangement;

inline constexpr std::size_t kPublishedRecursions = 2;  ///< of rskip

enum class NormPlace : unsigned char { pre, post };
/// By how much a change of all weights changes the output of n units (admin-torch): the larger, the more the branches count.
enum class OutputChange : unsigned char { log_n, one, n };

/// Nothing said: as published. An arrangement that leaves a choice no room refuses it; the message says what it is for and who
/// takes it.
struct ArrangementChoices {
  std::optional<double> skip_factor{};          ///< λ of xskip and xskip-ln, α of deepnorm (β stays) and keel: above 0
  std::optional<bool> learned_skip{};           ///< admin-const's ω, keel's α: learned, or what it starts with for ever
  std::optional<OutputChange> output_change{};  ///< admin-const: ω = √((n+1)/ln(n+1) − 1), √n or 1
  std::optional<std::size_t> recursions{};      ///< rskip's λ: how often the skip is added; 1 is post-ln
  std::optional<bool> shared_norms{};           ///< rskip: one norm for all recursions of a unit
  std::optional<double> post_share{};           ///< mix-ln: the first ⌊α L⌋ layers are post-ln, 0 <= α <= 1
  std::optional<double> branch_start{};         ///< where the branch's coefficient starts: layerscale's ε, skipinit's α
  std::optional<double> depth_power{};          ///< ds-init: gains of l^-0.5 (the paper) or l^-0.25 (its code)
  std::optional<bool> scale_ffn_skip{};         ///< normformer: λ⊙x on the skip of feed-forward units (ResScale)
  std::optional<HeadGain> head_gain{};          ///< normformer: before W_o (the paper), after it (the code), or none
  std::optional<NormPlace> norm_place{};        ///< scaled-res: pre-ln or post-ln with branches times 1/√n
  std::optional<double> stream_share{};         ///< resi-dual's α: out = α x + N(r)
  std::optional<double> second_stream_scale{};  ///< resi-dual's s: r = s (x_0 + f_1 + f_2 + ...), above 0
};

/// One line of the table of choices.
struct ChoiceInfo {
  std::string name;     ///< "skip_factor"
  std::string meaning;  ///< what it is for
  std::string allowed;
  std::vector<std::string> taken_by;  ///< names of arrangements
};
std::vector<ChoiceInfo> arrangement_choices();

/// What was chosen, as name and text: ("post_share", "0.25"). For configuration files.
std::vector<std::pair<std::string, std::string>> given_choices(const ArrangementChoices& choices);
/// The way back. A UsageError for an unknown name, with the nearest and the list, and for a text that is no such value.
void set_choice(ArrangementChoices& choices, std::string_view name, std::string_view value);

/// The row that runs: `row` with what was chosen, beside what it was chosen with before. Formula, diagram, parameters and
/// stream all see this one; Arrangement::choices says what is in it.
Arrangement with_choices(const Arrangement& row, const ArrangementChoices& choices);

}  // namespace addnorm
