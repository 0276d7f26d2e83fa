#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/data/sample_files.h"
#include "data/classes.h"
#include "data/line_tokens.h"
#include "data/lines.h"
#include "data/pack.h"
#include "data/sample_view.h"

namespace addnorm {
namespace {

struct LabelledStore : SampleStore {
  Ragged texts;
  std::vector<std::int32_t> labels;
  std::int32_t pad = 0;

  Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers) const override {
    Batch batch{.first = first, .sequences = numbers.size()};
    std::size_t longest = 0, shortest = numbers.empty() ? 0 : texts[numbers.front()].size();
    for (const std::uint32_t number : numbers) {
      longest = std::max(longest, texts[number].size());
      shortest = std::min(shortest, texts[number].size());
    }
    batch.ids.assign(numbers.size() * longest, pad);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto text = texts[numbers[i]];
      std::ranges::copy(text, batch.ids.data() + i * longest);
      if (shortest < longest) batch.lengths.push_back(text.size());
      batch.labels.push_back(labels[numbers[i]]);
    }
    return batch;
  }
};

}  // namespace

LabelledFile read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer, const FileOptions& options,
                           const std::vector<std::string>& classes) {
  auto store = std::make_shared<LabelledStore>();
  store->pad = padding_of(tokenizer);
  LabelledFile file;
  Classes names(classes, "read_labelled");
  Lines lines(path);
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) {
      ++file.empty_lines;
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) lines.fail("there is no tab in '", shown(line), "'; a line is label<TAB>text");
    store->labels.push_back(names.number(lines, trimmed(line.substr(0, tab))));
    if (tab + 1 == line.size()) lines.fail("the text, behind the tab, is empty");
    std::vector<std::int32_t> ids = line_tokens(lines, tokenizer, line.substr(tab + 1));
    if (options.seq_len > 0 && ids.size() > options.seq_len) {
      if (!options.truncate)
        lines.fail("the text has ", ids.size(), " tokens; the model takes ", options.seq_len,
                   " (seq_len). --truncate cuts what is longer; or train with a larger --seq-len");
      ids.resize(options.seq_len);
      ++file.truncated;
    }
    file.longest = std::max(file.longest, ids.size());
    store->texts.add(ids);
    check_count(lines, store->labels.size());
  }
  const std::size_t samples = store->labels.size();
  if (samples == 0) throw DataError(concat(path.string(), ": nothing in it; each line is label<TAB>text"));
  if (names.size() < 2)
    throw DataError(concat(path.string(), ": all ", samples, " lines have one label; there is nothing to tell apart"));
  file.classes = names.settle(store->labels);
  show(std::move(store), samples, split_samples(options.seed, samples, options.validation_share), options.seed, file);
  return file;
}

}  // namespace addnorm
