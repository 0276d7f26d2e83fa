// The deepest stack that trains, at one width, rate and warm-up.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/grid_run.h"

namespace addnorm {

struct DepthRequest {
  std::string options = "{}";  ///< JSON object of one configuration, without layers
  std::size_t seeds = 1;       ///< more than half of them must train
  std::size_t most = 96;       ///< layers
  GridRequest grid{};          ///< folder, program, threads; of its spec only the words
};

struct DepthTried {
  std::size_t layers = 0;
  bool trains = false;
  bool too_short = false;  ///< its runs were too short to tell
  bool slow = false;       ///< they did not train, and most still get better (RowResult::slow)
  double loss = 0;         ///< mean over seeds; NaN: not finite
  std::string outcome{};   ///< "trained 1 of 1"
  std::string forecast{};  ///< of preflight; "": it was not asked
};

struct DepthResult {
  std::string configuration{};      ///< "post-ln, xavier weights, width 64, adam at 0.001, no warm-up, 300 steps"
  std::size_t deepest = 0;          ///< that trains; 0: not even one layer
  std::size_t fails = 0;            ///< the least depth that was tried and does not train; 0: all did
  std::vector<DepthTried> tried{};  ///< by depth
  std::string problem{};            ///< why it ended early: runs that failed, or were too short to tell; "": it did not
  bool finished = false;            ///< false: go_on() said no, or there is a problem
  FieldWords words{};               ///< what text() calls an option: as the request says
  std::string text() const;         ///< one sentence
};

/// Preflight's forecasts for 1, 2, 4, ... layers say where to begin; then real runs, as many depths at once as there are runs at
/// a time: the guess and its neighbours, doubled or halved until one trains and a deeper one does not, then what is between,
/// until the two are a twentieth apart at most (one layer, below 40). What fails is taken to fail at every greater depth. Runs
/// are those of `addnorm lab`: what is in the folder already is not run again.
DepthResult find_depth(const DepthRequest& request, GridObserver& observer);
std::string to_json(const DepthResult& result);

}  // namespace addnorm
