// The fields of a Hugging Face config: theirs may have several names, and defaults that depend on the type of model.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/model/hugging_face.h"
#include "core/json/record.h"
#include "core/printable.h"

namespace addnorm::hugging_face {

/// Names of one field, the usual one first. Where a file has several of them they must agree.
using FieldNames = std::initializer_list<const char*>;

// As in completed(), which would use our names.
inline constexpr std::size_t kMostLayers = 1000000;
inline constexpr std::size_t kMostWidth = std::size_t{1} << 28;
inline constexpr std::size_t kMostIds = std::numeric_limits<std::int32_t>::max();

class Fields {
 public:
  Fields(const Json& object, JsonAt at, HuggingFaceConfig& out) : object_(object), at_(std::move(at)), out_(out) {
    if (!object.is_object()) at_.wrong(object, "an object");
  }

  /// 1 ... most. One that is missing is remembered for note_defaults.
  std::size_t size(FieldNames names, std::size_t otherwise, std::size_t most);
  std::optional<std::size_t> size_if_given(FieldNames names, std::size_t most);  ///< null counts as missing, here and below
  std::size_t whole(FieldNames names, std::size_t otherwise, std::size_t most);  ///< 0 ... most
  double number(FieldNames names, double otherwise, double least, double most);  ///< least <= value <= most
  std::optional<double> number_if_given(FieldNames names, double least, double most);
  /// Those whose default is a number, and null means none.
  std::optional<double> number_or_none(const char* name, double otherwise, double least, double most);
  bool flag(FieldNames names, bool otherwise);
  std::string text(FieldNames names, const char* otherwise);
  const Json* object_if_given(const char* name);
  /// An object inside, with notes of its own path. It must outlive what is read.
  Fields inside(const Json& object, std::string_view name) { return {object, at_.inside(name), out_}; }

  /// Whether the field, whatever its shape, contains `word`.
  bool mentions(const char* name, std::string_view word, bool otherwise) const;

  /// The names of classes in "architectures"; none where it is missing.
  std::vector<std::string> architectures();

  template <class... Parts>
  void note(const Parts&... parts) {
    out_.notes.push_back(printable(concat(parts...)));
  }
  /// What the model computes differently there, not only in training: a note too.
  template <class... Parts>
  void differs(const Parts&... parts) {
    out_.differences.push_back(printable(concat(parts...)));
    out_.notes.push_back(out_.differences.back());
  }
  /// What differs only in training or initialisation: a note too.
  template <class... Parts>
  void differs_in_training(const Parts&... parts) {
    out_.training.push_back(concat(parts...));
    out_.notes.push_back(out_.training.back());
  }
  /// Sizes that the file did not have, as one note.
  void note_defaults(std::string_view model_type);
  /// "config.json: heads is 5; it must be ..."
  [[noreturn]] void refuse(FieldNames names, std::string_view allowed);
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    at_.fail(parts...);
  }
  std::string_view where() const { return at_.where; }

 private:
  struct Found {
    const char* name;
    const Json* value;  // never null
  };
  std::optional<Found> find(FieldNames names) const;

  const Json& object_;
  JsonAt at_;
  HuggingFaceConfig& out_;
  std::vector<std::string> defaults_;
};

}  // namespace addnorm::hugging_face
