// Positions: how a model knows the order of its tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/nn/module.h"

namespace addnorm {

enum class PositionKind : unsigned char {
  none,
  learned,            ///< a table [max_positions, d_model], added to the tokens
  sinusoidal,         ///< added: sin and cos of one frequency side by side (Vaswani 2017)
  sinusoidal_halves,  ///< added: all sines, then all cosines (Tensor2Tensor, fairseq)
  rotary,             ///< turns q and k: neighbours (2i, 2i + 1) form a pair (RoFormer, llama2.c)
  rotary_halves,      ///< turns q and k: i and i + d/2 form a pair (GPT-NeoX, Hugging Face's Llama)
};
PositionKind positions_named(std::string_view name);  ///< an unknown name is a UsageError with the nearest and the list
const char* name_of(PositionKind kind);
std::span<const std::string> position_names();
bool is_rotary(PositionKind kind);

struct RotaryOptions {
  std::size_t max_positions = 0;
  std::size_t d_rotary = 0;  ///< features of each head that turn, even; 0: all
  double base = 10000;
  RotaryPairs pairs = RotaryPairs::adjacent;
  /// The angles, in float and in double: undefined, and Attention makes them. Layers that are given those of another (its
  /// options()) share its memory.
  RotaryTables angles{}, angles_in_double{};
};

/// Row p of a sinusoidal table [positions, width], computed in double: with w_i = 10000^(-2i / width),
///   interleaved: [sin p w_0, cos p w_0, sin p w_1, ...]
///   halves:      [sin p w_0, sin p w_1, ..., cos p w_0, ...]; there w_i = 10000^(-i / (width/2 - 1)), as Tensor2Tensor has it
/// An odd width ends in a sine (halves: in a zero).
Tensor sinusoidal_table(std::size_t positions, std::size_t width, bool halves);

/// Where tokens stand in their sequences: first, first + 1, ... for each of `batch` sequences of `tokens` tokens; or, where
/// `joined` is not empty, for each of the sequences of these lengths.
std::vector<std::int32_t> token_positions(std::size_t batch, std::size_t tokens, std::span<const std::size_t> joined,
                                          std::size_t first);

/// What is added to token vectors; nothing for `none` and rotary kinds.
class Positions : public Module {
 public:
  Positions() = default;
  Positions(PositionKind kind, std::size_t max_positions, std::size_t width);

  /// x [B, T, width] + the rows first ... first + T - 1 of the table; joined: as AttentionInput has it. More positions than there
  /// are is a UsageError.
  Var operator()(const Var& x, std::size_t first = 0, std::span<const std::size_t> joined = {}) const;
  void visit(Visitor& visitor) override;
  std::size_t max_positions() const { return max_positions_; }

 private:
  PositionKind kind_ = PositionKind::none;
  std::size_t max_positions_ = 0;
  Var table_;  // learned; a constant for sinusoidal kinds
};

}  // namespace addnorm
