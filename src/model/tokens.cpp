#include "addnorm/model/tokens.h"

#include <algorithm>

namespace addnorm {
namespace {

void check_joined(const Tokens& tokens, const char* where) {
  require(tokens.lengths.size() == tokens.batch, where, ": ", tokens.lengths.size(), " lengths for ", tokens.batch,
          " joined sequences; give one for each");
  std::size_t left = tokens.ids.size();
  for (std::size_t b = 0; b < tokens.batch; ++b) {
    require(tokens.lengths[b] >= 1 && tokens.lengths[b] <= left, where, ": joined sequence ", b, " has ", tokens.lengths[b],
            " tokens, where ", left, " of ", tokens.ids.size(), " are left");
    left -= tokens.lengths[b];
  }
  require(left == 0, where, ": the joined sequences leave ", left, " of ", tokens.ids.size(), " tokens over");
}

}  // namespace

std::size_t Tokens::tokens() const {
  if (joined) return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return batch ? ids.size() / batch : 0;
}

void check(const Tokens& tokens, std::size_t most, const char* where) {
  require(!tokens.ids.empty(), where, ": no token ids were given; a sequence has at least one token");
  if (tokens.joined) check_joined(tokens, where);
  require(tokens.joined || (tokens.batch > 0 && tokens.ids.size() % tokens.batch == 0), where, ": ", tokens.ids.size(),
          " token ids do not make ", tokens.batch, " sequences of one length; pad the short ones");
  require(tokens.tokens() <= most, where, ": sequences of ", tokens.tokens(), " tokens, but seq_len is ", most,
          "; cut them, or make the model with a larger seq_len");
  require(tokens.lengths.empty() || tokens.lengths.size() == tokens.batch, where, ": ", tokens.lengths.size(), " lengths for ",
          tokens.batch, " sequences; give one for each, or none");
  require(tokens.types.empty() || tokens.types.size() == tokens.ids.size(), where, ": ", tokens.types.size(), " token types for ",
          tokens.ids.size(), " tokens; give one for each, or none");
  for (std::size_t b = 0; b < tokens.lengths.size(); ++b)
    require(tokens.lengths[b] >= 1 && tokens.lengths[b] <= tokens.tokens(), where, ": length of sequence ", b, " is ",
            tokens.lengths[b], "; it must be 1 ... ", tokens.tokens());
}

void check_ids(const Tokens& tokens, std::size_t vocab, const char* where) {
  const std::size_t row = tokens.tokens();
  for (std::size_t b = 0, begin = 0; b < tokens.batch; ++b) {
    const std::size_t end = begin + (tokens.joined ? tokens.lengths[b] : row);
    for (std::size_t i = begin; i < end; ++i)
      require(tokens.ids[i] >= 0 && static_cast<std::size_t>(tokens.ids[i]) < vocab, where, ": token ", i - begin,
              " of sequence ", b, " is ", tokens.ids[i], "; the vocab is ", vocab, ", so ids are 0 ... ", vocab - 1);
    begin = end;
  }
}

namespace {

/// Of x [rows, ..., d_model].
std::size_t rows_of(const Tokens& tokens) { return tokens.joined ? 1 : tokens.batch; }

}  // namespace

std::vector<unsigned char> padding_of(const Tokens& tokens) {
  std::vector<unsigned char> padding;
  if (tokens.lengths.empty() || tokens.joined) return padding;
  const std::size_t count = tokens.tokens();
  padding.resize(tokens.batch * count);
  for (std::size_t b = 0; b < tokens.batch; ++b)
    for (std::size_t t = tokens.lengths[b]; t < count; ++t) padding[b * count + t] = 1;
  return padding;
}

TokenInput::TokenInput(const ModelConfig& config, std::size_t vocabulary, const char* name)
    : name_(name),
      dropout_(static_cast<float>(config.dropout)),
      offset_(config.position_offset),
      seq_len_(config.seq_len),
      positions_(config.positions, config.seq_len + config.position_offset, config.d_model) {
  projects_ = config.d_embedding > 0;
  if (projects_) project_ = Linear(config.d_embedding, config.d_model, Role::weight, false);
  if (vocabulary > 0) embedding_ = Embedding(vocabulary, projects_ ? config.d_embedding : config.d_model, config.scale_embedding);
  if (config.token_types > 0) types_ = Embedding(config.token_types, config.d_model);
}

Var TokenInput::operator()(const Tokens& tokens, const Pass& pass, std::size_t first) const {
  return (*this)(tokens, embedding_, pass, first);
}

Var TokenInput::operator()(const Tokens& tokens, const Embedding& table, const Pass& pass, std::size_t first) const {
  require(first + tokens.tokens() <= seq_len_, name_, ": ", tokens.tokens(), " tokens after ", first, ", but seq_len is ",
          seq_len_, "; cut the text, or make the model with a larger seq_len");
  check(tokens, seq_len_, name_);
  check_ids(tokens, table.vocabulary(), name_);
  const std::span<const std::size_t> joined = tokens.joined ? std::span(tokens.lengths) : std::span<const std::size_t>();
  const Var x = positions_(typed(projected(table(tokens.ids, rows_of(tokens))), tokens), first + offset_, joined);
  if (!pass.train || dropout_ == 0) return x;
  return dropout(x, dropout_, pass.key(name_), pass.first_row);
}

Var TokenInput::typed(const Var& x, const Tokens& tokens) const {
  require(tokens.types.empty() || types_.defined(), name_, ": token types are given, but the model has no vectors for them; ",
          "leave them out");
  if (!types_.defined()) return x;
  const std::vector<std::int32_t> zeros(tokens.types.empty() ? tokens.ids.size() : 0);
  return add(x, types_(tokens.types.empty() ? std::span(zeros) : tokens.types, rows_of(tokens)));
}

void TokenInput::visit(Visitor& visitor) {
  if (embedding_.defined()) visitor.child("embedding", embedding_);
  if (projects_) visitor.child("project", project_);
  if (types_.defined()) visitor.child("types", types_);
  visitor.child("positions", positions_);
}

}  // namespace addnorm
