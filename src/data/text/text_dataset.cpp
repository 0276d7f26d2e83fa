#include "addnorm/data/text_dataset.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "addnorm/core/error.h"
#include "data/samples/draws.h"

namespace addnorm {
namespace {

/// seq_len tokens and the one after them.
std::uint64_t window(std::size_t seq_len) { return std::uint64_t{seq_len} + 1; }

[[noreturn]] void fail_short(const char* what, std::uint64_t tokens, std::size_t seq_len, std::uint64_t needed,
                             const FieldWords& words = nullptr) {
  throw DataError(concat("the ", what, " has ", tokens, tokens == 1 ? " token" : " tokens", "; a context (seq_len) of ", seq_len,
                         " needs at least ", needed, ": give more text, or train with a smaller ", called(words, "seq_len")));
}

class Windows : public Dataset {
 public:
  Windows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len, double bytes_per_token)
      : source_(std::move(source)), range_(range), seq_len_(seq_len), bytes_per_token_(bytes_per_token) {
    require(seq_len > 0, "text windows: seq_len is 0; it must be at least 1");
    require(source_ != nullptr, "text windows: there is no source");
    require(range.count <= source_->size() && range.first <= source_->size() - range.count, "text windows: tokens ", range.first,
            " ... ", range.first, " + ", range.count, " of a source of ", source_->size());
    if (range.count < window(seq_len)) fail_short("text", range.count, seq_len, window(seq_len));
  }

  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch batch{.first = first, .sequences = count};
    batch.ids.resize(count * seq_len_);
    batch.labels.resize(count * seq_len_);
    std::vector<std::int32_t> tokens(seq_len_ + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const Place place = placed(first + i);
      source_->copy(range_.first + place.begin, tokens.size(), tokens.data());
      const auto at = static_cast<std::ptrdiff_t>(i * seq_len_);
      std::copy(tokens.begin(), tokens.end() - 1, batch.ids.begin() + at);
      std::copy(tokens.begin() + 1, tokens.end(), batch.labels.begin() + at);
      std::fill_n(batch.labels.begin() + at, place.ignored, kIgnoredLabel);
    }
    return batch;
  }
  double bytes_per_label() const override { return bytes_per_token_; }

 protected:
  struct Place {
    std::uint64_t begin;      // in the range
    std::size_t ignored = 0;  // labels at its beginning that do not count
  };
  virtual Place placed(std::uint64_t index) const = 0;
  std::uint64_t labels() const { return range_.count - 1; }
  std::size_t seq_len() const { return seq_len_; }

 private:
  std::shared_ptr<const TokenSource> source_;
  TokenRange range_;
  std::size_t seq_len_;
  double bytes_per_token_;
};

/// One window less than would fit, so that an epoch has as many for every shift, and the shifts reach the end of the text.
class ShuffledWindows : public Windows {
 public:
  ShuffledWindows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len, std::uint64_t seed,
                  double bytes_per_token)
      : Windows(std::move(source), range, seq_len, bytes_per_token),
        key_(RandomKey(seed).with("windows")),
        windows_(std::max<std::uint64_t>(1, labels() / seq_len - 1)) {}

  std::uint64_t size() const override { return windows_; }

 private:
  Place placed(std::uint64_t index) const override {
    const RandomKey key = key_.with(index / windows_);
    const std::uint64_t shifts = labels() - windows_ * seq_len() + 1;
    const auto shift = static_cast<std::uint64_t>(Draws(key, 0).uniform() * static_cast<double>(shifts));
    return {shift + Permutation(key, windows_)(index % windows_) * seq_len()};
  }

  RandomKey key_;
  std::uint64_t windows_;
};

class OrderedWindows : public Windows {
 public:
  using Windows::Windows;
  std::uint64_t size() const override { return (labels() + seq_len() - 1) / seq_len(); }

 private:
  Place placed(std::uint64_t index) const override {
    const std::uint64_t begin = index % size() * seq_len(), last = labels() - seq_len();
    return {std::min(begin, last), static_cast<std::size_t>(begin > last ? begin - last : 0)};
  }
};

}  // namespace

void TokenVector::copy(std::uint64_t first, std::size_t count, std::int32_t* into) const {
  require(count <= ids_.size() && first <= ids_.size() - count, "TokenVector::copy: ", count, " ids from ", first, " on, of ",
          ids_.size());
  std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(first), count, into);
}

TextSplit split_text(std::uint64_t tokens, std::size_t seq_len, double validation_share, const FieldWords& words) {
  require(seq_len > 0, "split_text: seq_len is 0; it must be at least 1");
  require(validation_share >= 0 && validation_share < 1, "split_text: validation_share is ", validation_share,
          "; it must be at least 0 and less than 1");
  const std::uint64_t least = window(seq_len);
  if (tokens < least) fail_short("text", tokens, seq_len, least, words);
  if (validation_share == 0) return {{0, tokens}, {tokens, 0}};
  if (tokens < 2 * least) fail_short("text, of which a part is for validation,", tokens, seq_len, 2 * least, words);
  const auto share = static_cast<std::uint64_t>(static_cast<double>(tokens) * (1 - validation_share));
  const std::uint64_t training = std::clamp(share, least, tokens - least);
  return {{0, training}, {training, tokens - training}};
}

std::unique_ptr<Dataset> shuffled_windows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len,
                                          std::uint64_t seed, double bytes_per_token) {
  return std::make_unique<ShuffledWindows>(std::move(source), range, seq_len, seed, bytes_per_token);
}

std::unique_ptr<Dataset> ordered_windows(std::shared_ptr<const TokenSource> source, TokenRange range, std::size_t seq_len,
                                         double bytes_per_token) {
  return std::make_unique<OrderedWindows>(std::move(source), range, seq_len, bytes_per_token);
}

}  // namespace addnorm
