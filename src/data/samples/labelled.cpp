#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/data/sample_files.h"
#include "data/samples/fields.h"
#include "data/samples/lines.h"
#include "data/samples/sample_view.h"
#include "data/text/pack.h"

namespace addnorm {
namespace {

struct LabelledStore : SampleStore {
  SampleLines lines;
  Ragged texts;
  std::vector<std::int32_t> labels;
  std::int32_t pad = 0;

  LabelledStore(const std::filesystem::path& path, std::int32_t pad_) : lines(path), pad(pad_) {}

  std::size_t samples() const override { return labels.size(); }
  std::uint64_t bytes() const override { return texts.bytes() + labels.capacity() * sizeof(std::int32_t); }
  Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers, std::size_t most) const override {
    Batch batch{.first = first, .sequences = numbers.size()};
    std::size_t longest = 0, shortest = numbers.empty() ? 0 : text(numbers.front(), most).size();
    for (const std::uint32_t number : numbers) {
      longest = std::max(longest, text(number, most).size());
      shortest = std::min(shortest, text(number, most).size());
    }
    batch.ids.assign(numbers.size() * longest, pad);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto ids = text(numbers[i], most);
      std::ranges::copy(ids, batch.ids.data() + i * longest);
      if (shortest < longest) batch.lengths.push_back(ids.size());
      batch.labels.push_back(labels[numbers[i]]);
    }
    return batch;
  }
  void fit(const FileOptions& options, SampleFile& file) const override {
    for (std::size_t i = 0; i < samples(); ++i) {
      const std::size_t length = texts[i].size(), left = text(i, options.seq_len).size();
      if (left < length && !options.truncate)
        lines.fail(i, "the text has ", length, " tokens; the model takes ", options.seq_len, " (seq_len). ",
                   called(options.words, "truncate"), " cuts what is longer; or train with a larger ",
                   called(options.words, "seq_len"));
      file.truncated += left < length;
      file.longest = std::max(file.longest, left);
    }
  }

 private:
  std::span<const std::int32_t> text(std::size_t i, std::size_t most) const {
    return most == 0 ? texts[i] : texts[i].first(std::min(texts[i].size(), most));
  }
};

}  // namespace

LabelledFile read_labelled(const std::filesystem::path& path, const Tokenizer& tokenizer, const FileOptions& options,
                           const std::vector<std::string>& classes, const Progress& progress) {
  auto store = std::make_shared<LabelledStore>(path, padding_of(tokenizer));
  LabelledFile file;
  Classes names(classes, "read_labelled");
  Lines lines(path, progress, tokenizer.to_json());
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) {
      ++file.empty_lines;
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) lines.fail("there is no tab in '", shown(line), "'; a line is label<TAB>text");
    store->labels.push_back(names.number(lines, trimmed(line.substr(0, tab))));
    if (tab + 1 == line.size()) lines.fail("the text, after the tab, is empty");
    store->texts.add(line_tokens(lines, tokenizer, line.substr(tab + 1)));
    store->lines.add(lines.number());
    check_count(lines, store->samples());
  }
  if (lines.stopped()) return {};
  const std::size_t samples = store->samples();
  if (samples == 0) throw DataError(concat(path.string(), ": nothing in it; each line is label<TAB>text"));
  if (names.size() < 2)
    throw DataError(concat(path.string(), ": all ", samples, " lines have one label; there is nothing to tell apart"));
  file.classes = names.settle(store->labels);
  file.checksum = lines.checksum();
  file.store = std::move(store);
  static_cast<SampleFile&>(file) = shown(file, options);
  return file;
}

}  // namespace addnorm
