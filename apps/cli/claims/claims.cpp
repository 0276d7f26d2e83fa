// addnorm lab claims: what texts and papers say, measured.
#include "cli/claims/claims.h"

#include <algorithm>
#include <iostream>

#include "addnorm/core/names.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/init_spec.h"
#include "claims/again.h"
#include "cli/models/run_model.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/train/options.h"
#include "core/file.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  ClaimsPlan plan;
  std::vector<std::string> only;
  fs::path write, page;  // page: of all results in that folder
  int threads = 0;
  bool full = false, json = false, list = false, assemble = false;
};

bool is_default(const Claim& claim) { return claim.kind() == ClaimKind::statement || !claim.trains; }

/// At scale 1 and with its own number of seeds, under every rule, on two cores.
const char* cost_of(const Claim& claim) {
  if (!claim.trains) return "seconds";
  return claim.kind() == ClaimKind::statement ? "up to 2 min" : "up to 8 min";
}

std::vector<const Claim*> wanted_claims(const Options& o) {
  std::vector<const Claim*> wanted;
  for (const std::string& id : o.only) {
    const Claim& claim = claim_named(id);
    if (std::ranges::find(wanted, &claim) == wanted.end()) wanted.push_back(&claim);
  }
  if (wanted.empty())
    for (const Claim& claim : claims())
      if ((o.full || o.list || is_default(claim)) && (o.plan.init.empty() || claim.compares)) wanted.push_back(&claim);
  return wanted;
}

void check(const Options& o) {
  require(o.plan.scale >= 0.01 && o.plan.scale <= 100, "--scale is ", o.plan.scale, "; it must be 0.01 ... 100");
  require(o.plan.seeds >= 0 && o.plan.seeds <= 1000, "--seeds is ", o.plan.seeds,
          "; it must be 1 ... 1000, or 0 for each claim's own");
  require(o.write.empty() || o.plan.scale == 1, "--write with --scale ", o.plan.scale,
          ": the page describes experiments at scale 1; leave out one of the two");
  require(o.write.empty() || o.plan.init.empty(), "--write with --init ", o.plan.init,
          ": the page has every claim under each of its rules; leave out one of the two");
  require(o.page.empty() || !o.write.empty(), "--page is where --write writes its page; say the folder too, with --write FOLDER");
  require(!o.assemble || !o.write.empty(), "--assemble judges again what is in a folder; say which with --write FOLDER");
  require(!o.assemble || (o.only.empty() && !o.full), "--assemble with --only or --full: it runs nothing; leave them out");
  require(!(o.full && !o.only.empty()), "--full and --only: say either which claims, or all of them");
}

/// The rule's own name. Each claim that was asked for must have something to start by it.
std::string one_rule(const Options& o) {
  if (o.plan.init.empty()) return "";
  require(folded(o.plan.init) != folded(kInitOfArrangement), "--init ", o.plan.init,
          ": what is compared would then start in different ways; take one rule for all, e.g. --init ", kClaimInits[0]);
  check_rule({.rule = o.plan.init}, option_word);
  for (const std::string& id : o.only)
    require(claim_named(id).compares, "--init ", o.plan.init, " with --only ", claim_named(id).id,
            ": it compares nothing that starts by such a rule; leave out one of the two");
  return init_rule_named(o.plan.init).name;
}

int list(const std::vector<const Claim*>& wanted, bool json) {
  if (json) {
    Json all = Json::array();
    for (const Claim* claim : wanted)
      all.push_back(Json{{"id", claim->id},
                         {"claim", claim->statement},
                         {"source", claim->source},
                         {"expected", claim->expected},
                         {"trains", claim->trains},
                         {"compares", claim->compares},
                         {"default", is_default(*claim)},
                         {"cost", cost_of(*claim)},
                         {"seeds", claim->seeds},
                         {"command", claim->command()}});
    std::cout << all.dump(2) << '\n';
    return 0;
  }
  constexpr std::size_t kBefore = 28;  // columns of what stands before the statement
  const Terminal terminal = terminal_of_stdout();
  std::cout << "id    run by   takes        claim\n";
  for (const Claim* claim : wanted) {
    std::cout << padded(claim->id, 6) << padded(is_default(*claim) ? "default" : "--full", 9) << padded(cost_of(*claim), 13);
    const std::string text = terminal.unicode ? claim->statement : in_ascii(claim->statement);
    bool first = true;
    for (const std::string& line : wrapped(text, terminal.columns > kBefore + 20 ? terminal.columns - kBefore : 0)) {
      std::cout << (first ? "" : std::string(kBefore, ' ')) << line << '\n';
      first = false;
    }
  }
  const auto by_default = std::ranges::count_if(wanted, [](const Claim* claim) { return is_default(*claim); });
  std::cout << '\n'
            << wanted.size() << (wanted.size() == 1 ? " claim, " : " claims, ") << by_default
            << " by default, all with --full, single ones with --only ID,...\n";
  return 0;
}

/// The files of the folder are all results that there are: those of this call, and those of earlier ones, with the texts that
/// people typed, and the verdicts of judges, as they are now.
void write_pages(const fs::path& folder, fs::path page, const std::vector<FinishedClaim>& done) {
  make_folder(folder);
  for (const FinishedClaim& one : done) {
    if (one.failed()) continue;
    Json result = one.result;
    result.erase("made_with");
    replace_text(folder / (result["id"].text() + ".json"), result.dump(2) + "\n");
  }
  std::vector<Json> all;
  std::string kept;  // ids
  for (const Claim& claim : claims()) {
    const fs::path file = folder / (claim.id + ".json");
    if (!fs::exists(file)) continue;
    all.push_back(parsed(small_text(file, "the result of a claim"), file.string()));
    add_typed_texts(all.back(), claim);
    if (!judge_again(all.back(), claim)) kept += concat(kept.empty() ? "" : ", ", claim.id);
    replace_text(file, all.back().dump(2) + "\n");
  }
  if (page.empty()) page = fs::path(folder) += ".md";
  replace_text(page, claims_page(all, fs::absolute(folder).lexically_relative(fs::absolute(page).parent_path())));
  if (!kept.empty())
    std::cerr << "addnorm lab claims: these verdicts hang on more than means and spreads, which is all that was kept, and stay "
                 "as they were: "
              << kept << '\n';
  std::cerr << "addnorm lab claims: wrote " << page.string() << " from " << all.size() << " files\n";
}

int run(Options o) {
  check(o);
  o.plan.init = one_rule(o);
  const std::vector<const Claim*> wanted = wanted_claims(o);
  if (o.list) return list(wanted, o.json);
  if (o.assemble) {
    require(fs::is_directory(o.write), "--assemble: there is no folder ", o.write.string(), "; --write alone measures");
    write_pages(o.write, o.page, {});
    return 0;
  }
  const int threads = use_threads(o.threads);
  const SignalWatch signals;
  const auto go_on = [] { return SignalWatch::caught() == 0; };

  std::size_t count = 0;
  const auto report = [&](const FinishedClaim& one) {
    std::cerr << padded(one.result["id"].text(), 5)
              << padded(one.kept ? "kept" : fixed(one.result["seconds"].number(), 1) + " s", 8)
              << concat("[", ++count, "/", wanted.size(), "]  ") << one.result["verdict"].text() << '\n';
  };
  std::vector<FinishedClaim> done;
  if (wanted.size() == 1) {
    try {
      done.push_back(finished_claim(*wanted[0], o.plan, go_on));
    } catch (const ClaimStopped&) {
      return stopped_by_signal(concat("finished training runs of ", wanted[0]->id, " are kept in ", o.plan.out.string()));
    }
  } else {
    done = finished_claims(wanted, o.plan, threads > 1 ? 2 : 1, report, go_on);
  }

  std::vector<Json> results;
  for (const FinishedClaim& one : done) results.push_back(one.result);
  Json all = Json::array();
  for (const Json& result : results) all.push_back(result);
  if (o.json)
    std::cout << all.dump(2) << '\n';
  else
    std::cout << claims_table(results, terminal_of_stdout());
  if (!go_on())
    return stopped_by_signal(concat("claims done: ", done.size(), " of ", wanted.size(), ", kept in ", o.plan.out.string()));
  if (!o.write.empty()) write_pages(o.write, o.page, done);
  return std::ranges::any_of(done, &FinishedClaim::failed) ? 1 : 0;
}

}  // namespace

void add_lab_claims(Command& lab) {
  const auto o = std::make_shared<Options>();
  Command command = lab.inside("claims", "what texts and papers say of residual connections and norms, measured");
  command.option("--only IDS", o->only, "these claims, e.g. C3,S07");
  command.option("--full", o->full, "also the claims of papers that train models: some hours, at most some 8 minutes each");
  command.option("--scale X", o->plan.scale, "times as many training steps, e.g. 2");
  command.option("--seeds N", o->plan.seeds,
                 "runs of each experiment, e.g. 5; 0: 10 where nothing is trained, 3 or 5 where something is");
  command.option("--init NAME", o->plan.init,
                 concat("only the claims that compare, and what they compare under this rule alone; by default under ",
                        kClaimInits[0], " and ", kClaimInits[1], ". 'addnorm arrangements --inits' lists them"));
  command.option("--threads N", o->threads,
                 concat("of a single claim; several are run two at a time with one thread each, or one by one where it is 1; ",
                        kThreadsByDefault));
  command.option("--json", o->json, "an array of objects: id, claim, source, measured, expected, verdict, seconds, ...");
  command.option("--out FOLDER", o->plan.out, "where results are kept: the same command again continues what was stopped");
  command.option("--again", o->plan.again, "run also what is kept");
  command.option("--list", o->list,
                 "only say which claims there are: id, default or --full, what it takes, statement; with --json "
                 "also the source");
  command.option("--write FOLDER", o->write,
                 "write one file per claim there, and a page FOLDER.md of all of them, e.g. runs/claims; not with --scale");
  command.option("--page FILE", o->page, "with --write: write that page to FILE instead");
  command.option("--assemble", o->assemble,
                 "with --write: run nothing, judge what is in the folder again by its numbers, and write the page");
  command.section("Which are run", {{"default", "all S-claims, and the C-claims at initialisation: some minutes"},
                                    {"--full", "all"},
                                    {"--only", "these, whichever they are"}});
  command.section(
      "Verdicts",
      {{"S-claims",
        "statements of four teaching texts: true, false, true only if ..., true with Xavier's weights; ..., not decided"},
       {"C-claims", "claims of papers: seen at this scale, mixed, not seen"}});
  command.examples({"addnorm lab claims", "addnorm lab claims --list", "addnorm lab claims --only S12,C3",
                    "addnorm lab claims --only C10 --seeds 20 --json", "addnorm lab claims --only S46 --init bert",
                    "addnorm lab claims --full --out runs/claims-full",
                    "addnorm lab claims --write src/claims/results --page docs/claims.md",
                    "addnorm lab claims --write src/claims/results --page docs/claims.md --assemble"});
  command.run([o] { return run(*o); });
}

}  // namespace addnorm::cli
