#include "train/run/records.h"

#include <algorithm>
#include <array>

#include "addnorm/core/error.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/init_spec.h"
#include "addnorm/train/checkpoint.h"
#include "core/file.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

constexpr std::array kStart{"arrangement",   "own_arrangement", "init",        "init_std",
                            "embedding_std", "position_std",    "branch_scale"};

/// What an arrangement computes and how it starts, without its description.
std::string computed(const RunOptions& options) {
  const ModelConfig& model = options.model;
  Arrangement row = with_init(arrangement_of(model), model.init, options.words);
  row.init.name.clear();
  return to_json(
      {.name = "a row", .unit = row.unit, .overrides = row.overrides, .entry = row.entry, .exit = row.exit, .init = row.init});
}

/// Version 0.1.0 kept the start of a model of Hugging Face as a separate row; today the same file gives an init beside the
/// arrangement.
bool starts_alike(const GivenOptions& run, const GivenOptions& now) {
  if (!run.options.model.own_arrangement || run.given.contains("init") || now.options.model.own_arrangement) return false;
  return arrangement_of(now.options.model).is_row() && computed(run.options) == computed(now.options);
}

/// Everything that is given otherwise than in the run, one per line; "" when nothing.
std::string refused(const GivenOptions& run, const GivenOptions& now) {
  const bool alike = starts_alike(run, now);
  const std::set<std::string>& given = now.given;
  std::string lines;
  for (const FieldDifference& one : differing_fields(json_of(run.options), json_of(now.options))) {
    const std::string name = one.field.substr(0, one.field.find('.'));
    if (alike && std::ranges::find(kStart, name) != kStart.end()) continue;
    if (given.contains(name) && !may_change(name) && name != "data")  // data is compared by its bytes
      lines += concat("\n  ", called(now.options.words, one.field), ": ", one.before, " in the run, ", one.now, " now");
  }
  return lines;
}

}  // namespace

bool has_run(const RunFolder& folder) {
  return is_there(folder.record()) || !CheckpointFolder(folder.checkpoints()).files().empty();
}

GivenOptions resumed_options(const RunFolder& folder, const RunRequest& request) {
  const RunOptions& now = request.given.options;
  GivenOptions stored = run_options_from_json(read_run_record(folder).options, folder.record().string(), now.words);
  const std::set<std::string>& given = request.given.given;
  if (given.contains("init")) check_rule(now.model.init, now.words);
  const std::string lines = refused(stored, request.given);
  require(lines.empty(), folder.path.string(), " was begun with other options:", lines,
          "\nLeave them out to go on with the run as it was begun, or begin another with another ", called(now.words, "folder"));
  RunOptions& options = stored.options;
  if (given.contains("data")) options.data = now.data;
  if (given.contains("steps") && now.steps != options.steps)
    require(request.replan || !trainer_options(options).schedule.depends_on_steps(), folder.path.string(), ": ",
            called(now.words, "steps"), ": ", options.steps, " in the run, ", now.steps,
            " now, and its schedule depends on them. Add ", called(now.words, "replan"), " to follow the schedule of ", now.steps,
            " steps from here on");
  take_changes(request.given, options);
  check(options);
  return stored;
}

RunOptions options_here(RunOptions options, const RunFolder& folder, const RunRequest& request) {
  const std::set<std::string>& given = request.given.given;
  const std::string& tokenizer = options.tokenizer;
  const bool by_name = tokenizer == "auto" || tokenizer == "bytes" || tokenizer == "chars";
  if (!given.contains("data")) options.data = data_of_run(folder, options.words);
  if (!given.contains("tokenizer") && !by_name) options.tokenizer = folder.tokenizer().string();
  return options;
}

void check_has_checkpoint(const RunFolder& folder, const FieldWords& words) {
  require(!CheckpointFolder(folder.checkpoints()).files().empty(), folder.path.string(),
          " has no checkpoint to resume from: the run ended before its first. Begin anew in another ", called(words, "folder"),
          ", or say ", called(words, "resume_or_start"));
}

void check_goes_on(const RunRecords& checkpoint, const RunFolder& folder, const RunRequest& request, const RunOptions& now,
                   std::uint64_t fingerprint) {
  if (checkpoint.run.fingerprint != fingerprint)
    throw DataError(concat(folder.path.string(), ": the data is not what the run has learned from so far (fingerprint ",
                           checkpoint.run.fingerprint, " then, ", fingerprint,
                           " now); give it the same files, in the same order"));
  std::string lines;
  // Through the fields of today, with their defaults: an option that is new since the checkpoint is no difference.
  const RunOptions then = run_options_of(checkpoint.options, folder.path.string()).options;
  for (const FieldDifference& one : differing_fields(json_of(then), json_of(now))) {
    const std::string name = one.field.substr(0, one.field.find('.'));
    const bool planned_anew = name == "steps" && trainer_options(now).schedule.depends_on_steps() && !request.replan;
    if (planned_anew || (!may_change(name) && name != "data"))
      lines += concat("\n  ", one.field, ": ", one.before, " in the checkpoint, ", one.now, " now",
                      planned_anew ? concat(" (", called(now.words, "replan"), ", if that is meant)") : "");
  }
  if (!lines.empty())
    throw DataError(concat(folder.record().string(), ": was changed since the last checkpoint was written:", lines,
                           "\nPut it back to go on with this run, or begin another with another ", called(now.words, "folder")));
}

}  // namespace addnorm
