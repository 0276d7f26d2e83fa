// lab.json, and predictions on the disk.
#include <array>
#include <cmath>

#include "addnorm/core/version.h"
#include "addnorm/lab/grid_result.h"
#include "core/json/record.h"
#include "core/system/files.h"

namespace addnorm {

template <class Io>
static void fields(Io& io, Prediction& p) {
  io("forecast", p.forecast);
  io("confidence", p.confidence);
  io("clear", p.clear);
  io("reason", p.reason);
  io("skip_gain_measured", p.skip_gain_measured);
  io("twin", p.twin);
  io("horizon", p.horizon);
  io("seconds", p.seconds);
}
static const Names& names(Forecast) {
  static const Names all{name_of(Forecast::trains), name_of(Forecast::needs_warmup), name_of(Forecast::will_not_train)};
  return all;
}

namespace {

constexpr std::size_t kMostPoints = 300;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json all_fields(const Prediction& prediction) {
  Prediction own = prediction;
  JsonWriter writer;
  fields(writer, own);
  return writer.object;
}

Json json_of(const Baselines& b) {
  return Json{{"floor", b.floor}, {"uniform", b.uniform}, {"unigram", b.unigram}, {"bigram", b.bigram}};
}

Json json_of(const Cause& cause) {
  return Json{{"kind", name_of(cause.kind)},
              {"text", cause.text},
              {"step", cause.step},
              {"unit", cause.unit},
              {"confirmed", cause.confirmed},
              {"by", cause.by},
              {"by_rows", Json(cause.by_rows)}};
}

/// Means over as many steps as it takes to have at most kMostPoints.
void put_curve(const std::vector<double>& losses, Json& into) {
  const std::size_t every = (losses.size() + kMostPoints - 1) / kMostPoints;
  Json steps = Json::array(), means = Json::array();
  for (std::size_t i = 0; i < losses.size(); i += every) {
    const std::size_t end = std::min(i + every, losses.size());
    double sum = 0;
    for (std::size_t k = i; k < end; ++k) sum += losses[k];
    steps.push_back(end);
    means.push_back(sum / static_cast<double>(end - i));
  }
  into["curve"] = Json{{"step", steps}, {"loss", means}};
}

Json json_of(const GridRun& run, const std::filesystem::path& folder) {
  Json json{{"seed", run.seed},
            {"key", run.key},
            {"folder", run.folder.lexically_relative(folder).string()},
            {"state", name_of(run.state)},
            {"cached", run.cached},
            {"steps", run.steps},
            {"steps_done", run.losses.size()},
            {"seconds", run.seconds}};
  if (!run.redone.empty()) json["redone"] = run.redone;
  if (run.state == RunState::done) {
    json["outcome"] = name_of(run.judged.outcome);
    json["loss"] = run.judged.loss;
    json["best"] = run.judged.best;
    json["diverged_at"] = run.judged.diverged_at;
  }
  if (run.cause) json["cause"] = json_of(*run.cause);
  if (!run.broke_off.empty()) json["broke_off"] = run.broke_off;
  if (!run.problem.empty()) json["problem"] = run.problem;
  put_curve(run.losses, json);
  return json;
}

Json json_of(const RowResult& row) {
  Json json{{"label", row.label},
            {"label_in_act", row.label_in_act},
            {"act", row.row.act},
            {"place", row.row.place},
            {"arrangement", row.arrangement},
            {"formula", row.formula},
            {"asked", parsed(row.row.options, row.row.place)},
            {"options", parsed(row.options, row.row.place)},
            {"seeds", row.row.seeds},
            {"runs", Json(row.runs)},
            {"baselines", json_of(row.baselines)},
            {"trained_line", trained_line(row.baselines)},
            {"skip_gain_predicted", or_null(row.skip_gain_predicted)},
            {"prediction", row.prediction ? all_fields(*row.prediction) : Json()},
            {"done", row.done},
            {"trained", row.trained},
            {"outcomes", Json(row.outcomes)},
            {"loss", Json{{"mean", row.loss.mean},
                          {"deviation", row.loss.deviation},
                          {"least", row.loss.least},
                          {"most", row.loss.most},
                          {"count", row.loss.count}}},
            {"distance", row.distance},
            {"happened", name_of(row.happened)},
            {"slow", row.slow()},
            {"agreed", or_null(row.agreed())},
            {"cause", row.cause ? json_of(*row.cause) : Json()}};
  json["weights"] = row.start.weights;
  json["weights_in_words"] = row.start.weights_in_label;
  json["embeddings"] = row.start.embeddings;
  json["tried"] = Json::array();
  for (const TriedChange& tried : row.tried)
    json["tried"].push_back(Json{{"factor", tried.factor},
                                 {"change", tried.change},
                                 {"cures", tried.cures()},
                                 {"trained", tried.trained},
                                 {"done", tried.done},
                                 {"row", tried.row}});
  if (!row.no_prediction.empty()) json["no_prediction"] = row.no_prediction;
  if (row.instead_of) json["instead_of"] = *row.instead_of;
  if (row.same_as) json["same_as"] = *row.same_as;
  return json;
}

Json json_of(const Confusion& c) {
  Json three = Json::array(), two = Json::array();
  for (const auto& row : c.counts) three.push_back(Json::array({row[0], row[1], row[2]}));
  for (const auto& row : c.two_way) two.push_back(Json::array({row[0], row[1]}));
  return Json{{"classes", Json::array({"trains", "needs warm-up", "will not train"})},
              {"counts", three},
              {"balanced_accuracy", c.balanced_accuracy()},
              {"trains_or_not", two},
              {"trains_or_not_balanced_accuracy", c.two_way_accuracy()},
              {"rows", c.rows()}};
}

}  // namespace

std::string to_json(const Prediction& prediction) { return all_fields(prediction).dump(); }

Prediction prediction_from_json(std::string_view text, std::string_view where) {
  Prediction prediction;
  const Json json = parsed(text, where);
  read(json, prediction, JsonAt{where, ""});
  return prediction;
}

std::string to_json(const GridSpec& spec) {
  Json acts = Json::array();
  for (std::size_t i = 0; i < spec.rows.size();) {
    const GridRow& first = spec.rows[i];  // of its act
    const GridAct act = first.act < spec.acts.size() ? spec.acts[first.act] : GridAct{};
    Json rows = Json::array();
    for (; i < spec.rows.size() && spec.rows[i].act == first.act; ++i) {
      Json options = parsed(spec.rows[i].options, spec.rows[i].place);
      if (spec.rows[i].first_seed != 1) options["seed"] = spec.rows[i].first_seed;
      if (spec.rows[i].seeds != first.seeds) options["seeds"] = spec.rows[i].seeds;
      rows.push_back(std::move(options));
    }
    acts.push_back(Json{{"name", act.name}, {"note", act.note}, {"seeds", first.seeds}, {"rows", std::move(rows)}});
  }
  return Json{{"with_warmup", spec.with_warmup}, {"acts", acts}}.dump(2);
}

std::string to_json(const GridResult& result) {
  Json acts = Json::array(), rows = Json::array(), runs = Json::array();
  for (const GridAct& act : result.spec.acts) acts.push_back(Json{{"name", act.name}, {"note", act.note}});
  for (const RowResult& row : result.rows) rows.push_back(json_of(row));
  for (const GridRun& run : result.runs) runs.push_back(json_of(run, result.folder));
  return Json{{"format", 1},
              {"version", version()},
              {"folder", system_files::absolute(result.folder).lexically_normal().string()},
              {"finished", result.finished},
              {"seconds", result.seconds},
              {"failed", result.failed()},
              {"with_warmup", result.spec.with_warmup},
              {"acts", acts},
              {"rows", rows},
              {"runs", runs},
              {"headline", headline(result)},
              {"findings", Json(findings(result))},
              {"comparisons", Json(comparisons(result).lines)},
              {"confusion", json_of(confusion_of(result))}}
      .dump();
}

}  // namespace addnorm
