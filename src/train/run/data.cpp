// Text and the built-in language as the data of a run.
#include "addnorm/train/run_data.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/core/rng.h"
#include "addnorm/data/language.h"
#include "addnorm/data/masked.h"
#include "addnorm/data/text.h"
#include "addnorm/data/text_dataset.h"
#include "core/checksum.h"
#include "core/figures.h"
#include "core/file.h"
#include "core/system/files.h"
#include "data/text/framed.h"
#include "data/text/pack.h"
#include "data/text/reader.h"
#include "train/run/sources.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

std::uint64_t checksum_of(const std::string& text) { return checksum(text.data(), text.size()); }

/// The same tokens, with some of them hidden. What comes after them helps as well, so that no floor is known.
RunData with_masks(RunData data, const Tokenizer& tokenizer, std::uint64_t seed) {
  if (data.baselines) data.baselines->floor = std::nan("");
  data.train = masked(data.train, tokenizer, {.seed = seed});
  if (data.validation) data.validation = masked(data.validation, tokenizer, {.seed = validation_seed(seed)});
  return data;
}

/// The built-in language.
class LanguageSource final : public RunSource {
 public:
  explicit LanguageSource(bool masked) : masked_(masked) {}
  DataFacts facts() const override { return {}; }
  void fill(ModelConfig& config) const override { config.vocab = tokenizer()->vocabulary(); }
  std::uint64_t fingerprint() const override { return RandomKey(0).with("language 1").bits(); }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return language_.tokenizer({.mask = masked_}); }

  RunData datasets(const RunOptions& o) const override {
    const std::size_t t = o.model.seq_len;
    RunData data{.train = language_.dataset(t, o.seed), .validation = language_.dataset(t, validation_seed(o.seed))};
    data.summary = concat("the built-in language, ", language_.vocabulary(), " words, endless");
    data.baselines = language_.baselines(t);
    return masked_ ? with_masks(std::move(data), *tokenizer(), o.seed) : std::move(data);
  }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override { return datasets(o).validation; }

 private:
  bool masked_;
  Language language_;
};

/// Bytes of text that each id stands for.
std::vector<std::uint32_t> bytes_by_id(const Tokenizer& tokenizer) {
  std::vector<std::uint32_t> bytes(tokenizer.vocabulary());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    bytes[i] = static_cast<std::uint32_t>(tokenizer.decode(std::span(&id, 1)).size());
  }
  return bytes;
}

/// Of the text that a part of its ids stands for. Where a tokenizer loses some of it (case, spaces), its share in what is left
/// stands for its share in the text.
class TextBytes {
 public:
  /// Where `progress` says no, the figures are wrong, and not used.
  TextBytes(const TokenFile& ids, const Tokenizer& tokenizer, const Progress& progress)
      : ids_(ids), by_id_(bytes_by_id(tokenizer)), one_each_(tokenizer.kind() == "bytes") {
    if (one_each_ || tokenizer.kind() == "chars") return;
    scale_ = static_cast<double>(ids.source_bytes()) / std::max(1.0, decoded({0, ids.size()}, progress));
    if (const auto unknown = tokenizer.special().unknown) unknown_ = times(*unknown, progress);
  }
  std::uint64_t unknown() const { return unknown_; }  ///< tokens of all the text that stand for what the tokenizer does not know
  double of(TokenRange range) const { return scale_ * decoded(range); }
  /// When every token but the first is a label. `bytes`: of the whole range.
  double per_label(TokenRange range, double bytes) const {
    return range.count > 1 ? (bytes - of({range.first, 1})) / static_cast<double>(range.count - 1) : 0;
  }

 private:
  double decoded(TokenRange range, const Progress& progress = {}) const {
    if (one_each_) return static_cast<double>(range.count);  // nothing to read: it may be gigabytes
    std::uint64_t sum = 0;
    std::vector<std::int32_t> piece(std::size_t{1} << 16);
    for (std::uint64_t done = 0; done < range.count && (!progress || progress(1));) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), range.count - done));
      ids_.copy(range.first + done, count, piece.data());
      for (std::size_t i = 0; i < count; ++i) sum += by_id_.at(static_cast<std::size_t>(piece[i]));
      done += count;
    }
    return static_cast<double>(sum);
  }
  std::uint64_t times(std::int32_t id, const Progress& progress) const {
    std::uint64_t found = 0;
    std::vector<std::int32_t> piece(std::size_t{1} << 16);
    for (std::uint64_t done = 0; done < ids_.size() && (!progress || progress(1)); done += piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), ids_.size() - done)));
      ids_.copy(done, piece.size(), piece.data());
      found += static_cast<std::uint64_t>(std::ranges::count(piece, id));
    }
    return found;
  }

  const TokenFile& ids_;
  std::vector<std::uint32_t> by_id_;
  bool one_each_;
  double scale_ = 1;
  std::uint64_t unknown_ = 0;
};

/// Text of files, as one long row of ids.
class TextSource final : public RunSource {
 public:
  TextSource(TokenizerChoice choice, std::shared_ptr<const TokenFile> ids, std::string source, bool masked,
             const Progress& progress)
      : tokenizer_(std::move(choice.tokenizer)),
        reason_(std::move(choice.reason)),
        ids_(std::move(ids)),
        source_(std::move(source)),
        masked_(masked),
        bytes_(*ids_, *tokenizer_, progress) {}
  DataFacts facts() const override { return {.tokens = ids_->size()}; }
  void fill(ModelConfig& config) const override { config.vocab = tokenizer_->vocabulary(); }
  std::uint64_t fingerprint() const override { return ids_->fingerprint(); }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }

  RunData datasets(const RunOptions& o) const override {
    const std::size_t t = o.model.seq_len;
    const auto [training, validation] = split_text(ids_->size(), t, o.validation, o.words);
    const double measured = bytes_.of(validation);
    const double learned = static_cast<double>(ids_->source_bytes()) - measured;
    RunData data{.train = shuffled_windows(ids_, training, t, o.seed, learned / static_cast<double>(training.count))};
    if (validation.count > 0) data.validation = ordered_windows(ids_, validation, t, bytes_.per_label(validation, measured));
    data.summary = concat(source_, ": ", counted(training.count, "token"), " to learn from, ", counted(validation.count, "token"),
                          " to measure");
    data.tokens = reason_;
    if (const std::uint64_t unknown = bytes_.unknown(); unknown > 0)
      data.tokens +=
          concat("; ", counted(unknown, "token"), " of ", grouped(ids_->size()), " in the text stand for what it does not know");
    data.baselines = text_baselines(*ids_, training, tokenizer_->vocabulary());
    return masked_ ? with_masks(std::move(data), *tokenizer_, o.seed) : std::move(data);
  }
  /// A text that is shorter than the context is one window.
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override {
    if (o.framed) return masked_ ? framed_and_masked(o) : framed(o);
    const TokenRange all{0, ids_->size()};
    if (all.count < 2) throw DataError(concat(source_, ": one token; there is nothing to predict before the second"));
    const auto t = static_cast<std::size_t>(std::min<std::uint64_t>(o.model.seq_len, all.count - 1));
    RunData data{.train = ordered_windows(ids_, all, t, bytes_.per_label(all, static_cast<double>(ids_->source_bytes())))};
    return (masked_ ? with_masks(std::move(data), *tokenizer_, o.seed) : data).train;
  }

 private:
  /// All labels that are text have its bytes, whatever else is a label.
  std::shared_ptr<const Dataset> framed(const RunOptions& o) const {
    const TextFrame frame = tokenizer_->frame();
    const std::shared_ptr<const TokenSource> ids = framed_tokens(ids_, frame);
    const std::uint64_t labels = ids->size() > 0 ? ids->size() - 1 : 0;
    if (labels == 0 || ids_->size() == 0)
      throw DataError(concat(source_, ": ", counted(ids_->size(), "token"), "; there is nothing to predict"));
    const double unread = frame.before.empty() ? bytes_.of({0, 1}) : 0;
    const double bytes = static_cast<double>(ids_->source_bytes()) - unread;
    const auto t = static_cast<std::size_t>(std::min<std::uint64_t>(o.model.seq_len, labels));
    return ordered_windows(ids, {0, ids->size()}, t, bytes / static_cast<double>(labels));
  }
  std::shared_ptr<const Dataset> framed_and_masked(const RunOptions& o) const {
    if (ids_->size() == 0) throw DataError(source_ + ": there is no token in it");
    return masked(framed_windows(ids_, tokenizer_->frame(), o.model.seq_len, padding_of(*tokenizer_)), *tokenizer_,
                  {.seed = o.seed});
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string reason_;
  std::shared_ptr<const TokenFile> ids_;
  std::string source_;
  bool masked_;
  TextBytes bytes_;
};

/// Any file can be learned from as bytes; without that being asked for, it is the wrong file.
void refuse_what_is_no_text(const TextSources& sources, const Tokenizer& chosen, const FieldWords& words) {
  if (chosen.flaws(std::string_view("\0", 1)).count > 0) return;  // ordinary characters
  for (const TextFile& file : sources.files)
    if (const std::string kind = not_text_hint(file.path); !kind.empty())
      throw DataError(
          concat(file.path.string(), ": is not UTF-8 text", kind, ". ", called(words, "tokenizer"), " bytes takes it as it is"));
}

/// A byte-level tokenizer reads anything, but a model of others was trained on text.
void refuse_binary(const TextSources& sources) {
  for (const TextFile& file : sources.files) {
    const InputFile in(file.path);
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), std::uint64_t{1} << 16)), '\0');
    in.read(0, head.data(), head.size());
    const std::string hint = not_text_hint(file.path);
    if (const std::size_t zero = head.find('\0'); zero != std::string::npos || !hint.empty())
      throw DataError(concat(file.path.string(), ": is not text", hint.empty() ? concat("; the byte at ", zero, " is 0") : hint,
                             ". Name files of text, or a folder of them"));
  }
}

/// What a run has written is no text to learn from; it may lie below its own data.
bool is_run(const fs::path& folder) {
  const RunFolder run{folder};
  return is_there(run.record()) && is_there(run.metrics());
}

}  // namespace

std::uint64_t validation_seed(std::uint64_t seed) { return RandomKey(seed).with("validation").bits(); }

TokenizerChoice chosen_tokenizer(const RunOptions& o, const TextSources& sources, AddedTokens added, const Progress& progress) {
  const std::string& name = o.tokenizer;
  if (name == "auto") {
    TokenizerChoice choice = suggest_tokenizer(sources, added, progress);
    if (choice.tokenizer) refuse_what_is_no_text(sources, *choice.tokenizer, o.words);
    return choice;
  }
  if (name == "bytes") return {byte_tokenizer(added), "bytes, as asked for"};
  if (name == "chars") {
    auto chars = char_tokenizer(sources, added, progress);
    const std::size_t special = (added.begin_end ? 2u : 0u) + (added.mask ? 1u : 0u);
    const std::size_t count = chars ? chars->vocabulary() - special : 0;
    return {std::move(chars), concat("characters, as asked for: ", count, " different ones")};
  }
  require(is_there(name), called(o.words, "tokenizer"), " is '", name,
          "', which is neither auto, bytes or chars nor a file or folder that is there");
  auto read = read_tokenizer(name);
  const std::string reason = concat(read->kind(), " of ", name, ": ", read->vocabulary(), " in its vocabulary");
  return {std::move(read), reason};
}

TextSources sources_of(const RunOptions& o) {
  const bool once = o.data.size() == 1 && o.data[0] == "-";
  for (const std::string& path : o.data)
    require(once || path != "-", called(o.words, "data"), ": - is the standard input, and stands alone");
  const std::vector<fs::path> files(o.data.begin(), o.data.end());
  TextSources sources = once ? text_sources(std::vector{o.input}) : text_sources(files, {"run", is_run});
  sources.words = o.words;
  return sources;
}

std::unique_ptr<RunSource> open_text(const RunOptions& o, const fs::path& cache, const Progress& progress) {
  const bool mask = o.model.model == ModelKind::encoder;
  const bool once = o.data[0] == "-";  // nothing will ask for its ids again
  const TextSources sources = sources_of(o);
  if (o.framed) refuse_binary(sources);
  TokenizerChoice choice = chosen_tokenizer(o, sources, {.mask = mask}, progress);
  if (!choice.tokenizer) return nullptr;
  require(!mask || choice.tokenizer->special().mask, called(o.words, "tokenizer"), " ", o.tokenizer,
          " has no mask token, which a masked language model needs");
  make_folder(cache);
  std::string key = choice.tokenizer->to_json();
  for (const TextFile& file : sources.files) key += concat("\n", once ? "-" : system_files::absolute(file.path).string());
  std::shared_ptr<const TokenFile> ids =
      token_file(sources, *choice.tokenizer, cache / (as_hex(checksum_of(key)) + ".tokens"), progress);
  if (!ids) return nullptr;
  const std::string name = once ? concat("the standard input, ", Bytes{static_cast<double>(sources.bytes())}) : sources.summary();
  auto source = std::make_unique<TextSource>(std::move(choice), ids, name, mask, progress);
  return progress && !progress(1) ? nullptr : std::move(source);
}

std::unique_ptr<RunSource> open_source(const RunOptions& o, const fs::path& cache, const Progress& progress) {
  const ModelKind kind = o.model.model;
  const bool text_model = kind == ModelKind::lm || kind == ModelKind::encoder;
  if (!o.data.empty() && text_model && !answers_pairs(o)) return open_text(o, cache, progress);
  if (text_model && (o.task.empty() || o.task == "language")) return std::make_unique<LanguageSource>(kind == ModelKind::encoder);
  return open_samples(o, progress);
}

}  // namespace addnorm
