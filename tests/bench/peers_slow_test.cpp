// The peers as scripts/peers installs them: in bf16, which PyTorch emulates where the processor has none, and OpenVINO.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "bench/jobs/embed_measure.h"
#include "bench/jobs/step_measure.h"
#include "bench/peers/torch_peer.h"
#include "core/json/json.h"
#include "support/folder.h"

namespace addnorm::bench {
namespace {

class InstalledPeers : public testing::Test {
 protected:
  void SetUp() override {
    const char* said = std::getenv("ADDNORM_PEERS_PYTHON");
    if (said == nullptr || *said == '\0') GTEST_SKIP() << "skipped: run scripts/peers";
    python = said;
  }
  std::string python;
};

Workload tiny_step() {
  Workload w;
  w.name = "train-step tiny";
  w.peer = {w.name, {1, 16, 2, 8, 2, 11, 0}};  // layers, width, heads, length, batch, vocabulary, post-norm
  w.work = 1e6;
  w.tokens = 16;
  w.bf16 = true;
  return w;
}

TEST_F(InstalledPeers, ATrainingStepRunsInBf16AndIsARivalOfItsOwn) {
  const Workload w = tiny_step();
  Worker worker([] { return [] { usleep(1000); }; });
  std::ostringstream notes;
  StepPeers peers = start_step_peers(w, python, 1, {.compile = false, .bf16 = true}, notes);
  EXPECT_EQ(notes.str(), "");
  ASSERT_TRUE(peers.bf16 != nullptr);
  EXPECT_EQ(peers.eager->precision(), "f32");
  EXPECT_EQ(peers.bf16->precision(), "bf16");
  Limits limits;
  const Result r = measure_step(w, 1, {.budget_seconds = 0, .slice_seconds = 0, .rounds = 1}, false, limits, worker, peers);
  ASSERT_TRUE(r.torch && r.bf16 && r.bf16_eager);
  EXPECT_EQ(r.torch->seconds, r.eager->seconds);
  EXPECT_EQ(r.bf16->seconds, r.bf16_eager->seconds);
  EXPECT_GT(r.bf16->seconds, 0);
  EXPECT_FALSE(r.bf16_compile || r.compile);
}

/// Vectors of two texts by one library; in which precision it says that it computed.
std::string vectors(const std::string& python, const std::string& library, const std::string& precision,
                    const std::filesystem::path& out) {
  Peer peer(python, Peer::Malloc::plain, {embed_peer_source(), library, library});
  EXPECT_TRUE(peer.alive()) << peer.problem();
  Json texts = Json::array();
  texts.push_back(std::vector<std::int32_t>{101, 7592, 2088, 2003, 2307, 102});
  texts.push_back(std::vector<std::int32_t>{101, 2023, 2003, 102});
  const Json request = {{"do", "prepare"},       {"folder", minilm_folder(python).string()},
                        {"texts", texts},        {"batch", 2},
                        {"sorted", false},       {"out", out.string()},
                        {"precision", precision}};
  EXPECT_TRUE(peer.prepare(request.dump())) << peer.problem();
  EXPECT_TRUE(peer.warm("eager", 1)) << peer.problem();
  EXPECT_GT(peer.slice("eager", false, 1, 0).value_or(0), 0) << peer.problem();
  return peer.precision();
}

TEST_F(InstalledPeers, MakeTheSameVectorsInF32AndNearlyTheSameInBf16) {
  if (minilm_folder(python).empty()) GTEST_SKIP() << "skipped: run scripts/peers";
  const test::TemporaryFolder folder;
  const auto file = [&](const char* name) { return folder.path / name; };
  EXPECT_EQ(vectors(python, "torch", "f32", file("torch")), "f32");
  EXPECT_EQ(vectors(python, "openvino", "f32", file("openvino")), "f32");
  EXPECT_GT(least_cosine(file("torch"), file("openvino"), 2), kLeastCosine);
  EXPECT_EQ(vectors(python, "torch", "bf16", file("torch-bf16")), "bf16");
  const double cosine = least_cosine(file("torch"), file("torch-bf16"), 2);
  EXPECT_GT(cosine, kLeastCosineBf16);
  EXPECT_LT(cosine, 1 - 1e-7);  // f32 would be nearer
  EXPECT_EQ(vectors(python, "openvino", "bf16", file("openvino-bf16")), this_cpu().bf16 ? "bf16" : "f32");
}

}  // namespace
}  // namespace addnorm::bench
