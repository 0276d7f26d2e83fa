#include "cli/claims/claims.h"

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "addnorm/core/rng.h"
#include "addnorm/core/version.h"
#include "core/figures.h"
#include "core/file.h"
#include "lab/grid/child_pool.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

/// What a kept result must have been made by: a program that was rebuilt runs everything again.
std::string build_stamp() {
  std::error_code unknown;
  const auto size = fs::file_size(kThisProgram, unknown);
  const auto made = fs::last_write_time(kThisProgram, unknown).time_since_epoch().count();
  std::ostringstream out;
  out << version() << '-' << std::hex << (RandomKey(size).with(static_cast<std::uint64_t>(made)).bits() & 0xffffffffu);
  return out.str();
}

std::string made_with(const ClaimsPlan& plan) {
  const std::string how = concat(build_stamp(), ", scale ", plan.scale, ", seeds ", plan.seeds);
  return plan.init.empty() ? how : concat(how, ", init ", plan.init);
}

fs::path file_of(const Claim& claim, const ClaimsPlan& plan) { return plan.out / (claim.id + ".json"); }

/// What cannot be read counts as not kept.
std::optional<FinishedClaim> kept(const Claim& claim, const ClaimsPlan& plan) {
  const fs::path file = file_of(claim, plan);
  std::error_code unknown;
  if (plan.again || !fs::is_regular_file(file, unknown)) return std::nullopt;
  Json result;
  try {
    result = parsed_or_null(small_text(file, "the result of a claim"));
  } catch (const DataError&) {
    return std::nullopt;
  }
  const Json* made = result.find("made_with");
  if (!made || !made->is_string() || made->text() != made_with(plan)) return std::nullopt;
  return FinishedClaim{result, true};
}

FinishedClaim failed(const Claim& claim, const ClaimsPlan& plan, const std::string& why) {
  return {Json{{"id", claim.id},
               {"claim", claim.statement},
               {"kind", claim.kind() == ClaimKind::statement ? "S" : "C"},
               {"source", claim.source},
               {"expected", claim.expected},
               {"measured", why},
               {"verdict", "failed"},
               {"seconds", 0.0},
               {"command", claim.command(plan.scale, static_cast<std::size_t>(plan.seeds), plan.init)}}};
}

std::vector<std::string> words_of(const Claim& claim, const ClaimsPlan& plan, int threads) {
  std::vector<std::string> words{
      "lab",       "claims",        "--only",  claim.id,           "--json",  "--out",           plan.out.string(),
      "--threads", concat(threads), "--scale", concat(plan.scale), "--seeds", concat(plan.seeds)};
  if (!plan.init.empty()) words.insert(words.end(), {"--init", plan.init});
  if (plan.again) words.emplace_back("--again");
  return words;
}

/// What became of a process: the result that it kept, or why there is none, with the last line it said.
FinishedClaim result_of(const Claim& claim, const ClaimsPlan& plan, const ChildEnd& end, const fs::path& log) {
  ClaimsPlan look = plan;
  look.again = false;
  std::optional<FinishedClaim> done;
  if (end.good()) done = kept(claim, look);
  if (!done) {
    std::string last, line;
    for (std::ifstream said(log); std::getline(said, line);)
      if (!line.empty()) last = line;
    done = failed(claim, plan, last.empty() ? end.text() : concat(end.text(), ": ", last));
  }
  done->kept = false;
  return *done;
}

}  // namespace

FinishedClaim finished_claim(const Claim& claim, const ClaimsPlan& plan, const std::function<bool()>& go_on) {
  if (const auto done = kept(claim, plan)) return *done;
  make_folder(plan.out);
  const ClaimResult result = run_claim(claim, {.scale = plan.scale,
                                               .seeds = static_cast<std::size_t>(plan.seeds),
                                               .go_on = go_on,
                                               .runs = plan.out / "runs" / build_stamp(),
                                               .init = plan.init});
  Json json = parsed(to_json(claim, result), claim.id);
  json["date"] = utc_today();
  json["made_with"] = made_with(plan);
  replace_text(file_of(claim, plan), json.dump(2) + "\n");
  return {json};
}

std::vector<FinishedClaim> finished_claims(const std::vector<const Claim*>& wanted, const ClaimsPlan& plan, std::size_t at_once,
                                           const std::function<void(const FinishedClaim&)>& report,
                                           const std::function<bool()>& go_on) {
  make_folder(plan.out);
  std::map<const Claim*, FinishedClaim> done;
  const auto finish = [&](const Claim& claim, const FinishedClaim& result) {
    report(result);
    done.emplace(&claim, result);
  };
  std::vector<Job> jobs;
  for (const Claim* claim : wanted) {
    if (const auto before = kept(*claim, plan)) {
      finish(*claim, *before);
      continue;
    }
    const fs::path log = plan.out / (claim->id + ".log");
    jobs.push_back({.arguments = [claim, &plan](int threads) { return words_of(*claim, plan, threads); },
                    .log = log,
                    .done =
                        [&, claim, log](const ChildEnd& end, bool asked_to_end) {
                          const bool stopped = asked_to_end && !end.good();
                          if (!stopped) finish(*claim, result_of(*claim, plan, end, log));
                          std::error_code gone;
                          if (stopped || !done.at(claim).failed()) fs::remove(log, gone);
                        },
                    .not_started = [&, claim](const std::string& problem) { finish(*claim, failed(*claim, plan, problem)); }});
  }
  const int children = static_cast<int>(at_once);
  run_jobs(jobs, {.program = kThisProgram, .threads = children, .at_once = children, .go_on = go_on});
  std::vector<FinishedClaim> all;
  for (const Claim* claim : wanted)
    if (const auto found = done.find(claim); found != done.end()) all.push_back(found->second);
  return all;
}

}  // namespace addnorm::cli
