// One vector per text, as sentence-transformers makes it: the encoder's vectors, pooled, and where asked for of length 1.
#pragma once

#include "addnorm/model/encoder.h"

namespace addnorm {

struct SentenceOptions {
  Pooling pooling = Pooling::mean;  ///< over tokens that are not padding, those at the ends of a text included
  bool normalize = false;           ///< y / max(|y|, 1e-12)
  std::size_t max_tokens = 0;       ///< the caller cuts longer texts to this many; 0: the model's seq_len
};

/// [batch, d_model]. The ids are those of whole texts, with the tokens that the tokenizer puts around them; padded or joined.
///
/// Padding is left out: it costs nothing. Each thread takes texts of some 200 tokens at a time through the whole encoder, so
/// memory grows with the threads and not with the number of texts; the last texts, and one alone, are shared by all threads. With
/// pack_weights(encoder) a text has the same bits alone, in any batch and for any number of threads, and products are faster;
/// without, bits depend on the texts beside it, though not on the threads.
Tensor sentence_vectors(const Model& encoder, const Tokens& tokens, const SentenceOptions& options);

/// [n, n]: the cosine between every two rows of vectors [n, width], computed in double; 0 with a vector of zeros.
Tensor cosine_similarities(const Tensor& vectors);

}  // namespace addnorm
