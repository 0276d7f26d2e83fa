#include "residual/class_texts.h"

#include <array>
#include <cctype>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

constexpr std::array kTexts{
    ClassText{"b2t", "", "x_l: the input of the layer", "", 1},
    ClassText{"resi-dual", "y = x + N(r)", "r: a second stream that starts as x₀", "", 1},
    ClassText{"rskip", "", "", "", 2},
    ClassText{"parallel", "", "", "2d per layer", 0},
    ClassText{"parallel-2ln", "", "", "", 1},
    ClassText{"denseformer", "", "w_lk: learned, start at 1 for k = l and 0 for the others: as pre-ln; y_0 = x₀",
              "l + 1 for layer l", 1},
    ClassText{"dlcl-pre", "y = Σ_{k≤L} w_k N_k(y_k)", "w_lk: learned, start at 1/l; y_0 = x₀, without a norm",
              "2d + l for layer l, L + 1 for the exit", 1},
    ClassText{"dlcl-post", "y = N_L(Σ_{k≤L} w_k y_k)", "w_lk: learned, start at 1/l; y_0 = x₀; no norm before layer 1",
              "2d + l for layer l, L + 1 for the exit", 1},
};

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
