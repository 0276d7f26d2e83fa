// Text and the built-in language as the data of a run.
#include "addnorm/train/run_data.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <istream>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/core/rng.h"
#include "addnorm/data/language.h"
#include "addnorm/data/masked.h"
#include "addnorm/data/text.h"
#include "addnorm/data/text_dataset.h"
#include "core/checksum.h"
#include "train/run_sources.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

std::uint64_t checksum_of(const std::string& text) { return checksum(text.data(), text.size()); }

/// The same tokens, with some of them hidden.
RunData with_masks(RunData data, const Tokenizer& tokenizer, std::uint64_t seed) {
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
    data.told = concat("the built-in language, ", language_.vocabulary(), " words, endless");
    if (!masked_) data.baselines = language_.baselines(t);
    return masked_ ? with_masks(std::move(data), *tokenizer(), o.seed) : std::move(data);
  }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override { return datasets(o).validation; }

 private:
  bool masked_;
  Language language_;
};

/// Text of files, as one long row of ids.
class TextSource final : public RunSource {
 public:
  TextSource(std::shared_ptr<const Tokenizer> tokenizer, std::shared_ptr<const TokenFile> ids, std::string told, bool masked)
      : tokenizer_(std::move(tokenizer)), ids_(std::move(ids)), told_(std::move(told)), masked_(masked) {}
  DataFacts facts() const override { return {.tokens = ids_->size()}; }
  void fill(ModelConfig& config) const override { config.vocab = tokenizer_->vocabulary(); }
  std::uint64_t fingerprint() const override { return ids_->fingerprint(); }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }

  RunData datasets(const RunOptions& o) const override {
    const std::size_t t = o.model.seq_len;
    const TextSplit split = split_text(ids_->size(), t, o.validation);
    RunData data{.train = shuffled_windows(ids_, split.training, t, o.seed, bytes_per_token())};
    if (split.validation.count > 0) data.validation = ordered_windows(ids_, split.validation, t, bytes_per_token());
    data.told = concat(told_, ": ", split.training.count, " tokens to learn from, ", split.validation.count, " to measure, ",
                       tokenizer_->vocabulary(), " different (", tokenizer_->kind(), ")");
    if (!masked_) data.baselines = text_baselines(*ids_, split.training, tokenizer_->vocabulary());
    return masked_ ? with_masks(std::move(data), *tokenizer_, o.seed) : std::move(data);
  }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override {
    RunData data{.train = ordered_windows(ids_, {0, ids_->size()}, o.model.seq_len, bytes_per_token())};
    return (masked_ ? with_masks(std::move(data), *tokenizer_, o.seed) : data).train;
  }

 private:
  double bytes_per_token() const { return static_cast<double>(ids_->source_bytes()) / static_cast<double>(ids_->size()); }

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const TokenFile> ids_;
  std::string told_;
  bool masked_;
};

/// The standard input in a file, until it is tokenised.
struct KeptInput {
  ~KeptInput() {
    std::error_code ignored;
    if (!path.empty()) fs::remove(path, ignored);
  }
  void keep() const { path.clear(); }
  mutable fs::path path;
};

}  // namespace

std::uint64_t validation_seed(std::uint64_t seed) { return RandomKey(seed).with("validation").bits(); }

namespace {

/// The standard input, read so that somebody is asked now and then whether to go on.
class PatientInput : public std::streambuf {
 public:
  explicit PatientInput(const Progress& progress) : progress_(progress) {}
  bool stopped() const { return stopped_; }

 private:
  int_type underflow() override {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (poll(&input, 1, 100) <= 0)
      if (stopped_ = progress_ && !progress_(0); stopped_) return traits_type::eof();
    const ssize_t count = ::read(STDIN_FILENO, block_.data(), block_.size());
    if (count <= 0) return traits_type::eof();
    setg(block_.data(), block_.data(), block_.data() + count);
    return traits_type::to_int_type(block_[0]);
  }

  const Progress& progress_;
  bool stopped_ = false;
  std::array<char, 65536> block_{};
};

/// Nothing: stopped.
std::optional<TextSources> sources_of(const std::vector<std::string>& data, const fs::path& cache, const Progress& progress) {
  if (data.size() != 1 || data[0] != "-") return text_sources(std::vector<fs::path>(data.begin(), data.end()));
  fs::create_directories(cache);
  PatientInput buffer(progress);
  std::istream input(&buffer);
  const fs::path file = cache / concat("standard-input-", getpid(), ".txt");
  const KeptInput unless_whole{file};
  try {
    TextSources sources = saved_text(input, file);
    if (buffer.stopped()) return std::nullopt;
    unless_whole.keep();
    return sources;
  } catch (const DataError&) {
    if (buffer.stopped()) return std::nullopt;  // what came until then may be nothing
    throw;
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> chosen_tokenizer(const std::string& name, const TextSources& sources, AddedTokens added,
                                                  const Progress& progress) {
  if (name == "auto") return suggest_tokenizer(sources, added, progress).tokenizer;
  if (name == "bytes") return byte_tokenizer(added);
  if (name == "chars") return char_tokenizer(sources, added, progress);
  require(fs::exists(name), "--tokenizer is '", name,
          "', which is neither auto, bytes or chars nor a file or folder that is there");
  return read_tokenizer(name);
}

std::unique_ptr<RunSource> open_text(const RunOptions& o, const fs::path& cache, const Progress& progress) {
  const bool mask = o.model.model == ModelKind::encoder;
  const std::optional<TextSources> found = sources_of(o.data, cache, progress);
  if (!found) return nullptr;
  const TextSources& sources = *found;
  const KeptInput kept{o.data[0] == "-" ? sources.files[0].path : fs::path()};
  const auto tokenizer = chosen_tokenizer(o.tokenizer, sources, {.mask = mask}, progress);
  if (!tokenizer) return nullptr;
  require(!mask || tokenizer->special().mask, "--tokenizer ", o.tokenizer,
          " has no mask token, which a masked language model needs");
  fs::create_directories(cache);
  std::string key = tokenizer->to_json();
  const bool once = o.data[0] == "-";  // nothing will ask for it again
  for (const TextFile& file : sources.files) key += concat("\n", once ? "-" : fs::absolute(file.path).string());
  std::shared_ptr<const TokenFile> ids =
      token_file(sources, *tokenizer, cache / (as_hex(checksum_of(key)) + ".tokens"), progress);
  return ids ? std::make_unique<TextSource>(tokenizer, ids, sources.told(), mask) : nullptr;
}

std::unique_ptr<RunSource> open_source(const RunOptions& o, const fs::path& cache, const Progress& progress) {
  const ModelKind kind = o.model.model;
  const bool text_model = kind == ModelKind::lm || kind == ModelKind::encoder;
  if (!o.data.empty() && text_model) return open_text(o, cache, progress);
  if (text_model && (o.task.empty() || o.task == "language")) return std::make_unique<LanguageSource>(kind == ModelKind::encoder);
  return open_samples(o, progress);
}

}  // namespace addnorm
