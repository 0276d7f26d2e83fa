#include "train/trainer/state.h"

#include <algorithm>
#include <map>

#include "core/json/record.h"

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

std::string kind_of(DType dtype, const Shape& shape) { return concat(dtype, " ", shape); }

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

SavedState saved_state(const Snapshot& snapshot) {
  std::map<std::string_view, const Tensor*> all;
  for (const auto& [name, value] : snapshot.tensors) all[name] = &value;
  const auto kind = [all](const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string() : kind_of(found->second->dtype(), found->second->shape());
  };
  return {.step = snapshot.step,
          .record = snapshot.record,
          .tensors = all.size(),
          .kind = kind,
          .read = [all](const std::string& name) { return *all.at(name); }};
}

SavedState saved_state(const CheckpointFile& file, const std::string& record) {
  const SafetensorsReader& tensors = file.tensors();
  const auto kind = [&tensors](const std::string& name) {
    if (!tensors.contains(name)) return std::string();
    const SafetensorsInfo info = tensors.info(name);
    return info.dtype == "F32" ? kind_of(DType::f32, info.shape) : concat(info.dtype, " ", info.shape);
  };
  return {.step = file.step(),
          .record = record,
          .tensors = tensors.size(),
          .kind = kind,
          .read = [&tensors](const std::string& name) { return tensors.read(name); }};
}

void restore(const SavedState& from, Module& model, Optimizer& optimizer, Guard& guard, TrainerState& state, bool& whole) {
  std::vector<std::pair<Tensor*, std::string>> wanted;
  each_tensor(model, optimizer, [&](const std::string& name, Tensor& value) {  // look at everything before anything is changed
    const std::string there = from.kind(name), here = kind_of(value.dtype(), value.shape());
    if (there.empty()) wrong(name + " is missing");
    if (there != here || value.dtype() != DType::f32) wrong(concat(name, " is ", there, " there and ", here, " here"));
    wanted.emplace_back(&value, name);
  });
  if (wanted.size() != from.tensors) wrong(concat("it has ", from.tensors, " tensors, and ", wanted.size(), " are needed"));

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

  // From here on nothing takes memory, so nothing fails, but reading a file.
  whole = false;
  for (const auto& [value, name] : wanted) std::ranges::copy(from.read(name).values<float>(), value->values<float>().begin());
  whole = true;
  optimizer.set_steps(static_cast<std::int64_t>(optimizer_steps));
  guard = std::move(next_guard);
  state = next;
}

}  // namespace addnorm
