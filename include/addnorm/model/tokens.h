// Tokens: a batch of sequences, and the module that makes vectors of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "addnorm/model/config.h"
#include "addnorm/nn/linear.h"

namespace addnorm {

/// ids [batch, tokens], row by row, which the caller keeps; shorter sequences are padded at their end, and lengths say where it
/// begins. Or they are joined: the sequences one after another, without any padding, and no work is done for what is not
/// there.
struct Tokens {
  std::span<const std::int32_t> ids;
  std::size_t batch = 1;
  std::vector<std::size_t> lengths{};     ///< [batch]; empty: no padding
  std::span<const std::int32_t> types{};  ///< as many as ids, below ModelConfig::token_types; empty: all 0
  /// The ids are `batch` sequences of these lengths one after another. Models give [1, ids, ...] then: every token has what it
  /// has in its sequence alone. In training, masks of dropout follow from how sequences are joined.
  bool joined = false;

  std::size_t tokens() const;  ///< of a row, padding included; joined: of the longest sequence
};
/// A UsageError unless ids fill the batch, there are no more tokens than `most`, and lengths are 1 ... tokens; joined: add up to
/// ids.
void check(const Tokens& tokens, std::size_t most, const char* where);
/// A UsageError that names the sequence and its token unless every id is below `vocab`. The tokens passed check().
void check_ids(const Tokens& tokens, std::size_t vocab, const char* where);
/// One byte per row, 1 = padding; empty where there is none: what Pass::padding takes.
std::vector<unsigned char> padding_of(const Tokens& tokens);

///   x = dropout( E[id] (times sqrt(d_model)) + S[type] + P[position] ),   or W E[id] where token vectors have a width of their
///   own
class TokenInput : public Module {
 public:
  TokenInput() = default;
  /// `name` is where its dropout mask comes from. A vocabulary of 0: it has no table, and is handed that of another.
  TokenInput(const ModelConfig& config, std::size_t vocabulary, const char* name);

  /// [batch, tokens, d_model], joined: [1, ids, d_model]; the first token of each sequence stands at `first`.
  Var operator()(const Tokens& tokens, const Pass& pass, std::size_t first = 0) const;
  Var operator()(const Tokens& tokens, const Embedding& table, const Pass& pass, std::size_t first = 0) const;
  const Embedding& table() const { return embedding_; }
  void visit(Visitor& visitor) override;

 private:
  Var projected(const Var& x) const { return projects_ ? project_(x) : x; }
  Var typed(const Var& x, const Tokens& tokens) const;

  const char* name_ = "";
  float dropout_ = 0;
  std::size_t offset_ = 0;
  std::size_t seq_len_ = 0;
  Embedding embedding_;  // not visited when there is none
  bool projects_ = false;
  Linear project_;   // from d_embedding to d_model
  Embedding types_;  // not visited when there is none
  Positions positions_;
};

}  // namespace addnorm
