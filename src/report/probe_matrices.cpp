#include "report/probe_matrices.h"

#include <array>
#include <functional>
#include <limits>
#include <map>

#include "report/numbers.h"
#include "report/record_file.h"
#include "report/record_shapes.h"

namespace addnorm {
namespace {

constexpr std::array kByPlace{"stream_rms", "spread", "gradient_norm"};
constexpr std::array kByUnit{"update_ratio", "gradient_skip", "gradient_branch", "attention_entropy",
                             "max_logit",    "cosine",        "skip_share"};
struct Record {
  std::uint64_t step = 0;
  double probe_loss = 0;
  Json stacks;
  bool in_matrices = false, in_full = false;
};

/// Which lines are records, without what they hold: files may be far larger than what is kept of them.
struct Line {
  std::size_t number;
  std::uint64_t step;
  bool full;
};
using Visit = std::function<void(std::size_t number, std::uint64_t step, const Json& line, const Json& stacks)>;

void each_probe_record(const std::filesystem::path& file, const Visit& visit) {
  std::size_t number = 0;
  each_record(file, [&](const Json& line) {
    const std::optional<std::uint64_t> step = whole_in(line, "step");
    const Json* stacks = line.find("stacks");
    if (step && stacks && stacks->is_array()) visit(number, *step, line, *stacks);
    ++number;
  });
}

std::vector<Line> lines_in(const std::filesystem::path& file) {
  std::vector<Line> lines;
  each_probe_record(file, [&](std::size_t number, std::uint64_t step, const Json&, const Json& stacks) {
    while (!lines.empty() && lines.back().step >= step) lines.pop_back();  // a run that went on from a checkpoint
    lines.push_back({number, step, stacks.size() > 0 && stacks[0].contains("lens_loss")});
  });
  return lines;
}

std::vector<Record> chosen_records(const std::filesystem::path& file, const std::vector<Line>& lines, std::size_t most) {
  std::map<std::size_t, Record> chosen;  // by line
  for (const std::size_t i : evenly_spaced(lines.size(), most)) chosen[lines[i].number].in_matrices = true;
  std::vector<std::size_t> full;
  for (const Line& line : lines)
    if (line.full) full.push_back(line.number);
  for (const std::size_t i : evenly_spaced(full.size(), 3)) chosen[full[i]].in_full = true;
  each_probe_record(file, [&](std::size_t number, std::uint64_t step, const Json& line, const Json& stacks) {
    const auto found = chosen.find(number);
    if (found == chosen.end()) return;
    found->second.step = step;
    found->second.probe_loss = number_in(line, "probe_loss");
    found->second.stacks = stacks;
  });
  std::vector<Record> records;
  for (auto& [number, record] : chosen) records.push_back(std::move(record));
  return records;
}

const Json* stack_of(const Record& record, std::size_t number, const Json& units) {
  if (number >= record.stacks.size()) return nullptr;
  const Json* named = record.stacks[number].find("units");
  return named && *named == units ? &record.stacks[number] : nullptr;
}

Json full_records(const std::vector<Record>& records, std::size_t number, const Json& units) {
  Json all = Json::array();
  for (const Record& record : records) {
    const Json* stack = record.in_full ? stack_of(record, number, units) : nullptr;
    if (stack == nullptr) continue;
    Json one = shaped(*stack, kFullProbe);
    one["step"] = record.step;
    one["probe_loss"] = rounded(record.probe_loss);
    all.push_back(std::move(one));
  }
  return all;
}

/// One field of all records; nothing where no record has it.
void put_matrix(const std::vector<const Json*>& stacks, const char* name, const std::vector<std::size_t>& chosen,
                std::size_t length, Json& into) {
  std::vector<double> numbers;
  bool any = false;
  for (const Json* stack : stacks) {
    const Json::Array& list = items_in(*stack, name);
    const bool whole = list.size() == length;
    any = any || whole;
    for (const std::size_t i : chosen)
      numbers.push_back(whole && list[i].is_number() ? list[i].number() : std::numeric_limits<double>::quiet_NaN());
  }
  if (any) into[name] = packed(numbers);
}

Json stack_matrices(const std::vector<Record>& records, std::size_t number, std::size_t of_records, const ProbeLimits& limits) {
  const Json& first = records.front().stacks[number];
  const Json& units = first.at("units");
  const std::vector<std::size_t> chosen = evenly_spaced(units.size(), limits.units);
  std::vector<std::size_t> places{0};
  for (const std::size_t unit : chosen) places.push_back(unit + 1);
  Json names = Json::array(), steps = Json::array();
  for (const std::size_t unit : chosen) names.push_back(units[unit].is_string() ? units[unit] : Json(""));
  std::vector<const Json*> stacks;
  for (const Record& record : records) {
    const Json* stack = record.in_matrices ? stack_of(record, number, units) : nullptr;
    if (stack == nullptr) continue;
    steps.push_back(record.step);
    stacks.push_back(stack);
  }
  Json out{{"stack", text_in(first, "name")}, {"units", names}, {"step", steps}};
  if (stacks.size() < of_records) out["of_records"] = of_records;
  if (chosen.size() < units.size()) out["of_units"] = units.size();
  for (const char* name : kByPlace) put_matrix(stacks, name, places, units.size() + 1, out);
  for (const char* name : kByUnit) put_matrix(stacks, name, chosen, units.size(), out);
  if (chosen.size() < units.size()) return out;  // a matrix of components grows with the square of the units
  if (Json full = full_records(records, number, units); full.size() > 0) out["full"] = std::move(full);
  return out;
}

}  // namespace

std::vector<std::size_t> evenly_spaced(std::size_t size, std::size_t count) {
  std::vector<std::size_t> at;
  if (size <= count) {
    for (std::size_t i = 0; i < size; ++i) at.push_back(i);
    return at;
  }
  if (count == 1) return {size - 1};
  for (std::size_t i = 0; i < count; ++i) at.push_back((i * (size - 1) + (count - 1) / 2) / (count - 1));
  return at;
}

Json probe_matrices(const std::filesystem::path& file, const ProbeLimits& limits) {
  const std::vector<Line> lines = lines_in(file);
  const std::vector<Record> records = chosen_records(file, lines, limits.records);
  Json all = Json::array();
  if (records.empty()) return all;
  for (std::size_t number = 0; number < records.front().stacks.size(); ++number)
    if (!items_in(records.front().stacks[number], "units").empty())
      all.push_back(stack_matrices(records, number, lines.size(), limits));
  return all;
}

}  // namespace addnorm
