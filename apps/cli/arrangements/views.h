// What `addnorm arrangements` shows: a table of all, a page of one or several, JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/nn/norm_kind.h"
#include "addnorm/residual/catalogue.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// The stacks for which formulas, initialisation and skip gains are printed.
struct ArrangementView {
  NormKindOptions norm{};
  std::vector<StackShape> stacks{};  ///< one, or the encoder and the decoder
};
/// "lm", "encoder" or "seq2seq"; anything else is a UsageError. `decoder_layers` is for seq2seq; nothing: as `layers`.
ArrangementView arrangement_view(const std::string& model, const std::string& norm, std::int64_t layers,
                                 std::optional<std::int64_t> decoder_layers = {});

/// Depths at which skip gains are printed.
inline constexpr std::size_t kGainDepths[] = {6, 12, 24, 100};
/// Why there is no skip gain; empty: there is one.
std::string no_gain_reason(const Arrangement& row, const ArrangementView& view);
/// The stack with another depth, its partner as well.
StackShape with_layers(StackShape stack, std::size_t layers);

using Rows = std::vector<const Arrangement*>;
std::string arrangements_table(const Rows& rows, const ArrangementView& view, const Terminal& terminal);
std::string arrangements_page(const Rows& rows, const ArrangementView& view, const Terminal& terminal);
std::string arrangements_json(const Rows& rows, const ArrangementView& view, bool in_full);
/// The rules of --init, each with what it draws from.
std::string inits_table(const ArrangementView& view, const Terminal& terminal);
std::string inits_json(const ArrangementView& view);
std::string arrangements_svg(const Rows& rows, const ArrangementView& view);
std::string arrangements_mermaid(const Rows& rows, const ArrangementView& view);

}  // namespace addnorm::cli
