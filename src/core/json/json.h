// A JSON value: null, true or false, a number, text, an array, or an object whose fields keep their order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace addnorm {

struct JsonField;

/// Whole numbers of 64 bits are exact. Reading is limited to kDeepest levels, so that what walks a value may be recursive;
/// only the values themselves take memory, and destroying one takes none.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<JsonField>;  // few fields: looked up one by one

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  template <std::same_as<bool> T>
  Json(T value) : Json(As::type, bool{value}) {}
  template <std::signed_integral T>
  Json(T value) : Json(As::type, std::int64_t{value}) {}
  template <std::unsigned_integral T>
  Json(T value) requires(!std::same_as<T, bool>) : Json(As::type, std::uint64_t{value}) {}
  template <std::floating_point T>
  Json(T value) : Json(As::type, double{value}) {}
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  /// An array.
  template <class T>
  Json(const std::vector<T>& items) : Json(As::type, Array(items.begin(), items.end())) {}
  Json(Object fields);
  /// An object: Json{{"step", 7}, {"loss", 0.5}}. Names are given once.
  Json(std::initializer_list<JsonField> fields);
  static Json array(std::initializer_list<Json> items = {});
  static Json object();

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
  bool is_integer() const { return is_unsigned() || std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  const char* type_name() const;  ///< "null", "boolean", "number", "string", "array", "object"

  // What it is must be known: anything else is a UsageError.
  bool boolean() const;
  std::uint64_t whole() const;   ///< of what is_unsigned
  std::int64_t integer() const;  ///< of what is_integer; too large for 63 bits: a UsageError too
  double number() const;
  const std::string& text() const;
  const Array& array_items() const;
  const Object& items() const;

  std::size_t size() const;  ///< of an array or object; 0 for anything else
  const Json& operator[](std::size_t i) const { return array_items().at(i); }
  void push_back(Json item);  ///< null becomes an array

  /// The field's value, or null where it is missing or this is no object.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Json& at(std::string_view name) const;
  const Json& operator[](std::string_view name) const { return at(name); }
  Json& operator[](std::string_view name);  ///< adds what is missing; null becomes an object
  void erase(std::string_view name);        ///< nothing where it is missing

  /// Numbers by value (1 == 1.0), objects with their order.
  friend bool operator==(const Json& a, const Json& b);

  /// In one line; with an indent of 0 or more one line per value. What is not UTF-8 is replaced by U+FFFD, and numbers that are
  /// not finite are null: JSON has neither. Reading it again gives the same value.
  std::string dump(int indent = -1) const;

 private:
  enum class As { type };  // exactly that of the argument
  Json(As, bool value);
  Json(As, std::int64_t value);
  Json(As, std::uint64_t value);
  Json(As, double value);
  Json(As, Array items);

  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string, Array, Object> value_;
};

struct JsonField {
  std::string key;
  Json value;
  friend bool operator==(const JsonField&, const JsonField&) = default;
};

inline constexpr int kDeepest = 64;

/// RFC 8259, strictly; a mark of UTF-8 at the beginning is allowed, a field given twice is not. DataError: "my.json: not JSON:
/// line 3, column 7: ...".
Json parsed(std::string_view text, std::string_view where);
/// Null where it is no JSON.
Json parsed_or_null(std::string_view text);

}  // namespace addnorm
