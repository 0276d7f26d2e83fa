// The page around the data: template, style and script of web/, as the build bundled them.
#pragma once

#include <string>
#include <string_view>

namespace addnorm {

struct PageFiles {
  std::string_view frame{};   ///< index.html with its placeholders, @@TITLE@@ and so on: web/README.md
  std::string_view style{};   ///< page.css
  std::string_view script{};  ///< page.js
  // Of these two, "sha256-" and the digest in base64: what a Content-Security-Policy wants. Computed by the build.
  std::string_view style_hash{};
  std::string_view script_hash{};
};

/// What is inside this library.
PageFiles built_in_page();
/// src/claims/results as they were when this was built: a JSON array.
std::string_view built_in_claims();

/// JSON that may stand inside an HTML element: every "<" is written as \u003c, so that no text of it ends the element or begins
/// another one; U+2028 and U+2029, line ends to a script, the same way.
std::string json_for_html(std::string_view json);

/// & < > and both quotes as entities.
std::string text_for_html(std::string_view text);

/// The whole file. Placeholders are filled in one pass, so that what is put in is never taken for a placeholder; the policy has
/// the hashes of exactly the style and script that are in it.
std::string page_of(const PageFiles& files, std::string_view title, std::string_view json);

}  // namespace addnorm
