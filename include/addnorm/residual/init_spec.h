// How weights start: one table of rules by name, and the options that choose among them.
//
// A rule says from which distribution each kind of matrix is drawn (a base, and others by role), and by which gains that follow
// from role and depth. Gains of norms start at 1 and biases at 0, except where a rule draws them; coefficients of residual sums
// start as their arrangement says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/nn/kinds.h"
#include "addnorm/residual/stack.h"

namespace addnorm {

struct Arrangement;

/// A matrix outside of the stack, and what it is called in texts.
struct OuterMatrix {
  Role role = Role::head;
  std::string name{};  ///< "out.weight"; empty: as in any model ("embeddings")
};

/// A stack, and what else starts by its rule: what texts about initialisation describe.
struct DrawnStack {
  DrawnStack(const StackShape& stack) : shape(stack) {}  ///< of no model in particular

  StackShape shape;
  /// Nothing: embeddings, learned positions and a head of its own, which an encoder beside a decoder does not have.
  std::optional<std::vector<OuterMatrix>> outer{};
  bool biases = true;

  bool has(Role matrix) const;
};

/// A gain on top of the distribution, by role.
struct InitGain {
  std::vector<Role> roles;
  DepthRule gain;
  bool cross = true;                    ///< cross-attention too
  bool added = false;                   ///< not the rule's own: of the arrangement's formula, or asked for
  std::optional<SubLayer> sub_layer{};  ///< only there
  bool contained = false;               ///< with_init: of the formula, where `added` may be asked for

  bool acts_on(Role role, std::optional<SubLayer> at) const;  ///< a matrix of this role, in a sub-layer or outside of them
};

struct InitSpec {
  enum class Base : unsigned char {
    xavier_uniform,  ///< variance 2 / (fan_in + fan_out)
    xavier_normal,   ///< the same variance
    normal,          ///< N(0, deviation^2), whatever the widths
    fan_in_uniform,  ///< U(-b, b) with b = 1 / sqrt(fan_in): nn.Linear's
    fan_in_normal,   ///< N(0, 1 / fan_in)
    small_normal,    ///< N(0, 2 / (5 d)), d the width of the stream: Nguyen and Salazar's SmallInit
  };
  /// Another distribution for some roles; of several for one role the last holds.
  struct Draw {
    std::vector<Role> roles;  ///< matrices, or biases
    Base base = Base::normal;
    double deviation = 1;                 ///< of `normal`
    std::optional<SubLayer> sub_layer{};  ///< only there
  };
  Base base = Base::xavier_uniform;
  double deviation = 0.02;  ///< of `normal`
  std::vector<InitGain> gains{};
  std::vector<Draw> draws{};  ///< embeddings that none names: as the base where that is `normal`, else N(0, 1/d)
  std::string name{};         ///< "gpt2"; of rows without a rule of the table what their file calls it, else empty
  std::string source{};       ///< where it comes from, and who starts so

  const Draw* draw_of(Role role, std::optional<SubLayer> sub_layer) const;  ///< null: the base
};

/// The table, in the order in which it is shown.
const std::vector<InitSpec>& init_rules();
std::vector<std::string> init_rule_names();
/// By name or alias; case, dash, underscore and space do not matter. Null: there is none.
const InitSpec* find_init_rule(std::string_view name);
/// The same; an unknown one is a UsageError with the nearest and the list.
const InitSpec& init_rule_named(std::string_view name);

inline constexpr const char* kInitOfArrangement = "arrangement";
/// What an `init` is called in records: kInitOfArrangement, or the name of its rule; "": there is no such rule.
std::string canonical_init(std::string_view name);

/// How the weights of a model start; nothing said: as the source of its arrangement prescribes.
struct InitOptions {
  std::string rule = kInitOfArrangement;  ///< that, or a name of init_rules()
  std::optional<double> deviation{};      ///< in place of that of a rule with a normal base (gpt2, bert)
  std::optional<double> embedding_std{};  ///< deviation of token vectors and learned positions
  std::optional<double> position_std{};   ///< deviation of learned positions, where it is another
  double branch_scale = 1;                ///< a factor on W_o and W_2, the matrices that write into the stream

  bool by_arrangement() const { return folded(rule) == kInitOfArrangement; }
  friend bool operator==(const InitOptions&, const InitOptions&) = default;
};

/// A UsageError that names the field, and the nearest rule, where `rule` is none.
void check_rule(const InitOptions& options, const FieldWords& words = nullptr);

/// The row that starts so: its `init` is the rule's with the options in it. Gains that are part of the row's formula
/// (Arrangement::gains_in_formula) stay, and stand in place of the rule's on the same matrices; where they leave out
/// cross-attention, the rule's stay there. A UsageError where an option has nothing to act on, contradicts the formula, or would
/// make weights that float32 does not hold; `words`: what fields are called in it.
Arrangement with_init(const Arrangement& row, const InitOptions& options, const FieldWords& words = nullptr);

/// What the formula of an arrangement says of the start of a model's stacks (one, or encoder and decoder), which no rule changes:
/// "W_v, W_o, W_1, W_2: times (8L)^−¼", "α starts at 0". What differs between two stacks begins with its own: "decoder: ...".
std::vector<std::string> contained_init(const Arrangement& row, const std::vector<DrawnStack>& stacks);
/// The formula has gains of some of these matrices: how they start is not to be said beside it.
bool contains_start(const Arrangement& row, const std::vector<Role>& matrices);
/// What a user should know of the two together: gains of the rule that the formula takes the place of, depth counted twice, a
/// branch scale on top of the formula's gains; and of deviations and factors far above those of any rule. `words`: see with_init.
std::vector<std::string> init_notes(const Arrangement& row, const InitOptions& options, const FieldWords& words = nullptr);

}  // namespace addnorm
