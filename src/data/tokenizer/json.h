// A place in a tokenizer.json: its value, and its path for messages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "addnorm/core/error.h"
#include "core/json/json.h"
#include "core/printable.h"

namespace addnorm {

class JsonPlace {
 public:
  JsonPlace(const Json& value, std::string_view where, std::string path = "")
      : value_(value), where_(where), path_(std::move(path)) {}

  const Json& value() const { return value_; }
  const std::string& path() const { return path_; }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(printable(concat(where_, ": ", path_, path_.empty() ? "" : " ", parts...)));
  }
  /// "is "Unigram"; supported are ...".
  [[noreturn]] void wrong(std::string_view allowed) const {
    std::string shown = value_.dump();
    if (shown.size() > 60) {
      std::size_t end = 57;
      while ((static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end;  // not inside a letter
      shown = shown.substr(0, end) + "...";
    }
    fail("is ", shown, "; ", allowed);
  }

  bool is_null() const { return value_.is_null(); }
  /// Present and not null.
  bool has(std::string_view name) const {
    const Json* found = value_.find(name);
    return found != nullptr && !found->is_null();
  }
  JsonPlace operator[](std::string_view name) const {
    if (!value_.is_object()) wrong("it must be an object");
    const Json* found = value_.find(name);
    if (found == nullptr) fail("has no field '", name, "'");
    return {*found, where_, path_.empty() ? std::string(name) : concat(path_, ".", name)};
  }
  JsonPlace item(std::size_t i) const { return {value_[i], where_, concat(path_, "[", i, "]")}; }
  std::size_t items() const {
    if (!value_.is_array()) wrong("it must be an array");
    return value_.size();
  }

  const std::string& text() const {
    if (!value_.is_string()) wrong("it must be a string");
    return value_.text();
  }
  bool truth() const {
    if (!value_.is_boolean()) wrong("it must be true or false");
    return value_.boolean();
  }
  /// A whole number from 0 to `most`.
  std::uint64_t number(std::uint64_t most) const {
    if (!value_.is_unsigned() || value_.whole() > most) wrong(concat("it must be a whole number from 0 to ", most));
    return value_.whole();
  }
  std::string text_or(std::string_view name, const char* otherwise) const { return has(name) ? (*this)[name].text() : otherwise; }
  bool truth_or(std::string_view name, bool otherwise) const { return has(name) ? (*this)[name].truth() : otherwise; }

  /// Fields that are not in `known` are refused unless they are null: their meaning is unknown.
  void allow_only(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object()) wrong("it must be an object");
    for (const JsonField& field : value_.items())
      if (!field.value.is_null() && std::ranges::find(known, field.key) == known.end())
        fail("has a field '", field.key, "' that is not supported");
  }

 private:
  const Json& value_;
  std::string_view where_;
  std::string path_;
};

}  // namespace addnorm
