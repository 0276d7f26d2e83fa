// Numbers in readable form, for sentences and tables: the one place where a double becomes text for a reader. (JSON and command
// lines need every digit; core/json/json.cpp and the options write those.)
#pragma once

#include <string>

namespace addnorm {

std::string fixed(double x, int places);        ///< this many decimal places: "2.50", "nan", "inf"
std::string significant(double x, int digits);  ///< significant digits, no zeros at the end: "0.003", "14", "4.1e+05"
std::string scientific(double x, int places);   ///< "1.00e-03"

std::string short_figure(double x);  ///< two significant digits: "0.003", "14", "4.1e+05"
std::string loss_figure(double x);   ///< two places: "2.43"
std::string figure_text(double x);  ///< three significant digits, all of those before the point up to a million: "0.0123", "4078"
std::string rate_figure(double x);  ///< three significant digits: "4e-4", "2.5e-3"

}  // namespace addnorm
