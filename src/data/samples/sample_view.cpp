#include "data/samples/sample_view.h"

#include <algorithm>
#include <utility>

#include "addnorm/core/error.h"
#include "data/samples/draws.h"

namespace addnorm {
namespace {

double place(std::uint64_t seed, std::uint64_t number) { return Draws(RandomKey(seed).with("validation"), number).uniform(); }

class SampleView : public Dataset {
 public:
  using Numbers = std::optional<std::vector<std::uint32_t>>;  // none: all
  SampleView(std::shared_ptr<const SampleStore> store, Numbers numbers, std::size_t most, std::optional<std::uint64_t> seed)
      : store_(std::move(store)), numbers_(std::move(numbers)), most_(most), seed_(seed) {}

  Batch batch(std::uint64_t first, std::size_t count) const override {
    std::vector<std::uint32_t> chosen(count);
    for (std::size_t i = 0; i < count; ++i) chosen[i] = number(first + i);
    return store_->packed(first, chosen, most_);
  }
  std::uint64_t size() const override { return numbers_ ? numbers_->size() : store_->samples(); }

 private:
  std::uint32_t number(std::uint64_t index) const {
    const std::uint64_t n = size(), at = index % n;
    const std::uint64_t chosen = seed_ ? Permutation(RandomKey(*seed_).with("samples").with(index / n), n)(at) : at;
    return numbers_ ? (*numbers_)[chosen] : static_cast<std::uint32_t>(chosen);
  }

  std::shared_ptr<const SampleStore> store_;
  Numbers numbers_;
  std::size_t most_;
  std::optional<std::uint64_t> seed_;  // none: in order
};

}  // namespace

bool for_validation(std::uint64_t seed, std::uint64_t number, double share) { return place(seed, number) < share; }

SampleSplit split_samples(std::uint64_t seed, std::size_t samples, double share) {
  require(share >= 0 && share < 1, "validation_share is ", share, "; it must be at least 0 and less than 1");
  SampleSplit split;
  for (std::uint32_t i = 0; i < samples; ++i) (for_validation(seed, i, share) ? split.validation : split.training).push_back(i);
  if (share == 0 || samples < 2) return split;
  const auto nearer = [&](std::uint32_t a, std::uint32_t b) { return place(seed, a) < place(seed, b); };
  const auto move_one = [](std::vector<std::uint32_t>& from, std::vector<std::uint32_t>::iterator at,
                           std::vector<std::uint32_t>& to) {
    to.push_back(*at);
    from.erase(at);
  };
  if (split.validation.empty())
    move_one(split.training, std::min_element(split.training.begin(), split.training.end(), nearer), split.validation);
  if (split.training.empty())
    move_one(split.validation, std::max_element(split.validation.begin(), split.validation.end(), nearer), split.training);
  return split;
}

void show(std::shared_ptr<const SampleStore> store, SampleSplit split, std::uint64_t seed, std::size_t most, SampleFile& file) {
  file.samples = store->samples();
  file.held_bytes = store->bytes();
  file.all = std::make_shared<SampleView>(store, std::nullopt, most, std::nullopt);
  file.training = std::make_shared<SampleView>(store, std::move(split.training), most, seed);
  file.validation.reset();
  if (!split.validation.empty())
    file.validation = std::make_shared<SampleView>(store, std::move(split.validation), most, std::nullopt);
  file.store = std::move(store);
}

SampleFile shown(const SampleFile& file, const FileOptions& options) {
  require(file.store != nullptr, "shown: the file was not read to its end; there is nothing to show");
  SampleFile other = file;
  other.truncated = 0;
  other.longest = other.longest_target = 0;
  file.store->fit(options, other);
  show(file.store, split_samples(options.seed, file.store->samples(), options.validation_share), options.seed, options.seq_len,
       other);
  return other;
}

}  // namespace addnorm
