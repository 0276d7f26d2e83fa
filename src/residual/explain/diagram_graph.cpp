// A diagram as nodes and edges, and as a Mermaid flowchart.
#include "addnorm/core/error.h"
#include "residual/explain/diagram_layout.h"

namespace addnorm {
namespace {

using Kind = DiagramStep::Kind;
using Steps = std::vector<DiagramStep>;

class Grapher {
 public:
  DiagramGraph graph;

  std::string node(const std::string& kind, const std::string& text) {
    graph.nodes.push_back({concat("n", graph.nodes.size()), kind, text, part});
    return graph.nodes.back().id;
  }
  void edge(const std::string& from, const std::string& to, const char* kind) {
    if (!from.empty()) graph.edges.push_back({from, to, kind});
  }
  /// Steps after `from`; the id of the last one. `kind` is that of the edges between them.
  std::string walk(const Steps& steps, std::string from, const char* kind) {
    for (const DiagramStep& step : steps) from = walk(step, from, kind);
    return from;
  }

  std::string part, side;  // the label of the layers; where the second line stands

 private:
  std::string walk(const DiagramStep& step, const std::string& from, const char* kind) {
    switch (step.kind) {
      case Kind::sum:
        return sum(step, from);
      case Kind::keep:
        if (side.empty())
          side = from;
        else
          kept_.push_back(from);
        if (kept_.empty()) kept_.push_back(from);
        return from;
      case Kind::side_norm:
      case Kind::side_factor: {
        const std::string id = node(step.kind == Kind::side_norm ? "norm" : "factor", step.text);
        edge(side, id, "side");
        side = id;
        return from;
      }
      case Kind::mix: {
        const std::string id = node("mix", step.text);
        for (const std::string& kept : kept_)
          if (kept != from) edge(kept, id, "side");
        edge(from, id, kind);
        return id;
      }
      case Kind::side_sum: {
        const std::string id = node("sum", "+");
        edge(from, id, kind);
        edge(side, id, "side");
        return id;
      }
      case Kind::norm:
      case Kind::factor:
      case Kind::branch:
        break;
    }
    const std::string id = node(step.kind == Kind::norm ? "norm" : step.kind == Kind::factor ? "factor" : "branch", step.text);
    edge(from, id, kind);
    return id;
  }

  std::string sum(const DiagramStep& step, const std::string& from) {
    std::vector<std::pair<std::string, const char*>> ends;
    for (const Steps& way : step.ways) {
      const char* kind = has_branch(way) ? "flow" : "skip";
      ends.emplace_back(walk(way, from, kind), kind);
    }
    const std::string id = node("sum", "+");
    for (const auto& [end, kind] : ends) edge(end, id, kind);
    if (step.to_side) {
      const std::string second = node("sum", "+");
      edge(side, second, "side");
      edge(ends.back().first, second, "side");
      side = second;
    }
    return id;
  }
  std::vector<std::string> kept_;  // what the second line holds
};

/// Inside quotes Mermaid reads #entities;, and nothing else as its own.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '"' ? "#quot;" : c == '#' ? "#35;" : c == '<' ? "#lt;" : c == '>' ? "#gt;" : std::string(1, c);
  return out;
}

std::string mermaid_node(const DiagramNode& node, const std::string& prefix) {
  const std::string id = prefix + node.id;
  if (node.kind == "sum") return concat(id, "((\"+\"))");
  if (node.kind == "branch") return concat(id, "[\"", escaped(node.text), "\"]");
  if (node.kind == "input" || node.kind == "output") return concat(id, "([\"", escaped(node.text), "\"])");
  return concat(id, "(\"", escaped(node.text), "\")");
}

}  // namespace

DiagramGraph graph_of(const Diagram& diagram) {
  Grapher grapher;
  std::string last = grapher.walk(diagram.entry, grapher.node("input", "x₀"), "flow");
  for (const DiagramPart& part : diagram.layers) {
    grapher.part = part.label;
    last = grapher.walk(part.steps, last, "flow");
  }
  grapher.part.clear();
  last = grapher.walk(diagram.exit, last, "flow");
  grapher.edge(last, grapher.node("output", "y"), "flow");
  return grapher.graph;
}

std::string mermaid_diagram(std::span<const Diagram> diagrams) {
  std::string all = "flowchart TD\n";
  std::size_t number = 0;
  for (const Diagram& diagram : diagrams) {
    const DiagramGraph graph = graph_of(diagram);
    const std::string prefix = diagrams.size() > 1 ? concat("d", number, "_") : "";
    const std::string indent = diagrams.size() > 1 ? "    " : "  ";
    if (diagrams.size() > 1)
      all += concat("  subgraph d", number, " [\"", escaped(diagram.name), "\"]\n", indent, "direction TB\n");
    for (const DiagramNode& node : graph.nodes)
      if (node.part.empty()) all += indent + mermaid_node(node, prefix) + "\n";
    std::size_t part_number = 0;
    for (const DiagramPart& part : diagram.layers) {
      all += concat(indent, "subgraph ", prefix, "layers", part_number++, " [\"", escaped(part.label), "\"]\n");
      for (const DiagramNode& node : graph.nodes)
        if (node.part == part.label) all += indent + "  " + mermaid_node(node, prefix) + "\n";
      all += indent + "end\n";
    }
    for (const DiagramEdge& edge : graph.edges) {
      const char* arrow = edge.kind == "skip" ? " ==>|skip| " : edge.kind == "side" ? " -.-> " : " --> ";
      all += concat(indent, prefix, edge.from, arrow, prefix, edge.to, "\n");
    }
    if (diagrams.size() > 1) all += "  end\n";
    ++number;
  }
  return all;
}

}  // namespace addnorm
