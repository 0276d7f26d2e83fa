#include "train/trainer_state.h"

#include <algorithm>
#include <map>

#include "core/json_record.h"

namespace addnorm {

template <class Io>
static void fields(Io& io, TrainerState& s) {
  io("next_sample", s.next_sample);
  io("labels", s.labels);
  io("rollbacks", s.rollbacks);
}

namespace {

using See = std::function<void(const std::string& name, Tensor& value)>;

/// Every tensor of the state under the name that files have for it.
void each_tensor(Module& model, Optimizer& optimizer, const See& see) {
  for_each_parameter(model, [&](Parameter& p) { see("model." + p.path, p.value.value()); });
  for_each_buffer(model, [&](const std::string& path, Tensor& value) { see("model." + path, value); });
  optimizer.visit_state([&](const std::string& name, Tensor& value) { see("optimizer." + name, value); });
}

[[noreturn]] void wrong(const std::string& what) {
  throw DataError(concat("the checkpoint is not of this model and optimizer: ", what));
}

}  // namespace

Snapshot snapshot(Module& model, Optimizer& optimizer, const Guard& guard, const TrainerState& state) {
  Snapshot all{.step = state.step};
  each_tensor(model, optimizer, [&](const std::string& name, Tensor& value) { all.tensors.emplace_back(name, value); });
  TrainerState own = state;
  GuardState guard_state = guard.state();
  JsonWriter writer, guard_writer;
  fields(writer, own);
  fields(guard_writer, guard_state);
  writer.object["optimizer_steps"] = optimizer.steps();
  writer.object["guard"] = guard_writer.object;
  all.record = writer.object.dump();
  return all;
}

void restore(const Snapshot& from, Module& model, Optimizer& optimizer, Guard& guard, TrainerState& state) {
  std::map<std::string_view, const Tensor*> saved;
  for (const auto& [name, value] : from.tensors) saved[name] = &value;
  std::vector<std::pair<Tensor*, const Tensor*>> copies;
  each_tensor(model, optimizer, [&](const std::string& name, Tensor& value) {  // look at everything before anything is changed
    const auto found = saved.find(name);
    if (found == saved.end()) wrong(name + " is missing");
    if (found->second->shape() != value.shape() || found->second->dtype() != DType::f32)
      wrong(concat(name, " is ", found->second->dtype(), " ", found->second->shape(), " there and ", value.dtype(), " ",
                   value.shape(), " here"));
    copies.emplace_back(&value, found->second);
  });
  if (copies.size() != saved.size()) wrong(concat("it has ", saved.size(), " tensors, and ", copies.size(), " are needed"));

  const JsonAt at{"the checkpoint's record", ""};
  Json record = parsed(from.record, at.where);
  if (!record.contains("optimizer_steps") || !record.contains("guard")) at.fail("optimizer_steps or guard is missing");
  std::size_t optimizer_steps = 0;
  read(record.at("optimizer_steps"), optimizer_steps, at.inside("optimizer_steps"));
  GuardState guard_state;
  read(record.at("guard"), guard_state, at.inside("guard"));
  record.erase("optimizer_steps");
  record.erase("guard");
  Guard next_guard = guard;
  try {
    next_guard.restore(std::move(guard_state));
  } catch (const UsageError& error) {
    wrong(error.what());
  }
  TrainerState next{.step = from.step};
  read(record, next, at);

  // From here on nothing takes memory, so nothing fails.
  for (const auto& [value, before] : copies) std::ranges::copy(before->values<float>(), value->values<float>().begin());
  optimizer.set_steps(static_cast<std::int64_t>(optimizer_steps));
  guard = std::move(next_guard);
  state = next;
}

}  // namespace addnorm
