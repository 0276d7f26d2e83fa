// addnorm depth: the deepest stack that trains, by real runs.
#include "addnorm/lab/depth.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "cli/lab/lab.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"

namespace addnorm::cli {
namespace {

struct DepthChoices {
  GridCollector grid;
  GridPlace place;
  std::uint64_t seeds = 1, most = 96;
  bool no_predict = false;
};

const char* happened(const DepthTried& one) {
  if (one.too_short) return name_of(Happened::too_short);
  if (one.slow) return name_of(Outcome::slow);
  return name_of(one.trains ? Happened::trains : Happened::does_not_train);
}

int find_and_print(const DepthChoices& o) {
  require(o.seeds >= 1 && o.seeds <= 100, "--seeds is ", o.seeds, "; it must be 1 ... 100");
  DepthRequest request{.options = o.grid.one({"layers"}), .seeds = o.seeds, .most = o.most, .grid = o.place.request({})};
  request.grid.predict = !o.no_predict;
  LabView view(std::cerr, terminal_of(STDERR_FILENO), false);
  const DepthResult result = find_depth(request, view);
  view.wipe();
  if (o.place.json) {
    std::cout << to_json(result) << '\n';
  } else {
    std::cout << "layers      loss  predicted       happened\n";
    for (const DepthTried& one : result.tried)
      std::cout << padded(std::to_string(one.layers), 8)
                << padded(std::isfinite(one.loss) ? "  " + fixed(one.loss, 3) : "  none", 10)
                << padded(one.forecast.empty() ? "-" : one.forecast, 16) << happened(one) << " (" << one.outcome << ")\n";
    std::cout << result.configuration << ": " << result.text() << '\n' << std::flush;
  }
  if (SignalWatch::caught())
    return stopped_by_signal(concat("runs that are done or were begun are kept in ", o.place.out.string()));
  return result.finished ? 0 : 1;
}

int depth(const DepthChoices& o) {
  const SignalWatch signals;  // before any other thread
  try {
    return find_and_print(o);
  } catch (const Error&) {
    if (SignalWatch::caught()) return stopped_by_signal("the data was still being read and no run was begun");
    throw;
  }
}

}  // namespace

void add_depth(Program& program) {
  const auto o = std::make_shared<DepthChoices>();
  Command command = program.command("depth", "bisects the deepest stack that trains at this width, rate and warm-up");
  command.option("--most N", o->most, "look no deeper than so many layers");
  command.option("--seeds N", o->seeds, "runs of every depth; more than half must train");
  command.option("--no-predict", o->no_predict, "no preflight that says where to begin");
  o->place.declare(command);
  o->grid.declare(command, false);
  command.section("How it looks",
                  {{"guess", "preflight's forecasts for 1, 2, 4, ... layers say where to begin"},
                   {"runs",
                    "real ones of 300 steps each, as of 'lab' and kept with them in --out: doubled or halved until one depth "
                    "trains and a deeper one does not, then what is between"},
                   {"answer", "to one layer below 40, else to a twentieth; what fails is taken to fail at every greater depth"}});
  command.examples({"addnorm depth --arrangement post-ln", "addnorm depth --arrangement post-ln --warmup-steps 200 --seeds 3",
                    "addnorm depth --arrangement post-ln --d-model 128 --lr 3e-4 --data book.txt",
                    "addnorm depth --arrangement deepnorm --lr 3e-3 --most 200 --json"});
  command.run([o] { return depth(*o); });
}

}  // namespace addnorm::cli
