#include "model/import/source.h"

#include <array>

#include "addnorm/core/error.h"
#include "core/file.h"

namespace addnorm::importing {
namespace {

constexpr std::size_t kHeaderBytes = 7 * sizeof(std::int32_t);
constexpr std::array kSizeNames{"dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "max_seq_len"};
constexpr std::uint32_t kLaterMagic = 0x616b3432;  // "ak42": versions 1 and 2

using Sizes = std::array<std::int32_t, 7>;

Sizes sizes_of(const InputFile& file) {
  Sizes sizes{};
  if (file.size() < kHeaderBytes)
    throw DataError(concat(file.path().string(), ": has ", file.size(), " bytes, a llama2.c file has at least ", kHeaderBytes));
  file.read(0, sizes.data(), kHeaderBytes);
  return sizes;
}

/// What is wrong with them; empty: nothing.
std::string flaw_of(const Sizes& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t value = sizes[i];
    const bool vocabulary = i == 5;
    if (value == 0 || (value < 0 && !vocabulary) || value > (1 << 28) || value < -(1 << 28))
      return concat(kSizeNames[i], " is ", value, "; it must be 1 ... ", 1 << 28);
  }
  if (sizes[0] % sizes[3] != 0) return concat("n_heads is ", sizes[3], "; it must divide dim (", sizes[0], ")");
  if (sizes[3] % sizes[4] != 0) return concat("n_kv_heads is ", sizes[4], "; it must divide n_heads (", sizes[3], ")");
  if (sizes[0] / sizes[3] % 2 != 0) return concat("heads of ", sizes[0] / sizes[3], " features; rotary positions turn pairs");
  return {};
}

}  // namespace

bool is_pickle(const std::filesystem::path& path) {
  constexpr std::uint32_t kZip = 0x04034b50, kPickle = 0x80;  // how PyTorch's files begin; an opcode follows two bytes later
  const InputFile file(path);
  std::uint32_t first = 0;
  if (file.size() < sizeof first) return false;
  file.read(0, &first, sizeof first);
  return first == kZip || ((first & 0xff) == kPickle && first >> 16 != 0);
}

bool is_llama2c(const std::filesystem::path& path) {
  try {
    const Sizes sizes = sizes_of(InputFile(path));
    return !is_pickle(path) && (static_cast<std::uint32_t>(sizes[0]) == kLaterMagic || flaw_of(sizes).empty());
  } catch (const DataError&) {
    return false;
  }
}

Llama2cSource::Llama2cSource(const std::filesystem::path& path) : file_(path) {
  files_ = {path};
  summary_ = path.filename().string();
  read_header();
  list_tensors();
}

void Llama2cSource::read_header() {
  refuse_lfs_pointer(file_);
  const Sizes sizes = sizes_of(file_);
  if (static_cast<std::uint32_t>(sizes[0]) == kLaterMagic)
    throw DataError(concat(file_.path().string(), ": a llama2.c file of version ", sizes[1],
                           "; version 0 is read: export it with --version 0"));
  if (const std::string flaw = flaw_of(sizes); !flaw.empty())
    throw DataError(concat(file_.path().string(), ": no llama2.c file: ", flaw));
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(sizes[i] < 0 ? -sizes[i] : sizes[i]); };
  tied_ = sizes[5] > 0;  // a negative vocabulary: a head of its own follows
  config_ = {.vocab = size(5),
             .layers = size(2),
             .d_model = size(0),
             .heads = size(3),
             .kv_heads = size(4),
             .d_ff = size(1),
             .seq_len = size(6),
             .arrangement = "pre-ln",
             .norm = "rmsnorm",
             .norm_eps = 1e-5,
             .activation = Activation::swiglu,
             .bias = false,
             .positions = PositionKind::rotary,
             .tied = tied_};
  kv_width_ = config_.kv_heads * (config_.d_model / config_.heads);
}

// export.py: legacy_export. The tensors of all layers stand together.
void Llama2cSource::list_tensors() {
  const ModelConfig& c = config_;
  // Checked first: a wrong header could ask for millions of names.
  const double per_layer =
      static_cast<double>(c.d_model) *
      (2.0 + 2.0 * static_cast<double>(c.d_model) + 2.0 * static_cast<double>(kv_width_) + 3.0 * static_cast<double>(c.d_ff));
  if (sizeof(float) * per_layer * static_cast<double>(c.layers) > static_cast<double>(file_.size()))
    throw DataError(concat(file_.path().string(), ": its header describes ", c.layers, " layers of ", per_layer,
                           " numbers, the file has ", file_.size(), " bytes; it is truncated or no llama2.c file"));
  std::size_t at = kHeaderBytes;
  const auto one = [&](std::string name, const Shape& shape) {
    add({.name = std::move(name), .dtype = "F32", .shape = shape, .file = 0});
    offsets_.push_back(at);
    at += shape.elements() * sizeof(float);
  };
  const auto each = [&](const char* name, const Shape& shape) {
    for (std::size_t layer = 0; layer < c.layers; ++layer) one(concat("layers.", layer, ".", name, ".weight"), shape);
  };
  one("tok_embeddings.weight", {c.vocab, c.d_model});
  each("attention_norm", {c.d_model});
  each("attention.wq", {c.d_model, c.d_model});
  each("attention.wk", {kv_width_, c.d_model});
  each("attention.wv", {kv_width_, c.d_model});
  each("attention.wo", {c.d_model, c.d_model});
  each("ffn_norm", {c.d_model});
  each("feed_forward.w1", {c.d_ff, c.d_model});
  each("feed_forward.w2", {c.d_model, c.d_ff});
  each("feed_forward.w3", {c.d_ff, c.d_model});
  one("norm.weight", {c.d_model});
  const std::size_t half = c.d_model / c.heads / 2;
  one("freqs_cos", {c.seq_len, half});
  one("freqs_sin", {c.seq_len, half});
  if (!tied_) one("output.weight", {c.vocab, c.d_model});
  if (at != file_.size())
    throw DataError(concat(file_.path().string(), ": its header describes ", at, " bytes, it has ", file_.size(),
                           at > file_.size() ? "; it is truncated" : "; it is of another version, or no llama2.c file"));
}

std::size_t Llama2cSource::offset(const SourceTensor& tensor) const {
  return offsets_[static_cast<std::size_t>(&tensor - tensors().data())];
}

void Llama2cSource::read(const SourceTensor& tensor, std::size_t first, std::span<float> into) const {
  file_.read(offset(tensor) + first * sizeof(float), into.data(), into.size_bytes());
}

std::vector<std::byte> Llama2cSource::bytes(const SourceTensor& tensor) const {
  std::vector<std::byte> out(tensor.shape.elements() * sizeof(float));
  file_.read(offset(tensor), out.data(), out.size());
  return out;
}

std::vector<std::byte> Llama2cSource::header() const {
  std::vector<std::byte> out(kHeaderBytes);
  file_.read(0, out.data(), out.size());
  return out;
}

}  // namespace addnorm::importing
