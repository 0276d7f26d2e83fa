// Arrangements by name: those of the catalogue and those that the program registered.
#include <cctype>
#include <deque>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/catalogue.h"
#include "core/system/mutex.h"
#include "residual/class_arrangement.h"

namespace addnorm {
namespace {

/// Arrangements that the program added. A deque: references to earlier ones stay good.
struct Registered {
  Mutex guard;
  std::deque<Arrangement> rows;
};
Registered& registered() {
  static Registered all;
  return all;
}

std::string as_written(std::string_view name) { return std::string(name); }
std::string dashed(std::string_view name) {
  std::string all(name);
  for (char& c : all) c = c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}
std::string squeezed(std::string_view name) {
  std::string all = folded(name);
  std::erase(all, ' ');
  return all;
}

/// The row of which some name, written by `same`, equals `wanted`; null if there is none.
const Arrangement* find(const std::string& wanted, std::string (*same)(std::string_view)) {
  for (const Arrangement& row : arrangements()) {
    if (same(row.name) == wanted) return &row;
    for (const std::string& alias : row.aliases)
      if (same(alias) == wanted) return &row;
  }
  return nullptr;
}

void require_new(const Arrangement& row, const std::string& name) {
  const Arrangement* other = find(squeezed(name), squeezed);
  require(!other, "register_arrangement: '", name, "'", name == row.name ? "" : concat(", an alias of '", row.name, "',"),
          " already names ", other ? other->name : "", "; choose another name");
}

}  // namespace

std::vector<std::reference_wrapper<const Arrangement>> arrangements() {
  std::vector<std::reference_wrapper<const Arrangement>> all(catalogue_rows().begin(), catalogue_rows().end());
  const MutexLock lock(registered().guard);
  all.insert(all.end(), registered().rows.begin(), registered().rows.end());
  return all;
}

std::vector<std::string> arrangement_names() {
  std::vector<std::string> names;
  for (const Arrangement& row : arrangements()) names.push_back(row.name);
  return names;
}

// From the strictest reading to the loosest: without its dash and its capital, ResiDual would be residual.
const Arrangement& arrangement_named(std::string_view name) {
  for (const auto same : {as_written, dashed, squeezed})
    if (const Arrangement* row = find(same(name), same)) return *row;
  throw UsageError(unknown_name("arrangement", name, arrangement_names()));
}

const Arrangement& register_arrangement(Arrangement arrangement) {
  static Mutex one_at_a_time;  // nothing is added between looking and adding
  const MutexLock lock(one_at_a_time);
  require(!squeezed(arrangement.name).empty(), "register_arrangement: the arrangement has no name");
  require(!arrangement.make || !arrangement.text.empty(), "register_arrangement: '", arrangement.name,
          "' is a class without text; say its formula there");
  require_new(arrangement, arrangement.name);
  for (const std::string& alias : arrangement.aliases) require_new(arrangement, alias);
  const MutexLock adding(registered().guard);
  return registered().rows.emplace_back(std::move(arrangement));
}

}  // namespace addnorm
