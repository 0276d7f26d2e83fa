// The bits of version 0.1.0: a model whose initialisation is left to its arrangement starts as it did there.
#include <gtest/gtest.h>

#include "addnorm/model/model.h"
#include "core/checksum.h"
#include "support/every_target.h"
#include "support/threads.h"

namespace addnorm {
namespace {

/// Of every parameter, its name and its values. Matrices have more elements than one thread draws at a time.
std::string first_weights(const char* arrangement, ModelKind kind) {
  ModelConfig config{
      .model = kind, .vocab = 300, .layers = 3, .d_model = 16, .heads = 2, .seq_len = 8, .arrangement = arrangement};
  if (kind == ModelKind::seq2seq) config.target_vocab = 200;
  if (kind == ModelKind::seq2seq) config.decoder_layers = 2;
  const auto model = make_model(config);
  model->initialise(7);
  Checksum sum;
  for_each_parameter(*model, [&](Parameter& p) {
    const auto values = p.value.value().values<float>();
    sum.add(p.path.data(), p.path.size());
    sum.add(values.data(), values.size_bytes());
  });
  return as_hex(sum.value());
}

struct Known {
  const char* arrangement;
  ModelKind kind;
  const char* checksum;
};
// Printed by first_weights() in a program that was linked with the library of commit b97c9ae, the last before --init:
//   git worktree add old b97c9ae, build addnorm_model there, and compile this function with old/include and old/src.
constexpr Known kKnown[] = {
    {"post-ln", ModelKind::lm, "b32b67f966e1c415"},  {"pre-ln", ModelKind::lm, "b239a848763da337"},
    {"deepnorm", ModelKind::lm, "4b698aee2eeb3d4c"}, {"t-fixup", ModelKind::lm, "5086b437fe320940"},
    {"sub-ln", ModelKind::lm, "03c3e2ae07055e81"},   {"rezero", ModelKind::lm, "ac872d13667bbec8"},
    {"admin", ModelKind::lm, "72a43e9640f23536"},    {"deepnorm", ModelKind::seq2seq, "4129e55439af88d8"},
};

struct FirstWeights : test::EveryTarget {};
ADDNORM_EVERY_TARGET(FirstWeights);

TEST_P(FirstWeights, AreThoseOfVersion010OnAnyNumberOfThreads) {
  test::with_every_thread_count([] {
    for (const Known& known : kKnown)
      EXPECT_EQ(first_weights(known.arrangement, known.kind), known.checksum) << known.arrangement << ", " << threads();
  });
}

}  // namespace
}  // namespace addnorm
