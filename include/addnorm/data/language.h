// Language: the built-in text, used when no file is given. A small grammar, endless, whose exact entropy is known.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

class Grammar;

/// 43 words. A sentence is
///
///   S      -> NP VERB NP [ADV] .
///   NP     -> DET ADJ* NOUN [that CLAUSE]          clauses stand in clauses, up to two deep
///   CLAUSE -> VERB NP | NP VERB                    "that sees a cat" | "that a cat sees"
///
/// Determiner and noun agree in number; a verb agrees with its subject, which other clauses may separate it from. Within a class
/// of n words, word k has probability proportional to 1/k (Zipf). Every text begins at the beginning of a sentence, and the words
/// so far determine where in the grammar one is: p(next | prefix) is exact, and so is the loss of a perfect model.
/// Cheap to copy.
class Language {
 public:
  Language();

  std::size_t vocabulary() const;
  const std::vector<std::string>& words() const;  ///< by id
  std::size_t states() const;                     ///< of the grammar

  /// The first `tokens` words of text number `index`, a function of (seed, index).
  std::vector<std::int32_t> sample(std::uint64_t seed, std::uint64_t index, std::size_t tokens) const;
  /// Text to ids: words with white space between, full stops where they stand. Another word is a DataError.
  std::unique_ptr<Tokenizer> tokenizer(AddedTokens added = {}) const;
  /// "every dog sees some cats that a bird hears."; an id outside the vocabulary is a UsageError.
  std::string text(std::span<const std::int32_t> ids) const;

  /// p(next | prefix) of each word. A prefix that the language does not have is a UsageError, which says where it leaves it.
  std::vector<double> next(std::span<const std::int32_t> prefix) const;
  /// ln p(sequence), its first word included; -infinity where the language does not have it.
  double log_probability(std::span<const std::int32_t> sequence) const;
  /// The number, below states(), of the state that a prefix of the language leads to: all that matters for what follows.
  std::uint32_t state(std::span<const std::int32_t> prefix) const;
  /// The length of the longest beginning of `sequence` that the language has.
  std::size_t possible(std::span<const std::int32_t> sequence) const;

  /// Entropies of the labels of sequences of `seq_len` tokens (words 1 ... seq_len; word 0 is only read), exact up to the
  /// rounding of double, by dynamic programming over states. floor: mean of the entropy of p(next | prefix). unigram and bigram:
  /// the loss of the best predictor that knows nothing, or only the word before.
  Baselines baselines(std::size_t seq_len) const;
  /// Endless; ids and labels [n, seq_len].
  std::unique_ptr<Dataset> dataset(std::size_t seq_len, std::uint64_t seed) const;

 private:
  std::uint32_t after(std::uint32_t state, std::int32_t word) const;  ///< checks the id

  std::shared_ptr<const Grammar> grammar_;
};

}  // namespace addnorm
