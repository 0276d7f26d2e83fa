// A small model in training, for tests of whatever surrounds a step.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/data/language.h"
#include "addnorm/model/model.h"
#include "addnorm/train/trainer.h"

namespace addnorm::test {

inline ModelConfig tiny_config() {
  return {.model = ModelKind::lm, .vocab = Language().vocabulary(), .layers = 2, .d_model = 16, .heads = 2, .seq_len = 12};
}

inline TrainerOptions tiny_options() {
  TrainerOptions options{.batch_size = 4};
  options.schedule = {.kind = ScheduleKind::cosine, .rate = 3e-3, .least = 3e-4, .warmup = 5, .steps = 40};
  return options;
}

/// Everything of a run that stays in memory; made from the same arguments, it does the same.
struct SmallRun {
  explicit SmallRun(const TrainerOptions& options = tiny_options(), const ModelConfig& config = tiny_config())
      : data(Language().dataset(config.seq_len, 5)), model(make_model(config)), trainer(*model, *data, options) {
    trainer.calibrate();
  }
  std::vector<StepRecord> steps(int count) {
    std::vector<StepRecord> all;
    for (int i = 0; i < count; ++i) all.push_back(trainer.step());
    return all;
  }

  std::unique_ptr<Dataset> data;
  std::unique_ptr<Model> model;
  Trainer trainer;
};

/// Every bit of a state: tensors one after the other, and the record.
inline std::string bits_of(const Snapshot& snapshot) {
  std::string bits = std::to_string(snapshot.step) + snapshot.record;
  for (const auto& [name, value] : snapshot.tensors) {
    bits += name;
    bits.append(reinterpret_cast<const char*>(value.data<float>()), value.elements() * sizeof(float));
  }
  return bits;
}

/// As it would come back from a disk.
inline Snapshot copy_of(const Snapshot& snapshot) {
  Snapshot copy = snapshot;
  for (auto& [name, value] : copy.tensors) value = value.clone();
  return copy;
}

/// Does something to the gradients of some steps.
struct GradientMeddler : TrainObserver {
  explicit GradientMeddler(std::function<void(std::int64_t, Model&)> what) : meddle(std::move(what)) {}
  void on_gradients(std::int64_t step, Model& model) override { meddle(step, model); }
  std::function<void(std::int64_t, Model&)> meddle;
};

}  // namespace addnorm::test
