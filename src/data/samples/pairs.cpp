#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/data/sample_files.h"
#include "data/samples/lines.h"
#include "data/samples/sample_view.h"
#include "data/text/pack.h"

namespace addnorm {
namespace {

struct PairStore : SampleStore {
  PairForm form;
  PairTokens tokens;
  SampleLines lines;
  Ragged sources, labels;  // labels: target and end token

  PairStore(PairForm form_, const PairTokens& tokens_, const std::filesystem::path& path)
      : form(form_), tokens(tokens_), lines(path) {}

  std::size_t samples() const override { return labels.size(); }
  std::uint64_t bytes() const override { return sources.bytes() + labels.bytes(); }
  Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers, std::size_t most) const override {
    std::vector<PairRow> rows;
    for (const std::uint32_t number : numbers) rows.push_back(row(number, most));
    return addnorm::packed(first, rows, form, tokens);
  }
  void fit(const FileOptions& options, SampleFile& file) const override {
    for (std::size_t i = 0; i < samples(); ++i) {
      check(i, options);
      const PairRow cut = row(i, options.seq_len);
      file.truncated += cut.source.size() < sources[i].size() || cut.labels.size() < labels[i].size();
      file.longest = std::max(file.longest, cut.source.size() + (form == PairForm::lm ? cut.labels.size() : 0));
      if (form == PairForm::seq2seq) file.longest_target = std::max(file.longest_target, cut.labels.size());
    }
  }

 private:
  /// Of a model that takes `most` tokens; of joined pairs only the target is cut.
  PairRow row(std::size_t i, std::size_t most) const {
    const auto cut = [](std::span<const std::int32_t> ids, std::size_t to) { return ids.first(std::min(ids.size(), to)); };
    if (most == 0) return {sources[i], labels[i]};
    if (form == PairForm::seq2seq) return {cut(sources[i], most), cut(labels[i], most)};
    return {sources[i], cut(labels[i], most - std::min(most, sources[i].size()))};
  }
  void check(std::size_t i, const FileOptions& options) const {
    const std::size_t most = options.seq_len, source = sources[i].size(), target = labels[i].size();
    if (most == 0) return;
    const auto fail_long = [&](const char* what, std::size_t length) {
      if (options.truncate || length <= most) return;
      lines.fail(i, "the ", what, " has ", length, " tokens; the model takes ", most, " (seq_len). ",
                 called(options.words, "truncate"), " cuts what is longer; or train with a larger ",
                 called(options.words, "seq_len"));
    };
    if (form == PairForm::seq2seq) {
      fail_long("source", source);
      return fail_long("target with its begin token", target);
    }
    if (source >= most)
      lines.fail(i, "the source has ", source, " tokens; of the ", most,
                 " that the model takes (seq_len) none are left for the target");
    fail_long("pair with the token between", source + target);
  }
};

struct Pair {
  std::string_view source, target;
};

Pair split_pair(const Lines& lines, std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) lines.fail("there is no tab in '", shown(line), "'; a line is source<TAB>target");
  const Pair pair{line.substr(0, tab), line.substr(tab + 1)};
  if (const auto more = std::ranges::count(pair.target, '\t'); more > 0)
    lines.fail("the line has ", more + 2, " columns; it must have 2, source<TAB>target (cut -f1,2 takes the first two)");
  if (pair.source.empty()) lines.fail("the source, before the tab, is empty");
  if (pair.target.empty()) lines.fail("the target, after the tab, is empty");
  return pair;
}

}  // namespace

SampleFile read_pairs(const std::filesystem::path& path, const Tokenizer& tokenizer, PairForm form, const FileOptions& options,
                      const Progress& progress) {
  require_one_of("read_pairs", "form", form, "PairForm", {"seq2seq", "lm"});
  auto store = std::make_shared<PairStore>(form, pair_tokens(tokenizer, "read_pairs"), path);
  SampleFile file;
  Lines lines(path, progress, tokenizer.to_json());
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) {
      ++file.empty_lines;
      continue;
    }
    const Pair pair = split_pair(lines, line);
    std::vector<std::int32_t> labels = line_tokens(lines, tokenizer, pair.target);
    labels.push_back(store->tokens.end);
    store->sources.add(line_tokens(lines, tokenizer, pair.source));
    store->labels.add(labels);
    store->lines.add(lines.number());
    check_count(lines, store->samples());
  }
  if (lines.stopped()) return {};
  if (store->samples() == 0) throw DataError(concat(path.string(), ": no pairs in it; each line is source<TAB>target"));
  file.checksum = lines.checksum();
  file.store = std::move(store);
  return shown(file, options);
}

}  // namespace addnorm
