#include "report/page.h"

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

constexpr std::string_view kMark = "@@";

/// What `name` stands for; a template with anything else is not ours.
std::string filled_in(std::string_view name, const PageFiles& files, std::string_view title, std::string_view json) {
  if (name == "TITLE") return text_for_html(title);
  if (name == "STYLE_HASH") return std::string(files.style_hash);
  if (name == "SCRIPT_HASH") return std::string(files.script_hash);
  if (name == "STYLE") return std::string(files.style);
  if (name == "SCRIPT") return std::string(files.script);
  if (name == "DATA") return json_for_html(json);
  throw UsageError(
      concat("the page's template has @@", name, "@@; known are TITLE, STYLE_HASH, SCRIPT_HASH, STYLE, SCRIPT, DATA"));
}

}  // namespace

std::string json_for_html(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string text_for_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string page_of(const PageFiles& files, std::string_view title, std::string_view json) {
  std::string out;
  out.reserve(files.frame.size() + files.style.size() + files.script.size() + json.size() + json.size() / 16);
  std::string_view rest = files.frame;
  for (std::size_t begin; (begin = rest.find(kMark)) != std::string_view::npos;) {
    const std::size_t end = rest.find(kMark, begin + kMark.size());
    require(end != std::string_view::npos, "the page's template has an @@ that nothing closes");
    out += rest.substr(0, begin);
    out += filled_in(rest.substr(begin + kMark.size(), end - begin - kMark.size()), files, title, json);
    rest.remove_prefix(end + kMark.size());
  }
  return out += rest;
}

}  // namespace addnorm
