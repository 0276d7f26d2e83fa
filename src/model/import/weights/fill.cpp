#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <map>

#include "addnorm/core/parallel.h"
#include "core/figures.h"
#include "model/import/weights/layout.h"

namespace addnorm::importing {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;  // elements: 256 KiB

/// A part of a parameter and where it is read from.
struct FillTask {
  const SourceTensor* tensor;
  Tensor* into;
  const Placed* placed;
  Piece piece;
};

std::size_t nonfinite(std::span<const float> values) {
  std::size_t count = 0;
  for (const float v : values) count += (std::bit_cast<std::uint32_t>(v) & 0x7f800000u) == 0x7f800000u;
  return count;
}

/// How many values are not finite.
std::size_t read_rows(const WeightSource& source, const FillTask& task) {
  const std::size_t width = task.into->elements() / task.into->shape()[0];
  const std::span<float> all = task.into->values<float>().subspan(task.piece.first * width, task.piece.rows * width);
  std::size_t bad = 0;
  for (std::size_t first = 0; first < all.size(); first += kBlock) {
    const std::span<float> block = all.subspan(first, std::min(kBlock, all.size() - first));
    source.read(*task.tensor, first, block);
    bad += nonfinite(block);
  }
  return bad;
}

/// A file's [in, out] block by block: each is some columns of ours.
std::size_t read_columns(const WeightSource& source, const FillTask& task) {
  const std::size_t in = task.into->shape()[1], out = task.piece.rows;
  const std::size_t at_once = std::max<std::size_t>(1, kBlock / out);
  float* const to = task.into->data<float>() + task.piece.first * in;
  std::vector<float> block(std::min(at_once, in) * out);
  std::size_t bad = 0;
  for (std::size_t first = 0; first < in; first += at_once) {
    const std::size_t rows = std::min(at_once, in - first);
    const std::span<float> part = std::span(block).first(rows * out);
    source.read(*task.tensor, first * out, part);
    bad += nonfinite(part);
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t i = 0; i < rows; ++i) to[o * in + first + i] = part[i * out + o];
  }
  return bad;
}

/// What a parameter is called in the file, of which another tensor is a copy.
const std::string& name_in_file(const std::string& ours, const WeightSource& source, const Accounts& accounts) {
  const auto placed = std::ranges::find(accounts.placed, ours, &Placed::ours);
  return source.tensors()[placed->pieces.front().tensor].name;
}

[[noreturn]] void refuse_copy(const WeightSource& source, const FillTask& task, const Accounts& accounts) {
  const bool tied = !task.placed->ours.ends_with(".bias");
  throw DataError(concat(source.where(*task.tensor), ": tensor ", task.tensor->name, " is to repeat ",
                         name_in_file(task.placed->ours, source, accounts), tied ? " by the config (tied)" : "",
                         ", but differs from it; ",
                         tied ? "tie_word_embeddings must be false for such weights" : "remove the one that is not meant"));
}

void compare(const WeightSource& source, const FillTask& task, const Accounts& accounts) {
  const std::span<const float> ours = task.into->values<float>();
  std::vector<float> block(std::min(kBlock, ours.size()));
  for (std::size_t first = 0; first < ours.size(); first += kBlock) {
    const std::span<float> part = std::span(block).first(std::min(kBlock, ours.size() - first));
    source.read(*task.tensor, first, part);
    if (std::memcmp(part.data(), ours.data() + first, part.size_bytes()) != 0) refuse_copy(source, task, accounts);
  }
}

using Params = std::map<std::string, Tensor*>;

std::vector<FillTask> tasks_of(const std::vector<Placed>& all, const WeightSource& source, const Params& params) {
  std::vector<FillTask> tasks;
  for (const Placed& placed : all)
    for (const Piece& piece : placed.pieces)
      tasks.push_back({&source.tensors()[piece.tensor], params.at(placed.ours), &placed, piece});
  std::ranges::stable_sort(tasks, std::greater{}, [](const FillTask& task) { return task.tensor->shape.elements(); });
  return tasks;
}

/// Long ones first; the first error of all, in the order of the tasks.
template <class Body>
void run(const std::vector<FillTask>& tasks, Body&& body) {
  std::vector<std::exception_ptr> errors(tasks.size());
  parallel_tasks(tasks.size(), [&](std::size_t i, std::size_t) {
    try {
      body(i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

void fill(Model& model, const WeightSource& source, const Accounts& accounts, bool allow_nonfinite) {
  Params params;
  for_each_parameter(model, [&](Parameter& p) { params[p.path] = &p.value.value(); });
  const std::vector<FillTask> tasks = tasks_of(accounts.placed, source, params),
                              copies = tasks_of(accounts.copies, source, params);
  std::vector<std::size_t> bad(tasks.size());
  run(tasks, [&](std::size_t i) {
    bad[i] = tasks[i].placed->layout == MatrixLayout::in_out ? read_columns(source, tasks[i]) : read_rows(source, tasks[i]);
  });
  run(copies, [&](std::size_t i) { compare(source, copies[i], accounts); });
  const auto first = std::ranges::find_if(bad, [](std::size_t count) { return count > 0; });
  if (allow_nonfinite || first == bad.end()) return;
  const FillTask& task = tasks[static_cast<std::size_t>(first - bad.begin())];
  const auto tensors = std::ranges::count_if(bad, [](std::size_t count) { return count > 0; });
  throw DataError(concat(source.where(*task.tensor), ": tensor '", task.tensor->name, "' holds ", counted(*first, "value"),
                         " that ", *first == 1 ? "is" : "are", " NaN or infinite",
                         tensors > 1 ? concat(", and so do ", tensors - 1, " more tensors") : "",
                         "; nothing can be computed with these weights"));
}

}  // namespace addnorm::importing
