// Text -> Json by recursive descent, for readers that take large parts of a text themselves.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/json/json.h"
#include "core/json/text.h"

namespace addnorm {

/// What parsed() does, one value at a time. A mark of UTF-8 at the beginning is passed over.
class JsonParser : protected JsonText {
 protected:
  /// `where`: the file, for messages. `deepest`: levels of arrays and objects, so that what walks a value may be recursive.
  JsonParser(std::string_view text, std::string_view where, int deepest = kDeepest)
      : JsonText(text), where_(where), deepest_(deepest) {
    took("\xEF\xBB\xBF");
  }
  ~JsonParser() = default;

  /// A DataError with line and column.
  [[noreturn]] void fail(const std::string& what) const final;

  /// The whole text, of which root() reads the value.
  template <class Root>
  Json document(Root&& root) {
    spaces();
    Json json = root();
    spaces();
    expect_end();
    return json;
  }
  /// Whatever stands here.
  Json value();
  /// The object that stands here; value_of(name) reads the value of each field.
  template <class ValueOf>
  Json object(ValueOf&& value_of) {
    Json::Object all;
    enter();
    members(decoded_, [&](std::string_view name) {
      std::string key(name);  // what reads the value may decode another text
      Json value = value_of(key);
      all.push_back({std::move(key), std::move(value)});
    });
    --depth_;
    refuse_twice(all);
    return all;
  }

  std::string_view where() const { return where_; }
  [[noreturn]] void fail_twice(std::string_view name) const;

  std::string decoded_;  // a text that had escapes

 private:
  void enter();
  Json array();
  void refuse_twice(const Json::Object& fields) const;
  Json number_of(const JsonNumber& number);

  std::string_view where_;
  int deepest_, depth_ = 0;
};

}  // namespace addnorm
