// What a record may hold. Files come from other versions, from other programs and from editors; the page gets what it expects.
#pragma once

#include <span>

#include "core/json/json.h"

namespace addnorm {

enum class Holds : unsigned char {
  text,
  number,  ///< or null
  whole,   ///< from 0 on
  flag,
  scalar,   ///< text or number
  texts,    ///< an array; items of another kind are ""
  numbers,  ///< an array; items of another kind are null
  wholes,   ///< an array of whole numbers; others are left out
  lists,    ///< an array of `numbers`
  object,   ///< of fields
  objects,  ///< an array of them; items of another kind are left out
};

struct ExpectedField {
  const char* name;
  Holds holds;
  bool needed = false;  ///< where it is missing, or something else, it is empty: "", 0, null, [], {}
  std::span<const ExpectedField> inside{};
};

/// The fields of `from` that are as expected, numbers rounded. One that holds something else is left out, like one that is not
/// expected; so readers of the result need no further check.
Json shaped(const Json& from, std::span<const ExpectedField> fields);

}  // namespace addnorm
