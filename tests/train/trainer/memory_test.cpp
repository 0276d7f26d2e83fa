// What training takes is known before: the estimate against what the arena counts, and what machines and containers grant.
#include "addnorm/train/memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/core/parallel.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/tensor/arena.h"
#include "core/system/machine.h"
#include "support/folder.h"
#include "support/sanitizer.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::throws_saying;
using test::write_text;

ModelConfig shaped(ModelKind kind, std::size_t layers, std::size_t d_model, std::size_t seq_len, std::size_t vocab) {
  ModelConfig config{
      .model = kind, .vocab = vocab, .layers = layers, .d_model = d_model, .heads = d_model / 16, .seq_len = seq_len};
  if (kind == ModelKind::mlp) config.features = 30;
  if (kind == ModelKind::mlp || kind == ModelKind::classifier) config.classes = 10;
  return config;
}

Var logits_of(const Model& model, const Tokens& tokens, std::size_t batch, const Pass& pass) {
  if (const auto* lm = dynamic_cast<const LanguageModel*>(&model)) return (*lm)(tokens, pass);
  if (const auto* encoder = dynamic_cast<const Encoder*>(&model)) return encoder->logits(tokens, pass);
  if (const auto* classifier = dynamic_cast<const Classifier*>(&model)) return (*classifier)(tokens, pass);
  if (const auto* mlp = dynamic_cast<const Mlp*>(&model))
    return (*mlp)(Var(Tensor::full({batch, model.config().features}, 0.5)), pass);
  return dynamic_cast<const EncoderDecoder&>(model)(tokens, tokens, pass);
}

/// Two steps as the trainer makes them; the highest number of bytes that tensors had at once.
double measured(const ModelConfig& config, const MemoryOptions& options) {
  const std::unique_ptr<Model> model = make_model(config);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(*model, {.kind = options.optimizer});
  const std::size_t batch = options.batch_size, length = options.tokens ? options.tokens : config.seq_len;
  const std::vector<std::int32_t> ids(batch * length, 1);
  for (std::uint64_t step = 1; step <= 2; ++step) {
    clear_gradients(*model);
    for (std::size_t part = 0; part < options.accumulate; ++part) {
      const ArenaScope scope;
      const Var logits =
          logits_of(*model, {.ids = ids, .batch = batch}, batch, {.train = true, .step = step, .recompute = options.recompute});
      const std::vector<std::int32_t> labels(logits.value().elements() / logits.shape().back(), 1);
      backward(cross_entropy(logits, labels));
    }
    optimizer->step(1e-3);
  }
  return static_cast<double>(arena_stats().peak_bytes);
}

/// In a process of its own: the arena's peak is that of a whole process.
double measured_alone(const ModelConfig& config, const MemoryOptions& options) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    set_threads(1);
    const double bytes = measured(config, options);
    _exit(write(ends[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
  }
  double bytes = 0;
  EXPECT_EQ(read(ends[0], &bytes, sizeof bytes), static_cast<ssize_t>(sizeof bytes));
  waitpid(child, nullptr, 0);
  for (const int fd : ends) close(fd);
  return bytes;
}

void expect_close(const char* name, const ModelConfig& config, const MemoryOptions& options) {
  const double got = measured_alone(config, options);
  const MemoryEstimate estimate = estimate_memory(config, options);
  EXPECT_GE(estimate.bytes, 0.95 * got) << name << ": " << estimate.text() << ", measured " << got;
  EXPECT_LE(estimate.bytes, 1.35 * got) << name << ": " << estimate.text() << ", measured " << got;
}

TEST(MemoryEstimate, T07IsNearWhatEveryKindOfModelTakes) {
  for (const ModelKind kind : {ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier, ModelKind::mlp})
    for (const bool recompute : {false, true}) {
      const std::size_t batch = kind == ModelKind::mlp ? 256 : 4;
      expect_close(concat(name_of(kind), recompute ? " with recompute" : "").c_str(), shaped(kind, 4, 64, 48, 90),
                   {.batch_size = batch, .recompute = recompute});
      expect_close(concat(name_of(kind), ", deep", recompute ? ", with recompute" : "").c_str(), shaped(kind, 16, 32, 32, 50),
                   {.batch_size = 2 * batch, .recompute = recompute});
    }
}

TEST(MemoryEstimate, T07IsNearForOtherShapesNormsAndOptimizers) {
  const ModelConfig lm = shaped(ModelKind::lm, 4, 64, 64, 64);
  expect_close("one sequence", lm, {.batch_size = 1});
  expect_close("accumulated", lm, {.batch_size = 2, .accumulate = 2});
  expect_close("shorter sequences", lm, {.batch_size = 4, .tokens = 16});
  expect_close("many tokens", shaped(ModelKind::lm, 2, 32, 32, 5000), {.batch_size = 8});
  expect_close("a long sequence", shaped(ModelKind::lm, 2, 32, 512, 50), {.batch_size = 2});
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::radam, OptimizerKind::adafactor})
    expect_close(concat("optimizer ", static_cast<int>(kind)).c_str(), lm, {.optimizer = kind, .batch_size = 1});
  ModelConfig llama = lm;
  llama.activation = Activation::swiglu;
  llama.positions = PositionKind::rotary;
  llama.norm = "rmsnorm";
  llama.bias = false;
  llama.kv_heads = 2;
  expect_close("like Llama", llama, {.batch_size = 8});
  expect_close("like Llama, with recompute", llama, {.batch_size = 8, .recompute = true});
  ModelConfig turned = shaped(ModelKind::lm, 16, 32, 2048, 50);  // angles weigh more than all else: the layers share one table
  turned.positions = PositionKind::rotary;
  expect_close("rotary positions of a long context", turned, {.batch_size = 2, .tokens = 16});
  ModelConfig normed = lm;
  normed.qk_norm = "rmsnorm";
  normed.dropout = 0.1;
  expect_close("normed queries, dropout", normed, {.batch_size = 8});
}

TEST(MemoryEstimate, T07IsNearForEveryArrangement) {
  std::size_t count = 0;
  for (const std::string& name : arrangement_names()) {
    if (test::kSanitized && count++ % 8 != 0) continue;  // slow there, and no other memory is looked at
    ModelConfig config = shaped(ModelKind::lm, 4, 64, 48, 90);
    config.arrangement = name;
    expect_close(name.c_str(), config, {.batch_size = 4});
  }
}

TEST(MemoryEstimate, GrowsWithWhatItShouldGrowWith) {
  const ModelConfig lm = shaped(ModelKind::lm, 4, 64, 64, 64);
  const auto bytes = [&](const MemoryOptions& options) { return estimate_memory(lm, options).bytes; };
  EXPECT_GT(bytes({.batch_size = 8}), bytes({.batch_size = 4}));
  EXPECT_GT(bytes({.batch_size = 8}), bytes({.batch_size = 8, .recompute = true}));
  EXPECT_GT(bytes({.batch_size = 8, .accumulate = 2}), bytes({.batch_size = 8}));
  const MemoryEstimate estimate = estimate_memory(lm, {.batch_size = 8});
  EXPECT_NEAR(estimate.parameters, static_cast<double>(count_parameters(*make_model(lm))), 0.02 * estimate.parameters);
  EXPECT_EQ(estimate.optimizer, 2 * estimate.gradients);
  EXPECT_NE(estimate.text().find("activations"), std::string::npos);
}

TEST(MemoryEstimate, T07ThatDoesNotFitIsRefusedWithWhatWouldFit) {
  const ModelConfig lm = shaped(ModelKind::lm, 24, 256, 256, 256);
  const MemoryEstimate estimate = estimate_memory(lm, {.batch_size = 64});
  const auto with = [&](double share) {
    return [&estimate, bytes = static_cast<std::size_t>(share * estimate.needed())] {
      require_fits(estimate, {bytes, "ulimit -v"});
    };
  };
  EXPECT_NO_THROW(with(1.01)());
  EXPECT_TRUE(throws_saying<Error>(with(0.6), {"needs about", "have", "GiB", "ulimit -v", "try batch_size 32", " recompute"}));
  EXPECT_TRUE(throws_saying<Error>(with(0.001), {"smaller model", "fewer layers"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { estimate_memory(lm, {.batch_size = 0}); }, {"batch_size", "0"}));
}

TEST(MemoryEstimate, OfSizesBeyondAnyMachineIsANumberToo) {
  const MemoryEstimate estimate =
      estimate_memory(shaped(ModelKind::lm, 1000, 1 << 16, 1 << 20, 1 << 20), {.batch_size = std::size_t{1} << 40});
  EXPECT_GT(estimate.bytes, 1e24);
  EXPECT_THROW(require_fits(estimate, available_memory()), Error);
}

// What the machine grants.

class Machine : public testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) const {
    fs::create_directories((root.path / path).parent_path());
    write_text(root.path / path, text);
  }
  test::TemporaryFolder root;
};

TEST_F(Machine, WithoutControlGroupsHasNoLimit) {
  EXPECT_FALSE(cgroup_memory(root.path));
  EXPECT_FALSE(cgroup_processors(root.path));
  EXPECT_FALSE(free_memory(root.path));
  file("proc/self/cgroup", "0::/\nnonsense\n7:\n");
  EXPECT_FALSE(cgroup_memory(root.path));
}

TEST_F(Machine, GroupsOfVersion2LimitAtEveryLevel) {
  file("proc/self/cgroup", "0::/outer/inner\n");
  file("sys/fs/cgroup/outer/memory.max", "1000000\n");
  file("sys/fs/cgroup/outer/memory.current", "600000\n");
  file("sys/fs/cgroup/outer/memory.stat", "anon 100000\ninactive_file 200000\n");
  file("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  file("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_memory(root.path), 600000u);
  EXPECT_EQ(cgroup_processors(root.path), 1.5);
  file("sys/fs/cgroup/outer/inner/memory.max", "300\n");
  file("sys/fs/cgroup/outer/inner/memory.current", "500\n");
  file("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_memory(root.path), 0u);
  EXPECT_EQ(cgroup_processors(root.path), 0.5);
}

TEST_F(Machine, GroupsOfVersion1AreReadByTheirController) {
  file("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n");
  file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000\n");
  file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1500\n");
  file("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 1000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_memory(root.path), 1500u);
  EXPECT_EQ(cgroup_processors(root.path), 3.0);
  file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(cgroup_memory(root.path));
}

TEST_F(Machine, AContainerThatShowsThePathOfTheHostIsReadAtItsRoot) {
  file("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
  file("sys/fs/cgroup/memory.max", "4096\n");
  file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_memory(root.path), 4096u);
  EXPECT_EQ(cgroup_processors(root.path), 2.0);
}

TEST_F(Machine, FreeMemoryIsWhatTheKernelCallsAvailable) {
  file("proc/meminfo", "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable: 50 kB\n");
  EXPECT_EQ(free_memory(root.path), 50u * 1024);
  file("proc/meminfo", "MemTotal: 100 kB\nMemFree: 10 kB\n");
  EXPECT_EQ(free_memory(root.path), 10u * 1024);
}

TEST_F(Machine, ThisOneGrantsSomething) {
  EXPECT_GE(granted_threads(), 1);
  EXPECT_LE(granted_threads(), sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(available_memory().bytes, std::size_t{1} << 20);
  EXPECT_FALSE(available_memory().limited_by.empty());
}

}  // namespace
}  // namespace addnorm
