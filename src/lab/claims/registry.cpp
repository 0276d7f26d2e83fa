#include <cctype>

#include "addnorm/core/names.h"
#include "lab/claims/list.h"

namespace addnorm {
namespace {

/// "s7", "S-07" and "S07" are one.
std::string short_id(std::string_view id) {
  std::string name = folded(id);
  while (name.size() > 2 && name[1] == '0') name.erase(1, 1);
  return name;
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all{
#define CLAIM(name) lab::name::claim(),
#include "lab/claims/list.inc"
#undef CLAIM
  };
  return all;
}

const Claim& claim_named(std::string_view id) {
  std::vector<std::string> known;
  for (const Claim& claim : claims()) {
    if (short_id(claim.id) == short_id(id)) return claim;
    known.push_back(claim.id);
  }
  throw UsageError(concat("unknown claim '", id, "'; known: ", listed(known)));
}

}  // namespace addnorm
