#include "cli/xray/placement.h"

#include <cmath>
#include <utility>

#include "addnorm/core/error.h"
#include "cli/terminal/figures.h"
#include "core/counted.h"

namespace addnorm::cli {
namespace {

/// What the figures of trials are: no losses of this x-ray.
std::string figures_text(const ModelConfig& config, const Placement& placement, const std::string& source) {
  const bool by_token = config.model == ModelKind::lm || (config.model == ModelKind::encoder && config.head);
  const std::string guess = by_token ? ", " + fixed(std::log(static_cast<double>(config.vocab)), 2) + " nats" : "";
  return concat(" (on ", counted(placement.tokens, "token"), " of ", source, ", where nothing counts for more than a guess costs",
                guess, ")");
}

}  // namespace

void report_placement(const ModelConfig& config, const Placement& placement, const std::string& source, XrayResult& result) {
  const PlacementFinding& found = placement.found;
  for (std::string warning : found.warnings) {
    if (!found.measure.empty() && warning.find(found.measure) != std::string::npos)
      warning += figures_text(config, placement, source);
    result.warnings.push_back(std::move(warning));
  }
  const std::string says = "the config says " + found.configured;
  if (found.behaves_as.empty())
    result.notes.push_back(says + "; what the weights say cannot be determined");
  else if (found.agrees && found.ground == PlacementFinding::Ground::norms)
    result.notes.push_back(says + " and the weights have its norms; they show nothing more");
  else if (found.agrees)
    result.notes.push_back(says + " and the weights agree");
}

}  // namespace addnorm::cli
