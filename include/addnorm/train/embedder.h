// Texts to vectors: an encoder with its tokenizer, as sentence-transformers uses it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "addnorm/train/run_model.h"

namespace addnorm {

/// Holds the model, whose weights it packs once: a text has the same bits alone and in any batch, for any number of threads.
class Embedder {
 public:
  /// `name` is what messages call the model. DataError: it is no encoder, or has no tokenizer.
  Embedder(RunModel model, const std::string& name);
  /// load_run(folder).
  explicit Embedder(const std::filesystem::path& folder) : Embedder(load_run(folder), folder.string()) {}

  /// [texts, width()]. Longer texts are cut to most() tokens, and counted by cut(). A DataError names the text by `what` and its
  /// number, which counts on from call to call from 1: "line 7". An empty text is one where the tokenizer puts nothing around it.
  Tensor operator()(std::span<const std::string> texts, const std::string& what = "text ");

  std::size_t width() const { return encoder_->config().d_model; }
  std::size_t most() const;                                          ///< tokens of a text, those around it included
  std::size_t cut() const { return cut_; }                           ///< texts so far
  bool says_pooling() const { return model_.sentence.has_value(); }  ///< else the mean over tokens is taken

 private:
  void add(const std::string& text, std::vector<std::int32_t>& ids);

  RunModel model_;
  const Encoder* encoder_ = nullptr;
  SentenceOptions options_;
  TextFrame frame_;
  std::size_t cut_ = 0, seen_ = 0;
};

}  // namespace addnorm
