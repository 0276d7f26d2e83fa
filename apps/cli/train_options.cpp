#include "train_options.h"

#include <nlohmann/json.hpp>

#include "core/file.h"
#include "value.h"

namespace addnorm::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* value_text(OptionText::Value value) {
  switch (value) {
    case OptionText::Value::whole:
      return " N";
    case OptionText::Value::number:
      return " X";
    case OptionText::Value::texts:
      return " PATH,...";
    default:
      return " NAME";
  }
}

Json value_of(OptionText::Value value, const std::string& text) {
  switch (value) {
    case OptionText::Value::whole:
      return parse_value<std::uint64_t>(text);
    case OptionText::Value::number:
      return parse_value<double>(text);
    case OptionText::Value::texts:
      return list_items(text);
    default:
      return parse_value<std::string>(text);
  }
}

}  // namespace

struct OptionCollector::Impl {
  Json given = Json::object();
};

OptionCollector::OptionCollector() : impl_(std::make_shared<Impl>()) {}
OptionCollector::~OptionCollector() = default;

void OptionCollector::declare(Command& command) {
  const std::shared_ptr<Impl> impl = impl_;
  for (const OptionText& option : option_texts()) {
    const std::string name = option_name(option.name);
    const auto set = [impl, key = option.name](Json value) { impl->given[key] = std::move(value); };
    if (option.value == OptionText::Value::flag) {
      command.flag(
          name, option.help, [set] { set(true); }, option.group);
    } else if (option.value == OptionText::Value::yes_no) {
      command.flag(
          name, option.help, [set] { set(true); }, option.group);
      command.flag(
          option_name("no_" + option.name), "the opposite", [set] { set(false); }, option.group);
    } else {
      command.given(
          name + value_text(option.value), option.help,
          [set, kind = option.value](const std::string& text) { set(value_of(kind, text)); }, option.group);
    }
  }
}

GivenOptions OptionCollector::given(const std::filesystem::path& file) const {
  Json all = Json::object();
  if (!file.empty()) {
    const std::string text = small_text(file, "a file of options");
    run_options_from_json(text, file.string());  // complaints about it name the file
    const Json read = Json::parse(text);
    for (const auto& [name, value] : read.items()) all[std::string(field_named(name))] = value;
  }
  for (const auto& [name, value] : impl_->given.items()) all[name] = value;
  try {
    return run_options_from_json(all.dump(), "options");
  } catch (const DataError& error) {  // what the command line says is usage
    throw UsageError(error.what());
  }
}

bool OptionCollector::has(const std::string& name) const { return impl_->given.contains(name); }

}  // namespace addnorm::cli
