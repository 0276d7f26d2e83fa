// A grid: which configurations are run, and with how many seeds. docs/lab.md shows the JSON form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/names.h"

namespace addnorm {

/// One configuration.
struct GridRow {
  std::string options = "{}";  ///< JSON object as `train --config` takes it, under our names, without seed
  std::uint64_t first_seed = 1;
  std::size_t seeds = 3;  ///< first_seed, first_seed + 1, ...
  std::size_t act = 0;    ///< number of the part of the grid that it stands in
  std::string place{};    ///< where it was asked for: "my.json: acts[0].rows[2]"
};

/// A part of a grid, with its own heading.
struct GridAct {
  std::string name{};  ///< "Act 1: 12 layers, no warm-up"
  std::string note{};  ///< what a reader should know: "one seed: no spread"
};

struct GridSpec {
  std::vector<GridAct> acts{};  ///< one at least
  std::vector<GridRow> rows{};
  /// What lists had twice, and is a row once: "init: glorot is xavier, which stands there too".
  std::vector<std::string> notes{};
  std::size_t with_warmup = 0;  ///< rows that fail are run again with so many warm-up steps, to tell "needs warm-up"; 0: not
  FieldWords words{};           ///< what notes, messages and results call an option; not in files
};

/// From
///
///   {"base": {options of every row}, "grid": {"arrangement": [...], "layers": [...], ...}, "rows": [{options}, ...],
///    "seeds": 3, "with_warmup": 200, "acts": [{"name", "note", "base", "grid", "rows", "seeds"}, ...]}
///
/// Every combination of the lists of "grid" is a row, the last list changing fastest; then come those of "rows", which may have
/// their own "seeds". A value that a list has twice, under an alias too, is one row, and a note says so. Parts inherit the
/// base and the seeds of the whole. What no row says is as in lab_defaults(). A DataError names the place: unknown options with
/// the nearest, values that an option cannot have, empty lists, fields that are none.
GridSpec grid_from_json(std::string_view text, std::string_view where, const FieldWords& words = nullptr);

/// The same form, with every row spelled out. Of rows that have the lab's defaults, as all of grid_from_json() do, that gives the
/// same ones back, at other places.
std::string to_json(const GridSpec& spec);

/// The lab without options: placement by initialisation on the built-in language, in four acts. `base`, a JSON object, says what
/// its rows do not say themselves (arrangement, init, embedding_std, layers, warmup_steps): {"steps": 100}. A warm-up longer than
/// two thirds of the steps is shortened to that.
GridSpec default_lab(std::string_view base = "{}");

/// The arrangements of its first act: what a grid compares that names none. Where it names no start either, each starts as its
/// source prescribes, and rows differ in more than the placement: their labels and comparisons say so.
std::vector<std::string> lab_arrangements();

/// With what a row of the lab has where nothing else is said: 300 steps of adam at a constant rate of 1e-3 without warm-up, 12
/// layers, batches of 8, width 64, 2 heads, 64 tokens, nothing measured on validation data. Only what has an effect beside the
/// others.
std::string with_lab_defaults(std::string_view options, std::string_view where);

}  // namespace addnorm
