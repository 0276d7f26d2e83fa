#include "data/text/framed.h"

#include <algorithm>
#include <utility>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

class FramedTokens final : public TokenSource {
 public:
  FramedTokens(std::shared_ptr<const TokenSource> ids, TextFrame frame) : ids_(std::move(ids)), frame_(std::move(frame)) {}
  std::uint64_t size() const override { return frame_.before.size() + ids_->size() + frame_.after.size(); }
  void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const override {
    require(count <= size() && first <= size() - count, "FramedTokens::copy: ", count, " ids from ", first, " on, of ", size());
    const std::uint64_t text = frame_.before.size(), end_of_text = text + ids_->size();
    const std::uint64_t end = first + count;
    for (; first < std::min(end, text); ++first) *into++ = frame_.before[static_cast<std::size_t>(first)];
    if (const std::uint64_t to = std::min(end, end_of_text); first < to) {
      ids_->copy(first - text, static_cast<std::size_t>(to - first), into);
      into += to - first;
      first = to;
    }
    for (; first < end; ++first) *into++ = frame_.after[static_cast<std::size_t>(first - end_of_text)];
  }

 private:
  std::shared_ptr<const TokenSource> ids_;
  TextFrame frame_;
};

class FramedWindows final : public Dataset {
 public:
  FramedWindows(std::shared_ptr<const TokenSource> ids, TextFrame frame, std::size_t seq_len, std::int32_t pad)
      : ids_(std::move(ids)), frame_(std::move(frame)), pad_(pad) {
    const std::size_t around = frame_.before.size() + frame_.after.size();
    require(ids_->size() > 0, "framed_windows: no ids");
    require(seq_len > around, "framed_windows: ", seq_len, " tokens; the tokenizer puts ", around, " around a text");
    room_ = seq_len - around;
  }
  std::uint64_t size() const override { return (ids_->size() + room_ - 1) / room_; }
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch batch{.first = first, .sequences = count};
    std::size_t longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      batch.lengths.push_back(frame_.before.size() + words(first + i) + frame_.after.size());
      longest = std::max(longest, batch.lengths.back());
    }
    batch.ids.assign(count * longest, pad_);
    batch.labels.assign(count * longest, kIgnoredLabel);
    for (std::size_t i = 0; i < count; ++i) write(first + i, batch.ids.data() + i * longest);
    if (std::ranges::all_of(batch.lengths, [&](std::size_t length) { return length == longest; })) batch.lengths.clear();
    return batch;
  }

 private:
  std::uint64_t begin(std::uint64_t index) const { return index % size() * room_; }
  std::size_t words(std::uint64_t index) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(room_, ids_->size() - begin(index)));
  }
  void write(std::uint64_t index, std::int32_t* to) const {
    to = std::ranges::copy(frame_.before, to).out;
    ids_->copy(begin(index), words(index), to);
    std::ranges::copy(frame_.after, to + words(index));
  }

  std::shared_ptr<const TokenSource> ids_;
  TextFrame frame_;
  std::int32_t pad_;
  std::size_t room_ = 0;
};

}  // namespace

std::unique_ptr<TokenSource> framed_tokens(std::shared_ptr<const TokenSource> ids, TextFrame frame) {
  require(ids != nullptr, "framed_tokens: there is no source");
  return std::make_unique<FramedTokens>(std::move(ids), std::move(frame));
}

std::unique_ptr<Dataset> framed_windows(std::shared_ptr<const TokenSource> ids, TextFrame frame, std::size_t seq_len,
                                        std::int32_t pad) {
  require(ids != nullptr, "framed_windows: there is no source");
  return std::make_unique<FramedWindows>(std::move(ids), std::move(frame), seq_len, pad);
}

}  // namespace addnorm
