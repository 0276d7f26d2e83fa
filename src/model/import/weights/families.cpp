#include "addnorm/model/import.h"
#include "model/import/weights/family.h"

namespace addnorm {
namespace importing {

std::span<const ImportFamily* const> all_families() {
  static const std::array kAll{&gpt2_family(),  &bert_family(), &roberta_family(), &distilbert_family(), &llama_family(),
                               &olmo2_family(), &opt_family(),  &llama2c_family(), &mingpt_family(),     &open_nmt_family()};
  return kAll;
}

const ImportFamily* family_of_type(std::string_view model_type) {
  for (const ImportFamily* family : all_families())
    for (const char* type : family->model_types)
      if (model_type == type) return family;
  return nullptr;
}

}  // namespace importing

std::vector<std::string> import_families() {
  std::vector<std::string> names;
  for (const importing::ImportFamily* family : importing::all_families()) names.emplace_back(family->name);
  return names;
}

}  // namespace addnorm
