#include "addnorm/data/masked.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "addnorm/core/error.h"
#include "data/samples/draws.h"

namespace addnorm {
namespace {

std::vector<std::int32_t> sorted_special(const SpecialTokens& special) {
  std::vector<std::int32_t> ids;
  for (const auto& id : {special.begin, special.end, special.pad, special.unknown, special.mask})
    if (id) ids.push_back(*id);
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

class MaskedDataset : public Dataset {
 public:
  MaskedDataset(std::shared_ptr<const Dataset> data, std::size_t vocabulary, const SpecialTokens& special,
                const MaskOptions& options)
      : data_(std::move(data)),
        mask_(*special.mask),
        special_(sorted_special(special)),
        ordinary_(static_cast<std::uint32_t>(vocabulary - special_.size())),
        options_(options) {}

  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch batch = data_->batch(first, count);
    const std::size_t length = count == 0 ? 0 : batch.ids.size() / count;
    batch.labels.assign(batch.ids.size(), kIgnoredLabel);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t used = batch.lengths.empty() ? length : batch.lengths[i];
      mask(first + i, batch.ids.data() + i * length, used, batch.labels.data() + i * length);
    }
    return batch;
  }
  std::uint64_t size() const override { return data_->size(); }

 private:
  void mask(std::uint64_t index, std::int32_t* ids, std::size_t length, std::int32_t* labels) const {
    Draws draws(RandomKey(options_.seed).with("masks"), index);
    std::vector<std::pair<std::uint32_t, std::size_t>> order;  // a random word and a place: the smallest words are chosen
    for (std::size_t t = 0; t < length; ++t) {
      const std::uint32_t word = draws.word();
      if (!std::ranges::binary_search(special_, ids[t])) order.emplace_back(word, t);
    }
    const auto share = static_cast<std::size_t>(std::lround(options_.share * static_cast<double>(order.size())));
    const std::size_t chosen = std::min(order.size(), std::max<std::size_t>(1, share));
    std::ranges::sort(order);
    for (const auto& [word, t] : std::span(order).first(chosen)) {
      labels[t] = ids[t];
      const double u = draws.uniform();
      const std::int32_t other = random_token(draws);
      if (u < options_.hidden)
        ids[t] = mask_;
      else if (u < options_.hidden + options_.replaced)
        ids[t] = other;
    }
  }

  std::int32_t random_token(Draws& draws) const {
    auto id = static_cast<std::int32_t>(draws.below(ordinary_));
    for (const std::int32_t special : special_) id += id >= special;  // ascending: each one passed shifts what follows
    return id;
  }

  std::shared_ptr<const Dataset> data_;
  std::int32_t mask_;
  std::vector<std::int32_t> special_;
  std::uint32_t ordinary_;
  MaskOptions options_;
};

}  // namespace

std::unique_ptr<Dataset> masked(std::shared_ptr<const Dataset> data, const Tokenizer& tokenizer, const MaskOptions& options) {
  const SpecialTokens special = tokenizer.special();
  require(data != nullptr, "masked: there is no dataset");
  require(special.mask.has_value(), "masked: the tokenizer (", tokenizer.kind(), ") has no mask token");
  require(options.share > 0 && options.share <= 1, "masked: share is ", options.share, "; it must be above 0 and at most 1");
  require(options.hidden >= 0 && options.replaced >= 0 && options.hidden + options.replaced <= 1, "masked: hidden is ",
          options.hidden, " and replaced ", options.replaced, "; neither may be below 0, nor their sum above 1");
  require(tokenizer.vocabulary() > sorted_special(special).size(), "masked: the tokenizer has only special tokens");
  return std::make_unique<MaskedDataset>(std::move(data), tokenizer.vocabulary(), special, options);
}

}  // namespace addnorm
