
#include <array>

#include "addnorm/core/error.h"
#include "addnorm/residual/catalogue.h"

namespace addnorm {
namespace {

struct Known {
  const char* pre;
  const char* post;
  const char* top;
  const char* name;
};
// Without dropout; r for a norm is n here.
constexpr std::array kKnown{Known{"", "", "", "plain"},        Known{"", "n", "", "plain-ln"},
                            Known{"", "a", "", "residual"},    Known{"", "an", "", "post-ln"},
                            Known{"n", "a", "n", "pre-ln"},    Known{"n", "a", "", "pre-ln-nofinal"},
                            Known{"n", "na", "n", "sandwich"}, Known{"", "na", "n", "res-post"}};

/// The string with dropout left out and every norm called n. `rms` becomes true where r is a norm.
std::string plain(const std::string& what, const std::string& string, bool r_adds, bool& rms) {
  std::string letters;
  for (const char letter : string) {
    if (letter == 'd') continue;
    require(letter != 'h', what, " '", string, "' has a highway gate (h), which no arrangement of the catalogue has");
    require(letter == 'a' || letter == 'n' || letter == 'r', what, " '", string, "' has the letter '", letter,
            "'; known: d dropout, a add, n layer norm, r RMS norm (or add, where no a is), h highway gate");
    const bool adds = letter == 'a' || (letter == 'r' && r_adds);
    if (letter == 'r' && !adds) rms = true;
    letters += adds ? 'a' : 'n';
  }
  return letters;
}

}  // namespace

Processed arrangement_of(const ProcessStrings& s) {
  // Sockeye's r adds, Marian's r is a norm beside a: whoever writes r after the sub-layer and no a means the former.
  const bool r_adds = s.post.find('a') == std::string::npos;
  bool rms = false;
  const std::string pre = plain("preprocess", s.pre, false, rms), post = plain("postprocess", s.post, r_adds, rms),
                    top = plain("postprocess-top", s.top, false, rms);
  std::string all;
  for (const Known& known : kKnown) {
    if (pre == known.pre && post == known.post && top == known.top)
      return {&arrangement_named(known.name), rms ? "rmsnorm" : "layernorm"};
    all += concat(all.empty() ? "" : ", ", known.name, " '", known.pre, "' '", known.post, "' '", known.top, "'");
  }
  throw UsageError(concat("preprocess '", s.pre, "', postprocess '", s.post, "', postprocess-top '", s.top,
                          "' is no arrangement of the catalogue; those that are, without dropout: ", all));
}

}  // namespace addnorm
