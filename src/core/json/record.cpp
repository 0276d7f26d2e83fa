#include "core/json/record.h"

#include <concepts>
#include <limits>

#include "addnorm/core/checked.h"

namespace addnorm {

void JsonAt::wrong(const Json& value, std::string_view allowed) const {
  std::string shown = value.dump();
  if (shown.size() > 60) {
    std::size_t end = 57;
    while ((static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end;  // not inside a letter
    shown = shown.substr(0, end) + "...";
  }
  fail(path, " is ", shown, "; it must be ", allowed);
}

void read(const Json& json, bool& value, const JsonAt& at) {
  if (!json.is_boolean()) at.wrong(json, "true or false");
  value = json.boolean();
}
void read(const Json& json, double& value, const JsonAt& at) {
  if (!json.is_number()) at.wrong(json, "a number");
  value = json.number();
}
template <std::unsigned_integral Size>
static void read_whole(const Json& json, Size& value, const JsonAt& at) {
  if (!json.is_unsigned()) at.wrong(json, "a whole number from 0 on");
  const auto fits = checked_size<Size>(json.whole());
  if (!fits) at.wrong(json, concat("at most ", std::numeric_limits<Size>::max(), " on this platform"));
  value = *fits;
}
void read(const Json& json, unsigned& value, const JsonAt& at) { read_whole(json, value, at); }
void read(const Json& json, unsigned long& value, const JsonAt& at) { read_whole(json, value, at); }
void read(const Json& json, unsigned long long& value, const JsonAt& at) { read_whole(json, value, at); }
void read(const Json& json, std::string& value, const JsonAt& at) {
  if (!json.is_string()) at.wrong(json, "a string");
  value = json.text();
}

}  // namespace addnorm
