// The picture of an arrangement: one layer as a token's vector goes through it, drawn from the row.
//
// A diagram says what follows what and where ways part and meet, and nothing about places: each format lays it out itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "addnorm/nn/norm_kind.h"
#include "addnorm/residual/arrangement.h"

namespace addnorm {

struct DiagramStep {
  enum class Kind : unsigned char {
    norm,
    factor,       ///< "α·", "λ⊙", "/√l"
    branch,       ///< a sub-layer, or a part of one
    sum,          ///< ways part and meet again in a sum
    keep,         ///< the second line takes what is here
    mix,          ///< what is kept on the second line comes back, weighted
    side_norm,    ///< a norm of the second line
    side_factor,  ///< a factor of the second line
    side_sum,     ///< the second line is added
  };
  Kind kind = Kind::norm;
  std::string text{};
  std::vector<std::vector<DiagramStep>> ways{};  ///< sum: one without a branch is the skip
  bool to_side = false;                          ///< sum: its branch is added to the second line as well
};

struct DiagramPart {
  std::string label;  ///< "each of L layers"
  std::vector<DiagramStep> steps;
};

struct Diagram {
  std::string name;
  std::vector<DiagramStep> entry{};
  std::vector<DiagramPart> layers{};  ///< several where an arrangement treats ranges of layers differently
  std::vector<DiagramStep> exit{};
  std::string side{};  ///< the second line: "r", "y"; empty: there is none
};
/// The sub-layers of `shape` name the branches.
Diagram diagram_of(const Arrangement& row, const StackShape& shape, const NormKindOptions& norm = {});

/// The same as nodes and edges, for those who lay it out elsewhere.
struct DiagramNode {
  std::string id;    ///< "n3", unique in its graph
  std::string kind;  ///< "input", "norm", "factor", "branch", "sum", "mix", "output"
  std::string text;
  std::string part;  ///< the label of the layers it belongs to; empty: entry or exit
};
struct DiagramEdge {
  std::string from, to;
  std::string kind;  ///< "flow", "skip", "side"
};
struct DiagramGraph {
  std::vector<DiagramNode> nodes;
  std::vector<DiagramEdge> edges;
};
DiagramGraph graph_of(const Diagram& diagram);

/// Several are drawn side by side. Text is made of Unicode's box drawing, or of ASCII alone.
enum class Letters : unsigned char { unicode, ascii };
std::string text_diagram(std::span<const Diagram> diagrams, Letters letters = Letters::unicode);
/// One standalone document: no scripts, colours that follow a light or dark page.
std::string svg_diagram(std::span<const Diagram> diagrams);
std::string mermaid_diagram(std::span<const Diagram> diagrams);

/// What formulas and diagrams say, for terminals without Unicode: "x' = LN(alpha*x + F(x))".
std::string in_ascii(const std::string& text);
/// Columns of a terminal that a text takes.
std::size_t columns_of(const std::string& text);

}  // namespace addnorm
