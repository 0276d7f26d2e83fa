#include "probe/xray/sequence_data.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "addnorm/core/error.h"
#include "addnorm/core/rng.h"
#include "core/file.h"

namespace addnorm {
namespace {

std::int32_t id_of(const std::string& word, std::size_t vocabulary, const std::string& where) {
  std::uint32_t id = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (problem != std::errc() || end != word.data() + word.size() || id >= vocabulary)
    throw DataError(concat(where, ": '", word.substr(0, 40), "' is no id of this model, which has no tokenizer: 0 ... ",
                           vocabulary - 1, " are"));
  return static_cast<std::int32_t>(id);
}

}  // namespace

Batch SequenceData::batch(std::uint64_t first, std::size_t count) const {
  Batch all{.first = first, .sequences = count};
  std::size_t longest = 0;
  for (std::size_t i = 0; i < count; ++i) longest = std::max(longest, sequences_[first + i].size() - next_);
  for (std::size_t i = 0; i < count; ++i) {
    const Sequence& one = sequences_[first + i];
    const std::size_t length = one.size() - next_;
    for (std::size_t t = 0; t < longest; ++t) {
      all.ids.push_back(t < length ? one[t] : one.front());  // any id is as good
      all.labels.push_back(next_ == 1 && t < length ? one[t + 1] : kIgnoredLabel);
    }
    all.lengths.push_back(length);
  }
  if (std::ranges::all_of(all.lengths, [&](std::size_t l) { return l == longest; })) all.lengths.clear();
  return all;
}

std::vector<Batch> batches_of(const Dataset& data, const SequenceData& lengths) {
  constexpr std::size_t kBatchTokens = 4096;
  std::vector<Batch> all;
  for (std::size_t first = 0; first < data.size();) {
    std::size_t count = 1, longest = lengths.length(first);
    while (first + count < data.size()) {
      longest = std::max(longest, lengths.length(first + count));
      if ((count + 1) * longest > kBatchTokens) break;
      ++count;
    }
    all.push_back(data.batch(first, count));
    first += count;
  }
  return all;
}

std::vector<Sequence> ids_of_lines(const std::string& file, const std::string& option, std::size_t vocabulary) {
  std::istringstream text(small_text(file, "a file of ids"));
  std::vector<Sequence> all;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    const std::string where = concat(option, " ", file, ", line ", ++number);
    for (char& letter : line)
      if (letter == ',' || letter == '\t' || letter == '\r') letter = ' ';
    std::istringstream words(line);
    all.emplace_back();
    for (std::string word; words >> word;) all.back().push_back(id_of(word, vocabulary, where));
  }
  return all;
}

std::vector<Sequence> drawn_ids(std::size_t vocabulary, std::size_t count) {
  Sequence ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(RandomKey(1).with(i).bits() % vocabulary));
  return {ids};
}

}  // namespace addnorm
