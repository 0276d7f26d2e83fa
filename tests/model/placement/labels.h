// Labels that weights are read under, and what is found then.
#pragma once

#include <array>
#include <string>

#include "addnorm/model/placement.h"

namespace addnorm::test {

inline constexpr std::array kLabels{"pre-ln", "post-ln", "norm-skip", "res-post"};

inline std::string summary(const PlacementFinding& found) {
  std::string all;
  for (const auto* list : {&found.evidence, &found.warnings})
    for (const std::string& sentence : *list) all += sentence + "\n";
  return all;
}

}  // namespace addnorm::test
