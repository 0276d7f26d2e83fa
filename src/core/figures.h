// Numbers as people read them, in sentences and tables.
#pragma once

#include <string>

namespace addnorm {

std::string short_figure(double x);  ///< two figures that matter: "0.003", "14", "4.1e+05"
std::string loss_figure(double x);   ///< two places: "2.43"
std::string figure_text(double x);   ///< three figures: "0.0123", "2.5e-07", "4078"

}  // namespace addnorm
