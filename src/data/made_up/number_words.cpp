#include "addnorm/core/error.h"
#include "addnorm/data/tasks.h"

namespace addnorm {
namespace {

constexpr const char* kOnes[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                 "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                 "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr const char* kTens[] = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

void say(std::string& text, const char* word) {
  if (!text.empty()) text += ' ';
  text += word;
}

/// Below 1000, and not 0.
void say_group(std::string& text, std::uint32_t group) {
  if (group >= 100) {
    say(text, kOnes[group / 100]);
    say(text, "hundred");
    group %= 100;
  }
  if (group >= 20) {
    say(text, kTens[group / 10]);
    group %= 10;
  }
  if (group > 0) say(text, kOnes[group]);
}

}  // namespace

std::string number_words(std::uint32_t number) {
  require(number < 1000000000, "number_words: ", number, "; it must be below 1000000000");
  if (number == 0) return kOnes[0];
  std::string text;
  const auto say_scale = [&](std::uint32_t group, const char* scale) {
    if (group == 0) return;
    say_group(text, group);
    if (*scale != '\0') say(text, scale);
  };
  say_scale(number / 1000000, "million");
  say_scale(number / 1000 % 1000, "thousand");
  say_scale(number % 1000, "");
  return text;
}

}  // namespace addnorm
