// Nothing unused, nothing missing: each tensor of a file finds its place, or the error shows both lists.
#include <algorithm>
#include <map>

#include "core/printable.h"
#include "model/import/weights/layout.h"

namespace addnorm::importing {
namespace {

/// "h.{}.ln_1" of layer 3 -> "h.3.ln_1".
std::string numbered(std::string_view name, std::size_t layer) {
  std::string out(name);
  if (const std::size_t at = out.find("{}"); at != std::string::npos) out.replace(at, 2, std::to_string(layer));
  return out;
}
bool of_layers(std::string_view name) { return name.find("{}") != std::string_view::npos; }

struct Wanted {
  Shape shape;
  std::vector<Part> parts;
  bool placed = false;
};

class Accountant {
 public:
  Accountant(const ImportFamily& family, Model& model, const WeightSource& source)
      : family_(family), source_(source), arrangement_(model.config().arrangement), used_(source.tensors().size()) {
    for_each_parameter(model, [&](Parameter& p) { wanted_[p.path] = {p.value.shape(), p.parts}; });
    const ModelConfig& config = model.config();
    layers_ = std::max(config.layers, config.decoder_layers);
    prefix_ = prefix();
  }

  Accounts settle(const std::string& where) {
    for (const NameRow& row : family_.body) each_layer(row.ours, [&](std::size_t layer) { place(row, layer, prefix_); });
    for (const NameRow& row : family_.top) each_layer(row.ours, [&](std::size_t layer) { place(row, layer, ""); });
    for (const auto& [path, wanted] : wanted_)
      require(wanted.placed, "import: the table of ", family_.name, " has no name for ", path);
    for (const CopyRow& row : family_.copies) copy(row);
    for (const UnusedRow& row : family_.unused) each_layer(row.theirs, [&](std::size_t layer) { pass_over(row, layer); });
    complain(where);
    return std::move(out_);
  }

 private:
  /// The one with which the first name of the table is there; where that is missing itself, any other.
  std::string prefix() const {
    for (const NameRow& row : family_.body)
      for (const char* prefix : family_.prefixes)
        if (find(prefix, numbered(row.theirs[0], 0), "weight")) return prefix;
    return family_.prefixes.front();
  }

  template <class Body>
  void each_layer(std::string_view name, Body&& body) {
    for (std::size_t layer = 0; layer < (of_layers(name) ? layers_ : 1); ++layer) body(layer);
  }

  /// By its name, or by what norms were called once: gamma and beta.
  const SourceTensor* find(std::string_view prefix, std::string_view module, std::string_view kind) const {
    const char separator = module.find('/') == std::string_view::npos ? '.' : '/';
    const std::string start = concat(prefix, module, separator);
    const SourceTensor* found = source_.find(concat(start, kind));
    return found ? found : source_.find(concat(start, kind == "weight" ? "gamma" : "beta"));
  }

  /// "residual.layers.0.self.*" -> "residual.layers.0.self.in"; empty: the model has no norm there.
  std::string with_slot(const std::string& ours) const {
    if (!ours.ends_with('*')) return ours;
    const std::string start = ours.substr(0, ours.size() - 1);
    std::string found;
    for (const char* slot : {"in", "post", "out"}) {
      if (!wanted_.contains(concat(start, slot, ".weight"))) continue;
      require(found.empty(), "import: ", start.substr(0, start.size() - 1), " has several norms, ", family_.name, " has one");
      found = start + slot;
    }
    return found;
  }

  void place(const NameRow& row, std::size_t layer, const std::string& prefix) {
    const std::string ours = with_slot(numbered(row.ours, layer));
    if (ours.empty()) return;
    for (const char* kind : {"weight", "bias"}) {
      const bool alone = ours.ends_with(concat(".", kind));
      const std::string path = alone ? ours : concat(ours, ".", kind);
      const auto found = wanted_.find(path);
      if (found == wanted_.end()) continue;
      std::vector<std::string> names;
      for (const char* theirs : row.theirs)
        if (theirs)
          names.push_back(alone ? prefix + numbered(theirs, layer) : name_of_theirs(prefix, numbered(theirs, layer), kind));
      place(path, found->second, row.layout, names, ours);
    }
  }
  std::string name_of_theirs(const std::string& prefix, const std::string& module, const char* kind) const {
    const SourceTensor* found = find(prefix, module, kind);
    const char* separator = module.find('/') == std::string::npos ? "." : "/";
    return found ? found->name : concat(prefix, module, separator, kind);
  }

  void place(const std::string& path, Wanted& wanted, MatrixLayout layout, const std::vector<std::string>& names,
             const std::string& ours) {
    wanted.placed = true;
    Placed placed{.ours = path, .layout = wanted.shape.rank() == 2 ? layout : MatrixLayout::out_in, .pieces = {}};
    const std::vector<std::size_t> rows = rows_of_pieces(wanted, names.size(), ours);
    std::size_t first = 0;
    for (std::size_t i = 0; i < names.size(); first += rows[i], ++i) {
      Shape shape = wanted.shape.with(0, rows[i]);
      if (placed.layout == MatrixLayout::in_out) shape = Shape{shape[1], shape[0]};
      if (const auto tensor = take(names[i], shape)) placed.pieces.push_back({*tensor, first, rows[i]});
    }
    out_.placed.push_back(std::move(placed));
  }

  /// One piece is all of it; several are its parts: q, k and v; gate and what it multiplies. A bias has the rows of its matrix.
  std::vector<std::size_t> rows_of_pieces(const Wanted& wanted, std::size_t pieces, const std::string& ours) const {
    if (pieces == 1) return {wanted.shape[0]};
    const auto matrix = wanted_.find(ours + ".weight");
    const std::vector<Part>& parts = matrix == wanted_.end() ? wanted.parts : matrix->second.parts;
    require(parts.size() == pieces, "import: ", ours, " has ", parts.size(), " parts, the table of ", family_.name, " has ",
            pieces);
    std::vector<std::size_t> rows;
    for (const Part& part : parts) rows.push_back(part.rows);
    return rows;
  }

  /// The tensor's index, or what is wrong with it among the complaints.
  std::optional<std::size_t> take(const std::string& name, const Shape& shape) {
    const SourceTensor* found = source_.find(name);
    if (!found) {
      missing_.add(concat(name, " ", shape));
      if (missing_.count() == 1) first_missing_ = name;
      return std::nullopt;
    }
    const auto index = static_cast<std::size_t>(found - source_.tensors().data());
    used_[index] = true;
    if (found->shape != shape)
      shapes_.add(concat(name, " is ", found->shape, " in the file, ", shape, " by the config",
                         shape.rank() == 2 && found->shape == Shape{shape[1], shape[0]} ? " (transposed)" : ""));
    else if (found->dtype != "F32" && found->dtype != "F16" && found->dtype != "BF16")
      types_.add(concat(name, " is ", found->dtype));
    return index;
  }

  void copy(const CopyRow& row) {
    const SourceTensor* found = source_.find(row.theirs);
    const auto ours = wanted_.find(row.ours);
    if (!found || ours == wanted_.end() || used_[index_of(*found)]) return;
    if (const auto tensor = take(row.theirs, ours->second.shape))
      out_.copies.push_back({.ours = row.ours, .layout = MatrixLayout::out_in, .pieces = {{*tensor, 0, ours->second.shape[0]}}});
  }

  void pass_over(const UnusedRow& row, std::size_t layer) {
    for (const std::string& prefix : {prefix_, std::string()}) {
      const SourceTensor* found = source_.find(prefix + numbered(row.theirs, layer));
      if (!found || used_[index_of(*found)]) continue;
      used_[index_of(*found)] = true;
      out_.unused.push_back(index_of(*found));
      if (row.why && std::ranges::find(out_.notes, row.why) == out_.notes.end()) out_.notes.emplace_back(row.why);
    }
  }
  std::size_t index_of(const SourceTensor& tensor) const { return static_cast<std::size_t>(&tensor - source_.tensors().data()); }

  void complain(const std::string& where) const {
    FirstFew left;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (!used_[i]) left.add(concat(source_.tensors()[i].name, " ", source_.tensors()[i].shape));
    std::string all;
    const auto say = [&](const FirstFew& list, const char* one, const char* more) {
      if (list.count() == 0) return;
      all.append(all.empty() ? "" : "; ").append(concat(list.count(), list.count() == 1 ? one : more, ": ", list.text()));
    };
    say(missing_, " tensor of the model is missing", " tensors of the model are missing");
    say(left, " tensor of the file is left over", " tensors of the file are left over");
    say(shapes_, " has another shape", " have another shape");
    say(types_, " is of a type that is not read (F32, F16, BF16)", " are of a type that is not read (F32, F16, BF16)");
    if (all.empty()) return;
    throw DataError(concat(where, ": config and weights do not fit together (", family_.name, "): ", all, hint()));
  }

  /// The most frequent cause.
  std::string hint() const {
    for (const NameRow& row : family_.body) {
      if (!std::string_view(row.ours).ends_with("residual.exit")) continue;
      const bool there = find(prefix_, row.theirs[0], "weight"), wanted = wanted_.contains(concat(row.ours, ".weight"));
      if (there && !wanted)
        return concat("; ", row.theirs[0], " is a norm at the end, as pre-ln has it, but the config says ", arrangement_,
                      ": is the config right?");
      if (wanted && !there)
        return concat("; the config says ", arrangement_, ", which ends in a norm, but there is none (", row.theirs[0],
                      "): it was lost, or these are the norms of post-ln");
    }
    for (const CopyRow& row : family_.copies)
      if (std::string_view(row.ours).ends_with("embedding.weight")) return hint_of_head(row);
    return {};
  }
  /// Of the table of tokens and a tensor that repeats it where the head is tied.
  std::string hint_of_head(const CopyRow& row) const {
    const bool tied = !wanted_.contains("head.weight");
    if (!tied && first_missing_ == row.theirs)
      return "; is tie_word_embeddings to be true, or are these weights without their head?";
    const std::string table = name_of_theirs(prefix_, family_.body.front().theirs[0], "weight");
    if (tied && first_missing_ == table && source_.find(row.theirs))
      return concat("; ", row.theirs, " is there, and by the config (tie_word_embeddings) both are one: store it as ", table,
                    " too");
    return {};
  }

  const ImportFamily& family_;
  const WeightSource& source_;
  std::string arrangement_;
  std::vector<bool> used_;
  std::map<std::string, Wanted> wanted_;
  std::size_t layers_ = 0;
  std::string prefix_;
  Accounts out_;
  FirstFew missing_, shapes_, types_;
  std::string first_missing_;
};

}  // namespace

Accounts accounts_of(const ImportFamily& family, Model& model, const WeightSource& source, const std::string& where) {
  return Accountant(family, model, source).settle(where);
}

}  // namespace addnorm::importing
