#include "addnorm/model/hugging_face.h"

#include "addnorm/core/names.h"
#include "addnorm/residual/catalogue.h"
#include "core/file.h"
#include "model/import/config/parts.h"

namespace addnorm {
namespace {

using hugging_face::Family;
using hugging_face::Fields;

std::vector<Family> known_families() {
  std::vector<Family> all;
  for (const auto families : {hugging_face::gpt_families(), hugging_face::falcon_families(), hugging_face::bert_families(),
                              hugging_face::llama_families(), hugging_face::seq2seq_families()})
    all.insert(all.end(), families.begin(), families.end());
  return all;
}

/// "GPT2LMHeadModel" is of GPT2, "Qwen2MoeForCausalLM" not of Qwen2.
bool is_class_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  for (const char* kind : {"For", "Model", "LMHeadModel", "LMModel", "MTModel", "EncoderModel", "DoubleHeadsModel"})
    if (name.starts_with(kind)) return true;
  return false;
}

/// "config.json: model_type is "mamba"; known: gpt2, ..."
[[noreturn]] void refuse_type(const Fields& f, const char* field, const std::string& given) {
  const std::vector<std::string> known = hugging_face_model_types();
  const std::string near = nearest_name(given, known);
  f.fail(field, " is ", Json(given).dump(), ", a kind of model that cannot be read", near.empty() ? "" : "; did you mean ", near,
         near.empty() ? "" : "?", "; known: ", listed(known));
}

Family family_of(Fields& f) {
  const std::string type = f.text({"model_type"}, "");
  const std::vector<std::string> classes = f.architectures();
  if (type.empty() && classes.empty())
    f.fail("model_type is missing, and architectures too; one of them must say what kind of model it is: ",
           listed(hugging_face_model_types()));
  for (const Family& family : known_families())
    if (type.empty() ? is_class_of(classes.front(), family.prefix) : type == family.model_type) return family;
  if (type.empty()) refuse_type(f, "architectures", classes.front());
  refuse_type(f, "model_type", type);
}

}  // namespace

std::vector<std::string> hugging_face_model_types() {
  std::vector<std::string> all;
  for (const Family& family : known_families()) all.emplace_back(family.model_type);
  return all;
}

bool is_hugging_face_config(std::string_view text) {
  const Json json = parsed_or_null(text);
  const Json* type = json.find("model_type");
  return type ? *type != "addnorm" : json.contains("architectures");
}

HuggingFaceConfig hugging_face_config(std::string_view text, std::string_view where) {
  const Json json = parsed(text, where);
  const JsonAt at{where, ""};
  if (!json.is_object()) at.fail("the file holds ", json.type_name(), "; an object with model_type, hidden_size, ... is needed");
  HuggingFaceConfig out;
  Fields fields(json, at, out);
  if (fields.object_if_given("text_config"))
    fields.fail(
        "text_config is there: a model of several parts; give that object, the config of its text model, as a file of its own");
  const Family family = family_of(fields);
  out.model_type = family.model_type;
  family.read(fields, out);
  fields.note_defaults(out.model_type);
  try {
    completed(out.config);
  } catch (const UsageError& error) {
    fields.fail(error.what());
  }
  return out;
}

HuggingFaceConfig read_hugging_face_config(const std::filesystem::path& path) {
  return hugging_face_config(small_text(path, "a model's config"), path.string());
}

ModelConfig with_own_init(const HuggingFaceConfig& read) {
  ModelConfig config = read.config;
  if (read.init) config.init = *read.init;
  return config;
}

}  // namespace addnorm
