// Numbers that nobody measured, for judges.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "addnorm/claims/claim.h"

namespace addnorm {

using Numbers = std::vector<std::pair<std::string, std::vector<double>>>;

inline Samples made_up(const Numbers& numbers) {
  Samples s;
  for (const auto& [name, values] : numbers)
    for (const double value : values) s.add(name, value);
  return s;
}
inline std::string verdict_of(const char* id, const Numbers& numbers) {
  const Claim& claim = claim_named(id);
  const ClaimVerdict verdict = claim.judge(made_up(numbers));
  EXPECT_EQ(verdict.finding == Finding::partly && claim.kind() == ClaimKind::statement, !verdict.condition.empty()) << id;
  EXPECT_FALSE(verdict.measured.empty()) << id;
  return verdict_text(claim.kind(), verdict);
}

}  // namespace addnorm
