#include "claims_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "addnorm/core/rng.h"
#include "addnorm/core/version.h"
#include "core/file.h"

extern char** environ;

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

/// What a kept result must have been made by: a program that was built anew runs everything anew.
std::string build_stamp() {
  std::error_code unknown;
  const auto size = fs::file_size(kThisProgram, unknown);
  const auto made = fs::last_write_time(kThisProgram, unknown).time_since_epoch().count();
  std::ostringstream out;
  out << version() << '-' << std::hex << (RandomKey(size).with(static_cast<std::uint64_t>(made)).bits() & 0xffffffffu);
  return out.str();
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string made_with(const ClaimsPlan& plan) { return concat(build_stamp(), ", scale ", plan.scale, ", seeds ", plan.seeds); }

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

FinishedClaim failed(const Claim& claim, const std::string& why) {
  return {Json{{"id", claim.id},
               {"claim", claim.statement},
               {"kind", claim.kind() == ClaimKind::statement ? "S" : "C"},
               {"source", claim.source},
               {"expected", claim.expected},
               {"measured", why},
               {"verdict", "failed"},
               {"seconds", 0.0},
               {"command", claim.command()}}};
}

/// A claim that runs in a process of its own.
class Child {
 public:
  Child(const Claim& claim, const ClaimsPlan& plan) : claim_(&claim), log_(plan.out / (claim.id + ".log")) {
    std::vector<std::string> words{
        kThisProgram,      "lab",       "claims", "--only",  claim.id,           "--json",  "--out",
        plan.out.string(), "--threads", "1",      "--scale", concat(plan.scale), "--seeds", concat(plan.seeds)};
    if (plan.again) words.emplace_back("--again");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);  // signals that this process has blocked are for the child to hear
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int problem = posix_spawn(&pid_, kThisProgram, &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    require(problem == 0, "claims: no process can be started: ", std::strerror(problem));
  }

  const Claim& claim() const { return *claim_; }
  /// Its end, where it has come.
  std::optional<FinishedClaim> ended(const ClaimsPlan& plan) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    ClaimsPlan look = plan;
    look.again = false;
    std::optional<FinishedClaim> done;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) done = kept(*claim_, look);
    if (!done) done = failed(*claim_, why(status));
    done->kept = false;
    std::error_code gone;
    if (!done->failed()) fs::remove(log_, gone);
    return done;
  }
  void stop() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    std::error_code gone;
    fs::remove(log_, gone);
  }

 private:
  std::string why(int status) const {
    std::string last, line;
    for (std::ifstream log(log_); std::getline(log, line);)
      if (!line.empty()) last = line;
    const std::string end = WIFSIGNALED(status)
                                ? concat("ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")")
                                : concat("ended with code ", WEXITSTATUS(status));
    return last.empty() ? end : concat(end, ": ", last);
  }

  const Claim* claim_;
  fs::path log_;
  pid_t pid_ = 0;
};

}  // namespace

FinishedClaim finished_claim(const Claim& claim, const ClaimsPlan& plan, const std::function<bool()>& go_on) {
  if (const auto done = kept(claim, plan)) return *done;
  make_folder(plan.out);
  const ClaimResult result = run_claim(claim, {.scale = plan.scale,
                                               .seeds = static_cast<std::size_t>(plan.seeds),
                                               .go_on = go_on,
                                               .runs = plan.out / "runs" / build_stamp()});
  Json json = parsed(to_json(claim, result), claim.id);
  json["date"] = today();
  json["made_with"] = made_with(plan);
  replace_text(file_of(claim, plan), json.dump(2) + "\n");
  return {json};
}

std::vector<FinishedClaim> finished_claims(const std::vector<const Claim*>& wanted, const ClaimsPlan& plan, std::size_t at_once,
                                           const std::function<void(const FinishedClaim&)>& told,
                                           const std::function<bool()>& go_on) {
  make_folder(plan.out);
  std::map<const Claim*, FinishedClaim> done;
  std::vector<Child> children;
  const auto finish = [&](const Claim& claim, FinishedClaim result) {
    told(result);
    done.emplace(&claim, std::move(result));
  };
  auto next = wanted.begin();
  while ((next != wanted.end() || !children.empty()) && go_on()) {
    while (next != wanted.end() && children.size() < at_once) {
      const Claim& claim = **next++;
      if (auto before = kept(claim, plan))
        finish(claim, std::move(*before));
      else
        children.emplace_back(claim, plan);
    }
    for (auto child = children.begin(); child != children.end();) {
      auto end = child->ended(plan);
      if (!end) {
        ++child;
        continue;
      }
      finish(child->claim(), std::move(*end));
      child = children.erase(child);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (Child& child : children) child.stop();
  std::vector<FinishedClaim> all;
  for (const Claim* claim : wanted)
    if (const auto found = done.find(claim); found != done.end()) all.push_back(found->second);
  return all;
}

}  // namespace addnorm::cli
