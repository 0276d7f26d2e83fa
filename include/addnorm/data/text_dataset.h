// Token ids of a long text, and windows of them for language models.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/dataset.h"

namespace addnorm {

/// A long sequence of token ids, in memory or in a file. Threads may share it.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Ids first ... first + count - 1. Beyond size() is a UsageError; a file truncated meanwhile is a DataError.
  virtual void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const = 0;
};

class TokenVector : public TokenSource {
 public:
  explicit TokenVector(std::vector<std::int32_t> ids) : ids_(std::move(ids)) {}
  std::uint64_t size() const override { return ids_.size(); }
  void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const override;

 private:
  std::vector<std::int32_t> ids_;
};

/// Tokens first ... first + count - 1 of a source.
struct TokenRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct TextSplit {
  TokenRange training;
  TokenRange validation;  ///< count 0: none
};

/// The last `validation_share` of the tokens is for validation, at least one window of it; share 0: all is for training. A
/// DataError with the figures when a part is shorter than a window, which is seq_len tokens and the one after them.
TextSplit split_text(std::uint64_t tokens, std::size_t seq_len, double validation_share = 0.1, const FieldWords& words = nullptr);

/// For training. Epoch e cuts its windows at shift + k * seq_len, k = 0, 1, ..., and visits each of them once; shift and order
/// are functions of (seed, e), and over the epochs every token of the range is read. ids and labels [n, seq_len].
/// bytes_per_token: of the text, on average; 0: not known.
std::unique_ptr<Dataset> shuffled_windows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len,
                                          std::uint64_t seed, double bytes_per_token = 0);

/// For validation: the same windows each time, in the order of the text. Every token but the first is a label exactly once: the
/// last window ends with the range, and what it shares with the one before is kIgnoredLabel there.
std::unique_ptr<Dataset> ordered_windows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len,
                                         double bytes_per_token = 0);

/// Entropies of the tokens of a range as counted: uniform over the ids that occur, unigram, and bigram (of a token given the one
/// before it); floor is NaN. Pairs are counted in `vocabulary`^2 cells or, past 2^24 of those, in a map; `most` bounds the tokens
/// that are read, from the beginning of the range. An id outside 0 ... vocabulary - 1 is a DataError.
Baselines text_baselines(const TokenSource& source, TokenRange range, std::size_t vocabulary, std::uint64_t most = 1u << 24);

}  // namespace addnorm
