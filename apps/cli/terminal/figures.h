// Numbers as a person reads them; digits and counts are in core/figures.h.
#pragma once

#include <string>

#include "core/figures.h"

namespace addnorm::cli {

std::string short_count(double number);           ///< "21.3k", "4.56M"
std::string figure(double number, int decimals);  ///< fixed(), but "1.50e+16" where that would be long
std::string rate_text(double rate);               ///< "1.00e-03"
std::string duration(double seconds);             ///< "0:42", "12:05", "3:04:05"
std::string for_shell(const std::string& path);   ///< as it is, or 'in quotes' where a shell would take it apart
std::string mebibytes(double bytes);              ///< "120 MiB", "3.4 GiB"

}  // namespace addnorm::cli
