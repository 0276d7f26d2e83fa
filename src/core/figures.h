// Numbers, sizes, counts and moments in readable form, for sentences and tables: the one place where a double becomes text for a
// reader. (JSON and command lines need every digit; core/json/json.cpp and the options write those.)
#pragma once

#include <cstdint>
#include <ctime>
#include <iosfwd>
#include <string>

namespace addnorm {

std::string fixed(double x, int places);        ///< this many decimal places: "2.50", "nan", "inf"
std::string significant(double x, int digits);  ///< significant digits, no zeros at the end: "0.003", "14", "4.1e+05"
std::string scientific(double x, int places);   ///< "1.00e-03"

std::string short_figure(double x);  ///< two significant digits: "0.003", "14", "4.1e+05"
std::string loss_figure(double x);   ///< two places: "2.43"
std::string figure_text(double x);  ///< three significant digits, all of those before the point up to a million: "0.0123", "4078"
std::string rate_figure(double x);  ///< three significant digits: "4e-4", "2.5e-3"

std::string grouped(std::uint64_t number);                           ///< "1,003,854"
std::string counted(std::uint64_t number, const std::string& what);  ///< "1 sample", "1,003,854 tokens"

/// Streams as "512 bytes", "358 KiB", "1.5 GiB": from 1 MiB on in the largest unit of which there is at least one, with one
/// decimal below 100. A double, because what does not fit in memory may not fit in 64 bits either. Not a string: the parts of a
/// message must cost nothing when no message is built.
struct Bytes {
  double count;
};
std::ostream& operator<<(std::ostream& out, Bytes bytes);

// Moments in UTC, as records write them, whatever the time zone of the machine.

std::string utc_text(std::time_t moment);  ///< "2026-11-17T12:40:00Z"
std::string utc_now();
std::string utc_today();  ///< the day alone: "2026-11-17"

}  // namespace addnorm
