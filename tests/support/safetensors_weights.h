// gpt-nano-sort (minGPT) and aren-transliteration (OpenNMT, by way of CTranslate2): their names under our paths.
#pragma once

#include <filesystem>
#include <string>

#include "addnorm/tensor/safetensors.h"
#include "support/weights.h"

namespace addnorm::test {

/// Weight and bias of one map or norm: `ours` and `theirs` are what stands before "weight" and "bias".
inline void take(Weights& w, const std::string& ours, const SafetensorsReader& file, const std::string& theirs,
                 const std::string& weight = "weight", const std::string& bias = "bias") {
  w[ours + "weight"] = file.read(theirs + weight);
  w[ours + "bias"] = file.read(theirs + bias);
}

/// minGPT as llm-viz saved it: matrices are [out, in], q, k and v in one.
inline Weights gpt_nano_weights(const SafetensorsReader& file, std::size_t layers) {
  Weights w;
  w["tokens.embedding.weight"] = file.read("transformer.wte.weight");
  w["tokens.positions.weight"] = file.read("transformer.wpe.weight");
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string ours = concat("layers.", i, "."), theirs = concat("transformer.h.", i, ".");
    take(w, "residual." + ours + "self.in.", file, theirs + "ln_1.");
    take(w, ours + "self.qkv.", file, theirs + "attn.c_attn.");
    take(w, ours + "self.out.", file, theirs + "attn.c_proj.");
    take(w, "residual." + ours + "ffn.in.", file, theirs + "ln_2.");
    take(w, ours + "ffn.in.", file, theirs + "mlp.c_fc.");
    take(w, ours + "ffn.out.", file, theirs + "mlp.c_proj.");
  }
  take(w, "residual.exit.", file, "transformer.ln_f.");
  w["head.weight"] = file.read("lm_head.weight");
  return w;
}

/// One stack of CTranslate2's Transformer, "encoder" or "decoder". Norms have gamma and beta; maps are counted.
inline void take_stack(Weights& w, const std::string& side, const SafetensorsReader& file, std::size_t layers) {
  const auto norm = [&](const std::string& ours, const std::string& theirs) {
    take(w, ours + ".", file, theirs + "/layer_norm/", "gamma", "beta");
  };
  const auto map = [&](const std::string& ours, const std::string& theirs) { take(w, ours + ".", file, theirs + "/"); };
  w[(side == "encoder" ? "source" : "target") + std::string(".embedding.weight")] = file.read(side + "/embeddings/weight");
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string ours = concat(side, ".layers.", i, "."), norms = concat(side, ".residual.layers.", i, ".");
    const std::string theirs = concat(side, "/layer_", i, "/");
    norm(norms + "self.in", theirs + "self_attention");
    map(ours + "self.qkv", theirs + "self_attention/linear_0");
    map(ours + "self.out", theirs + "self_attention/linear_1");
    if (side == "decoder") {
      norm(norms + "cross.in", theirs + "attention");
      map(ours + "cross.q", theirs + "attention/linear_0");
      map(ours + "cross.kv", theirs + "attention/linear_1");
      map(ours + "cross.out", theirs + "attention/linear_2");
    }
    norm(norms + "ffn.in", theirs + "ffn");
    map(ours + "ffn.in", theirs + "ffn/linear_0");
    map(ours + "ffn.out", theirs + "ffn/linear_1");
  }
  norm(side + ".residual.exit", side);
}

inline Weights open_nmt_weights(const SafetensorsReader& file, std::size_t layers) {
  Weights w;
  take_stack(w, "encoder", file, layers);
  take_stack(w, "decoder", file, layers);
  take(w, "head.", file, "decoder/projection/");
  return w;
}

}  // namespace addnorm::test
