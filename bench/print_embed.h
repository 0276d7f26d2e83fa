// Rows of sentence vectors, as text and as JSON.
#pragma once

#include <iosfwd>
#include <vector>

#include "bench/measure.h"
#include "core/json/json.h"

namespace addnorm::bench {

Json embed_json(const Result& r);  ///< documented in bench/README.md
/// Prints the rows of the group that begins there; the end of it.
std::vector<Result>::const_iterator print_embed(std::vector<Result>::const_iterator begin,
                                                std::vector<Result>::const_iterator end, std::ostream& out);

}  // namespace addnorm::bench
