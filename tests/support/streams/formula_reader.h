// Reads formulas as they are printed and computes them: "u = LN(x); x' = u + F(u/√l)" over Vars, "(2L)^¼" over numbers.
//
//   text   = name '=' sum { ';' name '=' sum }
//   sum    = term { ('+' | '−') term }
//   term   = power { ('·' | '⊙' | '/') power },  also side by side: 2L
//   power  = atom [ '^' atom ]
//   atom   = number | ¼ | '−' atom | '√' atom | name | name '(' sum ')' | '(' sum ')'
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "addnorm/autograd/ops.h"

namespace addnorm::test {

/// A number; or a Var: rows [..., n], or one vector [n] as a factor.
using FormulaValue = std::variant<double, Var>;
/// What the names stand for.
struct FormulaWorld {
  std::map<std::string, FormulaValue> values{};
  std::function<FormulaValue(const std::string& function, const FormulaValue& x)> call{};
};

class FormulaReader {
 public:
  FormulaReader(std::string_view text, FormulaWorld& world) : rest_(text), world_(world) {}

  /// All statements in order; each adds its name to the world. Anything left over is an error.
  void run() {
    do {
      const std::string name = this->name();
      require_next("=");
      const FormulaValue value = sum();
      world_.values[name] = value;
    } while (take(";"));
    if (!rest_.empty()) fail("the end");
  }
  FormulaValue expression() {
    FormulaValue value = sum();
    if (!rest_.empty()) fail("the end");
    return value;
  }

 private:
  FormulaValue sum() {
    FormulaValue left = term();
    while (true) {
      if (take("+"))
        left = plus(left, term(), 1);
      else if (take("−"))
        left = plus(left, term(), -1);
      else
        return left;
    }
  }

  FormulaValue term() {
    FormulaValue left = power();
    while (true) {
      if (take("·") || take("⊙"))
        left = product(left, power());
      else if (take("/"))
        left = product(left, 1 / std::get<double>(power()));
      else if (!rest_.empty() && (starts_name() || rest_.front() == '('))
        left = product(left, power());
      else
        return left;
    }
  }

  FormulaValue power() {
    const FormulaValue base = atom();
    if (!take("^")) return base;
    return std::pow(std::get<double>(base), std::get<double>(atom()));
  }

  FormulaValue atom() {
    if (take("¼")) return 0.25;
    if (take("−")) return -std::get<double>(atom());
    if (take("√")) return std::sqrt(std::get<double>(atom()));
    if (take("(")) return closed();
    skip();
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) {
      std::size_t length = 0;
      const double value = std::stod(std::string(rest_), &length);
      rest_.remove_prefix(length);
      return value;
    }
    const std::string word = name();
    if (!rest_.empty() && rest_.front() == '(') {
      take("(");
      return called(word, closed());
    }
    const auto found = world_.values.find(word);
    if (found == world_.values.end()) fail("a known name, not " + word);
    return found->second;
  }

  FormulaValue closed() {
    FormulaValue inside = sum();
    require_next(")");
    return inside;
  }

  FormulaValue called(const std::string& function, const FormulaValue& x) {
    if (function == "ln") return std::log(std::get<double>(x));
    const auto number = world_.values.find(function);
    if (number != world_.values.end()) return product(number->second, x);  // n(n + 1)
    return world_.call(function, x);
  }

  static FormulaValue product(const FormulaValue& a, const FormulaValue& b) {
    if (std::holds_alternative<double>(a) && std::holds_alternative<double>(b)) return std::get<double>(a) * std::get<double>(b);
    if (std::holds_alternative<double>(a)) return scale(std::get<Var>(b), std::get<double>(a));
    if (std::holds_alternative<double>(b)) return scale(std::get<Var>(a), std::get<double>(b));
    const Var &x = std::get<Var>(a), &y = std::get<Var>(b);
    return x.shape().rank() == 1 ? mul_row(y, x) : mul_row(x, y);
  }
  static FormulaValue plus(const FormulaValue& a, const FormulaValue& b, double sign) {
    if (std::holds_alternative<double>(a)) return std::get<double>(a) + sign * std::get<double>(b);
    return add(std::get<Var>(a), sign == 1 ? std::get<Var>(b) : scale(std::get<Var>(b), sign));
  }

  static bool is_operator(std::string_view text) {
    static constexpr std::array<std::string_view, 6> kSigns{"·", "⊙", "√", "−", "¼", "Σ"};
    for (const std::string_view sign : kSigns)
      if (text.starts_with(sign)) return true;
    return false;
  }
  static bool is_letter(std::string_view text) {
    const auto c = static_cast<unsigned char>(text.front());
    return std::isalpha(c) != 0 || c == '_' || c == '\'' || (c >= 0x80 && !is_operator(text));
  }
  bool starts_name() {
    skip();
    return !rest_.empty() && is_letter(rest_);
  }
  /// Letters of any script with their indices; digits within.
  std::string name() {
    if (!starts_name()) fail("a name");
    std::string all;
    while (!rest_.empty() && (is_letter(rest_) || (all.find('_') != std::string::npos && std::isdigit(rest_.front()) != 0))) {
      do {
        all += rest_.front();
        rest_.remove_prefix(1);
      } while (!rest_.empty() && (static_cast<unsigned char>(rest_.front()) & 0xC0) == 0x80);  // the rest of the character
    }
    return all;
  }

  void skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    skip();
    return true;
  }
  void require_next(std::string_view sign) {
    if (!take(sign)) fail(std::string(sign));
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    throw std::invalid_argument("expected " + wanted + " before '" + std::string(rest_) + "'");
  }

  std::string_view rest_;
  FormulaWorld& world_;
};

}  // namespace addnorm::test
