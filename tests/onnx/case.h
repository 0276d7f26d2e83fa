// One case of the ONNX backend node tests: a folder with case.txt and the tensors as .npy files.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/npy.h"

namespace addnorm::test::onnx {

struct Case {
  std::string name, op;
  std::map<std::string, std::string> attributes;
  std::vector<std::optional<Npy>> inputs, outputs;  // by slot; empty where a slot is absent

  bool has(std::size_t slot) const { return slot < inputs.size() && inputs[slot].has_value(); }
  const Npy& in(std::size_t slot) const {
    if (!has(slot)) throw DataError(concat(name, ": input ", slot, " is absent"));
    return *inputs[slot];
  }
  Var var(std::size_t slot) const { return has(slot) ? Var(in(slot).tensor()) : Var(); }

  std::string text(const std::string& attribute, const std::string& fallback) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? fallback : found->second;
  }
  bool given(const std::string& attribute) const { return attributes.contains(attribute); }
  double real(const std::string& attribute, double fallback) const {
    return given(attribute) ? std::stod(attributes.at(attribute)) : fallback;
  }
  std::ptrdiff_t integer(const std::string& attribute, std::ptrdiff_t fallback) const {
    return given(attribute) ? std::stol(attributes.at(attribute)) : fallback;
  }
};

/// "op NAME", "attr NAME TYPE VALUE", "input|output SLOT NAME DTYPE SHAPE FILE" or "input|output SLOT - absent".
inline Case read_case(const std::filesystem::path& folder) {
  Case c;
  c.name = folder.filename().string();
  std::ifstream in(folder / "case.txt");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "op") words >> c.op;
    if (kind == "attr") {
      std::string name, type;
      words >> name >> type;
      words >> std::ws;
      std::getline(words, c.attributes[name]);
    }
    if (kind != "input" && kind != "output") continue;
    std::size_t slot = 0;
    std::string name, dtype, shape, file;
    words >> slot >> name >> dtype >> shape >> file;
    auto& slots = kind == "input" ? c.inputs : c.outputs;
    slots.resize(std::max(slots.size(), slot + 1));
    if (name != "-") slots[slot].emplace(folder / file);
  }
  return c;
}

inline std::vector<Case> read_cases(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Case> cases;
  for (const auto& folder : folders) cases.push_back(read_case(folder));
  return cases;
}

}  // namespace addnorm::test::onnx
