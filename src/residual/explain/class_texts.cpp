#include "residual/explain/class_texts.h"

#include <array>
#include <cctype>

#include "addnorm/core/error.h"
#include "residual/catalogue/unit_groups.h"

namespace addnorm {
namespace {

constexpr std::array kTexts{
    ClassText{"b2t", "", "x_l: the input of the layer", "", 1, 0, "", ""},
    ClassText{"resi-dual", "y = x + N(r)", "r: a second stream that starts as x₀", "", 1, 0, "", ""},
    ClassText{"rskip", "", "", "", 2, 0, "", ""},
    ClassText{"parallel", "", "", "", 0, 1, "", ""},
    ClassText{"parallel-2ln", "", "", "", 1, 0, "", ""},
    ClassText{"denseformer", "", "w_lk: learned, start at 1 for k = l and 0 for the others: as pre-ln; y_0 = x₀", "", 1, 0,
              "l + 1", ""},
    ClassText{"dlcl-pre", "y = Σ_{k≤L} w_k N_k(y_k)", "w_lk: learned, start at 1/l; y_0 = x₀", ", without a norm", 1, 1, "l",
              "L + 1"},
    ClassText{"dlcl-post", "y = N_{L+1}(Σ_{k≤L} w_k y_k)", "w_lk: learned, start at 1/l; y_0 = x₀", "; no norm before layer 1", 1,
              1, "l", "L + 1"},
};

/// Of a published text that stands for the factor 1: with the factor that was chosen.
std::string scaled(double factor, const std::string& x) { return factor == 1 ? x : concat(short_number(factor), "·", x); }

}  // namespace

const ClassText* find_class_text(const std::string& name) {
  for (const ClassText& text : kTexts)
    if (name == text.name) return &text;
  return nullptr;
}

const ClassText& class_text(const std::string& name) {
  const ClassText* text = find_class_text(name);
  require(text != nullptr, "arrangement '", name, "' is a class of your own: its text is all that can be told of it");
  return *text;
}

std::string exit_text(const ClassText& text, const Arrangement& row) {
  const double share = row.choices.stream_share.value_or(1);
  if (share == 1) return text.exit;
  return share == 0 ? "y = N(r)" : concat("y = ", scaled(share, "x"), " + N(r)");
}

std::string symbols_text(const ClassText& text, const Arrangement& row, const NormKindOptions& norm) {
  if (const auto scale = row.choices.second_stream_scale)
    return concat("r: a second stream that starts as ", scaled(*scale, "x₀"));
  return concat(text.symbols, symbol_of(norm).empty() ? "" : text.norm_note);
}

std::size_t norms_per_unit(const ClassText& text, const Arrangement& row) {
  if (row.choices.shared_norms.value_or(false)) return 1;
  return row.choices.recursions.value_or(text.norms);
}

std::string with_norm(const std::string& text, const NormKindOptions& norm) {
  const std::string symbol = symbol_of(norm);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word = i > 0 && std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;  // FFN
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] != 'N' || inside_word || (next != '(' && next != '_')) {
      out += text[i];
    } else if (!symbol.empty()) {
      out += symbol;
    } else {  // without its index, and without brackets around a single name
      const std::size_t open = text.find('(', i), close = text.find(')', i);
      const std::string inside = text.substr(open + 1, close - open - 1);
      const bool single = inside.find_first_of(" (") == std::string::npos;
      if (single) out += inside;
      i = single ? close : open - 1;
    }
  }
  return out;
}

}  // namespace addnorm
