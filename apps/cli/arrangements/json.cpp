// The catalogue as JSON.
#include "core/json/json.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "cli/arrangements/views.h"

namespace addnorm::cli {
namespace {

Json lines_of(const Formula& formula) {
  Json lines = Json::array();
  for (const FormulaLine& line : formula.units) lines.push_back({{"where", line.where}, {"text", line.text}});
  return lines;
}

/// {"6": 0.277, ...}; null where there is no skip.
Json gains_of(const Arrangement& row, const StackShape& stack, const ArrangementView& view) {
  const bool has_gain = no_gain_reason(row, view).empty();
  Json gains = Json::object();
  for (const std::size_t layers : kGainDepths) {
    gains[std::to_string(layers)] = has_gain ? Json(skip_gain(row, with_layers(stack, layers))->gain) : Json(nullptr);
  }
  return gains;
}

Json graph_json(const Diagram& diagram) {
  Json nodes = Json::array(), edges = Json::array();
  const DiagramGraph graph = graph_of(diagram);
  for (const DiagramNode& node : graph.nodes)
    nodes.push_back({{"id", node.id}, {"kind", node.kind}, {"text", node.text}, {"part", node.part}});
  for (const DiagramEdge& edge : graph.edges) edges.push_back({{"from", edge.from}, {"to", edge.to}, {"kind", edge.kind}});
  return {{"nodes", nodes}, {"edges", edges}};
}

Json init_json(const Arrangement& row, const StackShape& stack) {
  Json init = Json::array();
  for (const InitLine& line : init_lines(row, stack)) init.push_back({{"what", line.what}, {"rule", line.rule}});
  return init;
}

/// What depends on the stack: of an encoder and of a decoder there are two.
Json stack_json(const Arrangement& row, const StackShape& stack, const ArrangementView& view) {
  const NormKindOptions& norm = view.norm;
  const Formula formula = formula_of(row, stack, norm);
  return {{"stack", name_of(stack.kind)},
          {"layers", stack.layers},
          {"formula", lines_of(formula)},
          {"symbols", formula.symbols},
          {"init", init_json(row, stack)},
          {"skip_gain", gains_of(row, stack, view)},
          {"extra_params_per_unit", extra_parameters_text(row, stack, norm)},
          {"diagram", graph_json(diagram_of(row, stack, norm))}};
}

Json row_json(const Arrangement& row, const ArrangementView& view, bool in_full) {
  const StackShape& stack = view.stacks.back();
  const Formula formula = formula_of(row, stack, view.norm);
  Json one{{"name", row.name},
           {"formula", units_text(formula)},
           {"entry", formula.entry},
           {"exit", formula.exit},
           {"source", row.source},
           {"year", row.year},
           {"used_by", row.used_by},
           {"known_failure", row.failure},
           {"streams", row.streams},
           {"final_norm", row.exit},
           {"extra_params_per_unit", extra_parameters_text(row, stack, view.norm)},
           {"skip_gain", gains_of(row, stack, view)},
           {"init",
            {{"name", row.init.name},
             {"source", row.init.source},
             {"contained", contained_init(row, {view.stacks.begin(), view.stacks.end()})}}},
           {"aliases", row.aliases}};
  if (in_full) {
    one["stacks"] = Json::array();
    for (const StackShape& each : view.stacks) one["stacks"].push_back(stack_json(row, each, view));
  }
  return one;
}

}  // namespace

std::string arrangements_json(const Rows& rows, const ArrangementView& view, bool in_full) {
  Json all = Json::array();
  for (const Arrangement* row : rows) all.push_back(row_json(*row, view, in_full));
  return all.dump(2) + "\n";
}

std::string inits_json(const ArrangementView& view) {
  Json all = Json::array();
  for (const InitSpec& rule : init_rules()) {
    Json init = Json::array();
    for (const StackShape& stack : view.stacks) {
      const Json lines = init_json(Arrangement{.name = "any", .init = rule}, stack);
      for (Json line : lines.array_items()) {
        if (view.stacks.size() > 1) line["stack"] = name_of(stack.kind);
        init.push_back(std::move(line));
      }
    }
    all.push_back({{"name", rule.name}, {"source", rule.source}, {"init", std::move(init)}});
  }
  return all.dump(2) + "\n";
}

}  // namespace addnorm::cli
