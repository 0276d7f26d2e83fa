// Generation: sequences in the middle of being written, and how the next token is chosen from the probabilities a model gives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

/// What generates text knows a model only through this: a batch of sequences, all of the same length so far. Models make one with
/// a key/value cache, or without, where every step runs the whole prefix again; both give the same logits within the tolerance of
/// a reduction.
class Decoding {
 public:
  virtual ~Decoding() = default;

  /// Appends the same number of tokens to every row (tokens [rows, count], row by row) and gives the logits after the last one,
  /// [rows, vocabulary]. More tokens than there is room for, or an id outside the vocabulary, is a UsageError.
  virtual Tensor append(std::span<const std::int32_t> tokens) = 0;
  /// Row i becomes a copy of row from[i]; there may be more rows afterwards, or fewer.
  virtual void select(std::span<const std::size_t> from) = 0;
  virtual std::size_t rows() const = 0;
  virtual std::size_t room() const = 0;  ///< tokens that can still be appended to each row
};

/// How a token is drawn. The cuts are made in this order: temperature, then top_k, then top_p of what top_k left.
struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it; 0: always the most probable token (greedy)
  std::size_t top_k = 0;   ///< only the k most probable tokens; 0, or the vocabulary and more: all
  double top_p = 1;        ///< only the fewest tokens that together have at least this probability; in (0, 1], 1: all
  std::uint64_t seed = 1;  ///< token t of row r is drawn by a number that depends on (seed, r, t) and nothing else
};

/// Probabilities of the next token, 0 for what is cut off; they sum to 1. Of tokens with equal probability at a cut the lowest
/// ids stay. Computed in double. A logit of -infinity is a token that never comes; NaN, +infinity, or nothing but -infinity is
/// a NumericsError. Sorting is only as deep as the cuts: O(vocabulary + kept * log(vocabulary)).
std::vector<double> next_token_probabilities(std::span<const float> logits, const SamplingOptions& options);

struct GenerateOptions {
  SamplingOptions sampling{};
  std::optional<std::size_t> max_tokens{};  ///< new tokens of each row; nothing: until there is no room
  std::vector<std::int32_t> end_tokens{};   ///< any of them ends its row
  /// Called with every new token at once, row by row, but not with end tokens; false stops all rows.
  std::function<bool(std::size_t row, std::int32_t token)> on_token{};
};

/// What was written after a prompt.
struct Generated {
  std::vector<std::int32_t> tokens{};  ///< without prompt and end token
  double log_probability = 0;          ///< of the tokens, the end token included, as the model gives it: neither heated nor cut
  double score = 0;                    ///< what beam search ranks by; elsewhere log_probability
  bool ended = false;                  ///< by an end token, which is not in `tokens`
};

/// Continues every row of a fresh decoding. prompt [rows, count], row by row, at least one token each. The last new token need
/// not fit: count + max_tokens - 1 <= room. The row that ended leaves the batch; the decoding is used up afterwards.
/// Of equally probable tokens greedy takes the lowest id.
std::vector<Generated> generate(Decoding& decoding, std::span<const std::int32_t> prompt, const GenerateOptions& options = {});

struct BeamOptions {
  std::size_t beams = 4;                    ///< sequences that are followed at the same time, for every row
  std::size_t best = 1;                     ///< how many to give, at most `beams`
  double length_penalty = 1;                ///< score = log_probability / length^length_penalty, the end token counted; 0: none
  std::optional<std::size_t> max_tokens{};  ///< as in GenerateOptions
  std::vector<std::int32_t> end_tokens{};
};

/// Beam search: for every row of the prompt up to `best` continuations, best score first (fewer where there are not as many).
///
/// A step ranks all continuations of the followed sequences by log-probability and keeps the best `beams`: those that end are
/// put aside, the others are followed. At max_tokens what is still followed joins what was put aside, and scores decide. It
/// stops before that only when nothing followed can reach the scores put aside, so the result is the same. One beam is greedy.
/// Equal log-probabilities and equal scores: the sequence with the lower id where they first differ.
std::vector<std::vector<Generated>> beam_search(Decoding& decoding, std::span<const std::int32_t> prompt,
                                                const BeamOptions& options = {});

}  // namespace addnorm
