#include "core/json/record.h"

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
void read(const Json& json, std::size_t& value, const JsonAt& at) {
  if (!json.is_unsigned()) at.wrong(json, "a whole number from 0 on");
  value = json.whole();
}
void read(const Json& json, std::string& value, const JsonAt& at) {
  if (!json.is_string()) at.wrong(json, "a string");
  value = json.text();
}

}  // namespace addnorm
