// A model of this program's own: it trains, is probed, saved, taken up again and x-rayed as the library's are.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>

#include "addnorm/addnorm.h"

using namespace addnorm;

/// A language model whose stream begins with a vector of the token and one of the token before it.
class PairModel : public Model {
 public:
  explicit PairModel(const ModelConfig& given, Start start = Start::drawn)
      : Model(given, ModelKind::lm),
        tokens_(config(), config().vocab, "tokens"),
        before_(config().vocab, config().d_model),
        stack_(config(), StackKind::decoder_only),
        head_(config().d_model, config().vocab, Role::head) {
    if (start == Start::drawn) draw(1);
  }

  // body() and head() are what training needs.
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const override {
    const Tokens& tokens = input.tokens;
    const Pass own = stack_.pass_for(pass, tokens);
    const Var x = add(tokens_(tokens, own), before_(shifted(tokens), tokens.batch));
    return stack_(x, {.lengths = tokens.lengths, .observer = watch.stream}, own);
  }
  Var head(const ModelInput&, const Var& y) const override { return head_(y); }

  // What probes and the x-ray ask for, and what messages call it.
  std::vector<Stack*> stacks() override { return {&stack_}; }
  bool has_linear_head() const override { return true; }
  std::string kind() const override { return "pair model"; }

  // Its parameters: names in checkpoints, first values, and another one of the class for initialise().
  void visit(Visitor& visitor) override {
    visitor.child("tokens", tokens_);
    visitor.child("before", before_);
    visitor.child("", stack_);
    visitor.child("out", head_);
  }
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override {
    return stack_.residual().init(parameter, part);
  }
  std::unique_ptr<Model> blank() const override { return std::make_unique<PairModel>(config(), Start::blank); }

 private:
  /// The token before each; before the first one itself.
  static std::vector<std::int32_t> shifted(const Tokens& tokens) {
    std::vector<std::int32_t> before(tokens.ids.begin(), tokens.ids.end());
    const std::size_t row = tokens.tokens();
    for (std::size_t i = before.size(); i-- > 0;)
      if (i % row > 0) before[i] = before[i - 1];
    return before;
  }

  TokenInput tokens_;
  Embedding before_;
  Stack stack_;
  Linear head_;
};

int main() {
  const std::size_t length = 16;
  const Language language;
  const ModelConfig config{
      .vocab = language.vocabulary(), .layers = 2, .d_model = 32, .heads = 2, .seq_len = length, .tied = false};
  const auto data = language.dataset(length, 1);
  TrainerOptions options{.batch_size = 8};
  options.schedule = {.kind = ScheduleKind::constant, .rate = 3e-3, .warmup = 5, .steps = 60};

  PairModel model(config);
  Trainer trainer(model, *data, options);
  Probe probe({.level = ProbeLevel::on, .every = 30}, [](const ProbeRecord& record) {
    const StackRecord& stack = record.stacks.at(0);
    std::printf("step %2d: loss %.3f, the stream grows from %.2f to %.2f\n", static_cast<int>(record.step), record.loss,
                stack.stream_rms.front(), stack.stream_rms.back());
  });
  trainer.observe(&probe);
  const double first = trainer.step().loss;
  while (trainer.steps() < 40) trainer.step();

  // The checkpoint, and the same model going on from it elsewhere.
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / concat("own_model_", std::random_device()());
  CheckpointFolder checkpoints(folder);
  checkpoints.save(trainer.snapshot());
  PairModel again(config);
  Trainer resumed(again, *data, options);
  resumed.restore(CheckpointFolder::read(folder / "step-00000040.safetensors"));
  std::filesystem::remove_all(folder);
  bool same = true;
  double last = first;
  while (trainer.steps() < 60) {
    last = trainer.step().loss;
    same = same && resumed.step().loss == last;
  }
  std::printf("loss %.3f at first, %.3f at last; resumed with %s bits\n", first, last, same ? "the same" : "other");

  const XrayResult seen = xray(model, {data->batch(1000000, 8)});
  for (std::size_t unit = 0; unit < seen.stacks.at(0).units.size(); ++unit)
    std::printf("without %s the loss changes by %+.3f\n", seen.stacks[0].units[unit].c_str(), seen.stacks[0].bypass_change[unit]);
  return same && last < first - 0.5 && std::isfinite(seen.loss) ? 0 : 1;
}
