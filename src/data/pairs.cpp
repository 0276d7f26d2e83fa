#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/data/sample_files.h"
#include "data/line_tokens.h"
#include "data/lines.h"
#include "data/pack.h"
#include "data/sample_view.h"

namespace addnorm {
namespace {

struct PairStore : SampleStore {
  PairForm form;
  PairTokens tokens;
  Ragged sources, labels;

  PairStore(PairForm form_, const PairTokens& tokens_) : form(form_), tokens(tokens_) {}

  Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers) const override {
    std::vector<PairRow> rows;
    for (const std::uint32_t number : numbers) rows.push_back({sources[number], labels[number]});
    return addnorm::packed(first, rows, form, tokens);
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
  if (pair.target.empty()) lines.fail("the target, behind the tab, is empty");
  return pair;
}

/// Cut to what a model takes, where that is asked for.
void fit(const Lines& lines, PairForm form, const FileOptions& options, std::vector<std::int32_t>& source,
         std::vector<std::int32_t>& labels, SampleFile& file) {
  const std::size_t most = options.seq_len;
  if (most == 0) return;
  const auto fail_long = [&](const char* what, std::size_t length) {
    lines.fail("the ", what, " has ", length, " tokens; the model takes ", most,
               " (seq_len). --truncate cuts what is longer; or train with a larger --seq-len");
  };
  bool cut = false;
  const auto shorten = [&](std::vector<std::int32_t>& ids, std::size_t to, const char* what, std::size_t length) {
    if (ids.size() <= to) return;
    if (!options.truncate) fail_long(what, length);
    ids.resize(to);
    cut = true;
  };
  if (form == PairForm::seq2seq) {
    shorten(source, most, "source", source.size());
    shorten(labels, most, "target with its begin token", labels.size());
  } else {
    const std::size_t whole = source.size() + labels.size();
    if (source.size() >= most)
      lines.fail("the source has ", source.size(), " tokens; of the ", most,
                 " that the model takes (seq_len) none are left for the target");
    shorten(labels, most - source.size(), "pair with the token between", whole);
  }
  file.truncated += cut;
}

}  // namespace

SampleFile read_pairs(const std::filesystem::path& path, const Tokenizer& tokenizer, PairForm form, const FileOptions& options) {
  require_one_of("read_pairs", "form", form, "PairForm", {"seq2seq", "lm"});
  auto store = std::make_shared<PairStore>(form, pair_tokens(tokenizer, "read_pairs"));
  SampleFile file;
  Lines lines(path);
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) {
      ++file.empty_lines;
      continue;
    }
    const Pair pair = split_pair(lines, line);
    std::vector<std::int32_t> source = line_tokens(lines, tokenizer, pair.source);
    std::vector<std::int32_t> labels = line_tokens(lines, tokenizer, pair.target);
    labels.push_back(store->tokens.end);
    fit(lines, form, options, source, labels, file);
    file.longest = std::max(file.longest, source.size() + (form == PairForm::lm ? labels.size() : 0));
    if (form == PairForm::seq2seq) file.longest_target = std::max(file.longest_target, labels.size());
    store->sources.add(source);
    store->labels.add(labels);
    check_count(lines, store->labels.size());
  }
  const std::size_t samples = store->labels.size();
  if (samples == 0) throw DataError(concat(path.string(), ": no pairs in it; each line is source<TAB>target"));
  show(std::move(store), samples, split_samples(options.seed, samples, options.validation_share), options.seed, file);
  return file;
}

}  // namespace addnorm
