#include "data/text/pack.h"

#include <algorithm>
#include <numeric>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

struct Longest {
  std::size_t length = 0;
  bool same = true;  // all are as long
};

template <class Length>
Longest longest(std::span<const PairRow> rows, const Length& length_of) {
  Longest found;
  for (const PairRow& row : rows) {
    const std::size_t length = length_of(row);
    found.same = found.same && length == length_of(rows.front());
    found.length = std::max(found.length, length);
  }
  return found;
}

std::int32_t* put(std::span<const std::int32_t> ids, std::int32_t* to) { return std::copy(ids.begin(), ids.end(), to); }

Batch packed_seq2seq(Batch batch, std::span<const PairRow> rows, const PairTokens& tokens) {
  const Longest source = longest(rows, [](const PairRow& row) { return row.source.size(); });
  const Longest target = longest(rows, [](const PairRow& row) { return row.labels.size(); });
  batch.ids.assign(rows.size() * source.length, tokens.pad);
  batch.target_ids.assign(rows.size() * target.length, tokens.pad);
  batch.labels.assign(rows.size() * target.length, kIgnoredLabel);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PairRow& row = rows[i];
    put(row.source, batch.ids.data() + i * source.length);
    std::int32_t* to = batch.target_ids.data() + i * target.length;
    *to = tokens.begin;
    put(row.labels.first(row.labels.size() - 1), to + 1);
    put(row.labels, batch.labels.data() + i * target.length);
    if (!source.same) batch.lengths.push_back(row.source.size());
    if (!target.same) batch.target_lengths.push_back(row.labels.size());
  }
  return batch;
}

Batch packed_lm(Batch batch, std::span<const PairRow> rows, const PairTokens& tokens) {
  const Longest whole = longest(rows, [](const PairRow& row) { return row.source.size() + row.labels.size(); });
  batch.ids.assign(rows.size() * whole.length, tokens.pad);
  batch.labels.assign(rows.size() * whole.length, kIgnoredLabel);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PairRow& row = rows[i];
    std::int32_t* to = put(row.source, batch.ids.data() + i * whole.length);
    *to = tokens.begin;
    put(row.labels.first(row.labels.size() - 1), to + 1);
    put(row.labels, batch.labels.data() + i * whole.length + row.source.size());
    if (!whole.same) batch.lengths.push_back(row.source.size() + row.labels.size());
  }
  return batch;
}

}  // namespace

std::size_t Batch::counted() const { return labels.size() - static_cast<std::size_t>(std::ranges::count(labels, kIgnoredLabel)); }

std::size_t Batch::tokens() const {
  const auto real = [](const std::vector<std::int32_t>& padded, const std::vector<std::size_t>& without) {
    return without.empty() ? padded.size() : std::accumulate(without.begin(), without.end(), std::size_t{0});
  };
  return real(ids, lengths) + real(target_ids, target_lengths);
}

PairTokens pair_tokens(const Tokenizer& tokenizer, const char* function) {
  const SpecialTokens special = tokenizer.special();
  require(special.begin && special.end, function, ": the tokenizer (", tokenizer.kind(), ") has no ",
          special.begin ? "end" : "begin", " token; pairs need both");
  return {*special.begin, *special.end, padding_of(tokenizer)};
}

std::int32_t padding_of(const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  return special.pad ? *special.pad : special.end.value_or(0);
}

Batch packed(std::uint64_t first, std::span<const PairRow> rows, PairForm form, const PairTokens& tokens) {
  Batch batch{.first = first, .sequences = rows.size()};
  if (rows.empty()) return batch;
  return form == PairForm::lm ? packed_lm(std::move(batch), rows, tokens) : packed_seq2seq(std::move(batch), rows, tokens);
}

}  // namespace addnorm
