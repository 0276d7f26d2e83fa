// stories260K: the files of llama2.c, version 0, a Llama-like checkpoint and its tokenizer.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/shape.h"
#include "support/weights.h"

namespace addnorm::test {

/// Little-endian numbers from a file that is read to its end.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& path) : name_(path.string()) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw DataError(concat(name_, ": cannot be opened"));
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  template <class T>
  T next() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text(std::size_t length) { return {take(length), length}; }
  Tensor tensor(const Shape& shape) {
    Tensor value(shape);
    const std::size_t size = shape.elements() * sizeof(float);
    std::memcpy(value.data<float>(), take(size), size);
    return value;
  }
  void skip(std::size_t count) { take(count); }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size() - at_)
      throw DataError(concat(name_, ": ends at ", bytes_.size(), ", ", count, " bytes needed at ", at_));
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  std::string name_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

struct Llama2c {
  std::size_t width, d_ff, layers, heads, kv_heads, vocabulary, positions;
  Weights weights;  ///< of a LanguageModel
};

/// The tensors of all layers stand together in the file: first the norms, then every q, and so on.
inline Llama2c read_llama2c(const std::filesystem::path& path) {
  Bytes file(path);
  Llama2c m;
  for (std::size_t* field : {&m.width, &m.d_ff, &m.layers, &m.heads, &m.kv_heads, &m.vocabulary, &m.positions}) {
    const auto value = file.next<std::int32_t>();  // a negative vocabulary would mean a head of its own
    require(value > 0, path.string(), ": a size in the header is ", value);
    *field = static_cast<std::size_t>(value);
  }
  const std::size_t d_head = m.width / m.heads, kv = m.kv_heads * d_head;
  const auto of_layers = [&](const Shape& shape) {
    std::vector<Tensor> tensors;
    for (std::size_t layer = 0; layer < m.layers; ++layer) tensors.push_back(file.tensor(shape));
    return tensors;
  };
  Weights& w = m.weights;
  w["tokens.embedding.weight"] = file.tensor({m.vocabulary, m.width});
  const auto self_norm = of_layers({m.width}), q = of_layers({m.width, m.width}), k = of_layers({kv, m.width});
  const auto v = of_layers({kv, m.width}), out = of_layers({m.width, m.width}), ffn_norm = of_layers({m.width});
  const auto gate = of_layers({m.d_ff, m.width}), down = of_layers({m.width, m.d_ff}), up = of_layers({m.d_ff, m.width});
  for (std::size_t i = 0; i < m.layers; ++i) {
    const std::string layer = concat("layers.", i, ".");
    w["residual." + layer + "self.in.weight"] = self_norm[i];
    w[layer + "self.qkv.weight"] = below_each_other({q[i], k[i], v[i]});
    w[layer + "self.out.weight"] = out[i];
    w["residual." + layer + "ffn.in.weight"] = ffn_norm[i];
    w[layer + "ffn.in.weight"] = below_each_other({gate[i], up[i]});
    w[layer + "ffn.out.weight"] = down[i];
  }
  w["residual.exit.weight"] = file.tensor({m.width});
  file.skip(m.positions * d_head * sizeof(float));  // two tables of rotary angles that nobody reads
  require(file.at_end(), path.string(), ": more bytes than its header says");
  return m;
}

/// The text of each token.
inline std::vector<std::string> read_llama2c_pieces(const std::filesystem::path& path, std::size_t vocabulary) {
  Bytes file(path);
  file.next<std::int32_t>();  // length of the longest
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < vocabulary; ++i) {
    file.next<float>();  // its score, for encoding
    pieces.push_back(file.text(static_cast<std::size_t>(file.next<std::int32_t>())));
  }
  return pieces;
}

/// Text behind the begin token 1. The first piece loses the space that SentencePiece puts before every text; "<0x0A>" is a byte.
inline std::string llama2c_text(const std::vector<std::int32_t>& tokens, const std::vector<std::string>& pieces) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string piece = pieces.at(static_cast<std::size_t>(tokens[i]));
    if (i == 0 && piece.starts_with(' ')) piece.erase(0, 1);
    if (piece.size() == 6 && piece.starts_with("<0x")) piece = static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16));
    text += piece;
  }
  return text;
}

}  // namespace addnorm::test
