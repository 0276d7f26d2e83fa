#include "report/probes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "report/numbers.h"
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
struct LinePlace {
  std::uint64_t offset;
  std::size_t bytes;
  std::uint64_t step;
  bool full;
};

/// The first stack has what only full records have. Stacks with unusual letters in them are built.
bool is_full(std::string_view stacks) {
  std::vector<std::string_view> items;
  std::vector<SkimmedField> fields;
  if (skim_items(stacks, items) && !items.empty() && skim(items.front(), fields))
    return std::ranges::find(fields, "lens_loss", &SkimmedField::name) != fields.end();
  const Json built = parsed_or_null(stacks);
  return built.size() > 0 && built[0].contains("lens_loss");
}

std::vector<LinePlace> lines_in(const std::filesystem::path& file, LineFlaws& flaws) {
  std::vector<LinePlace> lines;
  flaws = each_record(file, [&](const RecordLine& line) {
    const std::optional<std::uint64_t> step = line.whole("step");
    const std::string_view stacks = line.value("stacks");
    if (!step || !stacks.starts_with('[')) return;
    while (!lines.empty() && lines.back().step >= *step) lines.pop_back();  // a run that went on from a checkpoint
    lines.push_back({line.offset(), line.bytes(), *step, is_full(stacks)});
  });
  return lines;
}

/// A line that is no longer there, because the file is being rewritten, has no stacks.
Record read_record(const InputFile& in, const LinePlace& line) {
  std::string text(line.bytes, '\0');
  in.read(line.offset, text.data(), text.size());
  const Json json = parsed_or_null(text);
  const Json* stacks = json.find("stacks");
  return {.step = line.step,
          .probe_loss = number_in(json, "probe_loss"),
          .stacks = stacks && stacks->is_array() ? *stacks : Json::array()};
}

std::vector<Record> chosen_records(const std::filesystem::path& file, const std::vector<LinePlace>& lines, std::size_t most) {
  struct Use {
    bool in_matrices = false, in_full = false;
  };
  std::map<std::size_t, Use> chosen;  // by line
  for (const std::size_t i : evenly_spaced(lines.size(), most)) chosen[i].in_matrices = true;
  std::vector<std::size_t> full;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].full) full.push_back(i);
  for (const std::size_t i : evenly_spaced(full.size(), 3)) chosen[full[i]].in_full = true;
  const InputFile in(file);
  std::vector<Record> records;
  for (const auto& [i, use] : chosen) {
    records.push_back(read_record(in, lines[i]));
    records.back().in_matrices = use.in_matrices;
    records.back().in_full = use.in_full;
  }
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

ProbeMatrices probe_matrices(const std::filesystem::path& file, const ProbeLimits& limits) {
  ProbeMatrices all;
  const std::vector<LinePlace> lines = lines_in(file, all.flaws);
  const std::vector<Record> records = chosen_records(file, lines, limits.records);
  if (records.empty()) return all;
  for (std::size_t number = 0; number < records.front().stacks.size(); ++number)
    if (!items_in(records.front().stacks[number], "units").empty())
      all.stacks.push_back(stack_matrices(records, number, lines.size(), limits));
  return all;
}

namespace {

constexpr std::size_t kMostProbeBytes = 6'000'000;

/// What was read of a file of probes.
struct ReadProbes {
  ProbeMatrices matrices{};
  std::size_t bytes = 0;
  std::string failed{};  ///< why it could not be read; "": it could
};

ReadProbes read_probes(const std::filesystem::path& file) {
  try {
    ReadProbes read{.matrices = probe_matrices(file)};
    read.bytes = read.matrices.stacks.dump().size();
    return read;
  } catch (const DataError& error) {
    return {.failed = error.what()};
  }
}

/// Takes the probes of one file after the other, until there is no room for more.
class ProbeRoom {
 public:
  explicit ProbeRoom(Problems& problems) : problems_(problems) {}

  bool full() const { return full_; }
  void leave_out(std::size_t count) { left_out_ += count; }

  void take(const ProbeJob& job, ReadProbes read) {
    if (!full_ && !read.failed.empty()) return problems_.push_back(concat(read.failed, "; the run is shown without its probes"));
    full_ = full_ || bytes_ + read.bytes > kMostProbeBytes;
    if (full_) return leave_out(1);
    if (read.matrices.flaws.any()) flaws_.add(concat(job.file.string(), ": ", read.matrices.flaws.text()));
    if (read.matrices.stacks.size() == 0) return;
    bytes_ += read.bytes;
    taken_.emplace_back(job.run, std::move(read.matrices.stacks));
  }

  /// Hands them to their runs. `all_or_none`: unless one was left out.
  void give(bool all_or_none) {
    if (full_ && all_or_none)
      leave_out(taken_.size());
    else
      for (auto& [run, probes] : taken_) (*run)["probes"] = std::move(probes);
    taken_.clear();
  }

  void report() const {
    flaws_.report("the other lines are shown", problems_);
    if (left_out_ > 0)
      problems_.push_back(concat("probes of ", left_out_, " runs are left out: those of a page take ",
                                 kMostProbeBytes / 1'000'000, " MB at most; name fewer runs to see them"));
  }

 private:
  Problems& problems_;
  CountedProblem flaws_;
  std::vector<std::pair<Json*, Json>> taken_;
  std::size_t bytes_ = 0, left_out_ = 0;
  bool full_ = false;
};

}  // namespace

void add_probes(const std::vector<ProbeJob>& jobs, Problems& problems) {
  constexpr std::size_t kAtOnce = 32;
  ProbeRoom room(problems);
  for (const bool first_seeds : {true, false}) {
    std::vector<const ProbeJob*> wanted;
    for (const ProbeJob& job : jobs)
      if (job.first_seed == first_seeds) wanted.push_back(&job);
    std::size_t begin = 0;
    for (; begin < wanted.size() && !room.full(); begin += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, wanted.size() - begin);
      std::vector<ReadProbes> read(count);
      read_at_once(count, [&](std::size_t i) { read[i] = read_probes(wanted[begin + i]->file); });
      for (std::size_t i = 0; i < count; ++i) room.take(*wanted[begin + i], std::move(read[i]));
    }
    room.leave_out(wanted.size() - std::min(begin, wanted.size()));
    room.give(!first_seeds);  // other seeds of some rows only would be a puzzle
  }
  room.report();
}

}  // namespace addnorm
