// C9: at 18 layers post-LN fails; Admin and others that weigh the skip train.
#include "claims/bench/experiment.h"
#include "claims/bench/seeds_trained.h"
#include "claims/bench/small_runs.h"
#include "claims/list.h"

namespace addnorm::lab::c09 {
namespace {

constexpr const char* kHelped[] = {"admin", "admin-const", "deepnorm", "b2t", "keel"};

void add_run(Samples& s, const char* name, std::size_t layers, const ClaimContext& context) {
  SmallRun run = deep_run(context, name);
  run.model.layers = layers;
  add_run(s, layers == 18 ? name : concat(name, ", ", layers, " layers"), run, context);
}

Samples measure(const ClaimContext& context) {
  Samples s;
  add_run(s, "post-ln", 6, context);
  for (const char* name : {"post-ln", "pre-ln"}) add_run(s, name, 18, context);
  for (const char* name : kHelped) add_run(s, name, 18, context);
  return s;
}

ClaimVerdict judge(const Samples& s) {
  std::string text =
      concat("loss after 250 steps at 1e-3 with 100 steps of warm-up: 6 layers of post-LN ", run_text(s, "post-ln, 6 layers"),
             "; 18 layers of post-LN ", run_text(s, "post-ln"), ", pre-LN ", run_text(s, "pre-ln"));
  bool all = true;
  for (const char* name : kHelped) {
    text += concat(", ", name, " ", run_text(s, name));
    all = all && all_train(s, name);
  }
  const SeedsTrained deep = seeds_trained(s, "post-ln"), shallow = seeds_trained(s, "post-ln, 6 layers"),
                     admin = seeds_trained(s, "admin");
  if (deep == SeedsTrained::all || shallow == SeedsTrained::none || admin == SeedsTrained::none) return fails(text);
  if (deep == SeedsTrained::some || shallow == SeedsTrained::some || admin == SeedsTrained::some)
    return undecided(text + ". Seeds of post-LN or of Admin disagree");
  return all ? holds(text) : mixed(text);
}

}  // namespace

Claim claim() {
  return {.id = "C9",
          .statement = "Post-LN trains with 6 layers and not with 18, where Admin and its relatives train.",
          .source = "Liu et al. 2020, arXiv 2004.08249",
          .expected =
              "at 18 layers no seed of post-LN trains, at 6 layers all; at 18 all of admin, admin-const, deepnorm, b2t and keel. "
              "Mixed: all of admin, but not of every other. Not decided: seeds of post-LN or admin disagree. Pre-LN is reported "
              "for comparison",
          .changed = "first fewer than half of the seeds of post-LN; the verdicts were the same",
          .earlier = {"seen at this scale",
                      "with GPT-2's weights 18 layers of post-LN train in every seed, and Admin, whose weights of the skip were "
                      "measured on weak branches, in none"},
          .compares = true,
          .start = "gains that are part of a formula stay under either rule: DeepNorm's β, B2T's 1/√L; Admin measures its ω",
          .trains = true,
          .seeds = 3,
          .measure = measure,
          .judge = judge};
}

}  // namespace addnorm::lab::c09
