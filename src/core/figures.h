// Numbers as people read them, in sentences and tables: the one place where a double becomes text for a reader. (JSON and command
// lines need every digit; core/json/json.cpp and the options write those.)
#pragma once

#include <string>

namespace addnorm {

std::string fixed(double x, int places);        ///< so many places: "2.50", "nan", "inf"
std::string significant(double x, int digits);  ///< digits that matter, without zeros at the end: "0.003", "14", "4.1e+05"
std::string scientific(double x, int places);   ///< "1.00e-03"

std::string short_figure(double x);  ///< two digits that matter: "0.003", "14", "4.1e+05"
std::string loss_figure(double x);   ///< two places: "2.43"
std::string figure_text(double x);  ///< three digits that matter, all of those before the point up to a million: "0.0123", "4078"
std::string rate_figure(double x);  ///< three digits that matter: "4e-4", "2.5e-3"

}  // namespace addnorm
