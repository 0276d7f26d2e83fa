// What a record may hold: web/src/data.ts and results.ts, field by field. Files come from other versions, from other programs and
// from editors; the page gets what it expects.
#pragma once

#include <span>

#include "core/json/json.h"

namespace addnorm {

enum class Holds : unsigned char {
  text,
  number,  ///< or null
  whole,   ///< from 0 on
  flag,
  scalar,   ///< text or number
  texts,    ///< an array; items of another kind are ""
  numbers,  ///< an array; items of another kind are null
  wholes,   ///< an array of whole numbers; others are left out
  lists,    ///< an array of `numbers`
  object,   ///< of fields
  objects,  ///< an array of them; items of another kind are left out
};

struct ExpectedField {
  const char* name;
  Holds holds;
  bool needed = false;  ///< where it is missing, or something else, it is empty: "", 0, null, [], {}
  std::span<const ExpectedField> inside{};
};

/// The fields of `from` that are as expected, numbers rounded. One that holds something else is left out, like one that is not
/// expected; so readers of the result need no further check.
Json shaped(const Json& from, std::span<const ExpectedField> fields);

inline constexpr ExpectedField kBaselines[] = {
    {"floor", Holds::number}, {"uniform", Holds::number}, {"unigram", Holds::number}, {"bigram", Holds::number}};

inline constexpr ExpectedField kCause[] = {{"kind", Holds::text, true}, {"text", Holds::text, true},      {"step", Holds::whole},
                                           {"unit", Holds::whole},      {"confirmed", Holds::flag, true}, {"by", Holds::text},
                                           {"by_rows", Holds::wholes}};

inline constexpr ExpectedField kPrediction[] = {
    {"forecast", Holds::text, true},       {"confidence", Holds::number}, {"clear", Holds::flag},     {"reason", Holds::text},
    {"skip_gain_measured", Holds::number}, {"twin", Holds::text},         {"horizon", Holds::scalar}, {"seconds", Holds::number}};

inline constexpr ExpectedField kLoss[] = {{"mean", Holds::number, true},
                                          {"deviation", Holds::number, true},
                                          {"least", Holds::number, true},
                                          {"most", Holds::number, true},
                                          {"count", Holds::whole, true}};

inline constexpr ExpectedField kTried[] = {{"factor", Holds::text, true}, {"change", Holds::text, true},
                                           {"cures", Holds::flag, true},  {"trained", Holds::whole, true},
                                           {"done", Holds::whole, true},  {"row", Holds::whole}};

// Without "options" and "asked", whose names are those of all options.
inline constexpr ExpectedField kLabRow[] = {{"label", Holds::text, true},
                                            {"label_in_act", Holds::text},
                                            {"act", Holds::whole},
                                            {"arrangement", Holds::text, true},
                                            {"formula", Holds::text},
                                            {"seeds", Holds::whole},
                                            {"runs", Holds::wholes, true},
                                            {"baselines", Holds::object, false, kBaselines},
                                            {"trained_line", Holds::number},
                                            {"skip_gain_predicted", Holds::number},
                                            {"prediction", Holds::object, false, kPrediction},
                                            {"no_prediction", Holds::text},
                                            {"done", Holds::whole},
                                            {"trained", Holds::whole},
                                            {"outcomes", Holds::texts},
                                            {"loss", Holds::object, false, kLoss},
                                            {"distance", Holds::number},
                                            {"happened", Holds::text},
                                            {"slow", Holds::flag},
                                            {"agreed", Holds::flag},
                                            {"cause", Holds::object, false, kCause},
                                            {"weights", Holds::text},
                                            {"weights_in_words", Holds::text},
                                            {"embeddings", Holds::text},
                                            {"tried", Holds::objects, false, kTried},
                                            {"instead_of", Holds::whole},
                                            {"same_as", Holds::whole}};

// Without "curve".
inline constexpr ExpectedField kLabRun[] = {
    {"seed", Holds::whole},     {"key", Holds::text},           {"folder", Holds::text},
    {"state", Holds::text},     {"steps", Holds::whole},        {"steps_done", Holds::whole},
    {"seconds", Holds::number}, {"outcome", Holds::text},       {"loss", Holds::number},
    {"best", Holds::number},    {"diverged_at", Holds::number}, {"cause", Holds::object, false, kCause},
    {"broke_off", Holds::text}, {"problem", Holds::text}};

inline constexpr ExpectedField kAct[] = {{"name", Holds::text, true}, {"note", Holds::text}};

inline constexpr ExpectedField kConfusion[] = {{"classes", Holds::texts, true},
                                               {"counts", Holds::lists, true},
                                               {"balanced_accuracy", Holds::number},
                                               {"trains_or_not", Holds::lists},
                                               {"trains_or_not_balanced_accuracy", Holds::number},
                                               {"rows", Holds::whole}};

// Without "rows" and "runs".
inline constexpr ExpectedField kLab[] = {{"version", Holds::text},      {"finished", Holds::flag},
                                         {"failed", Holds::whole},      {"seconds", Holds::number},
                                         {"with_warmup", Holds::whole}, {"acts", Holds::objects, false, kAct},
                                         {"headline", Holds::text},     {"findings", Holds::texts},
                                         {"comparisons", Holds::texts}, {"confusion", Holds::object, false, kConfusion}};

inline constexpr ExpectedField kTrain[] = {
    {"baselines", Holds::object, false, kBaselines}, {"begun", Holds::text}, {"version", Holds::text}};

inline constexpr ExpectedField kAdvice[] = {
    {"option", Holds::text, true}, {"verdict", Holds::text, true}, {"change", Holds::text, true}};

inline constexpr ExpectedField kTrial[] = {
    {"seed", Holds::whole}, {"losses", Holds::numbers}, {"gradient_norms", Holds::numbers}, {"broke_off", Holds::text}};

// Without "options".
inline constexpr ExpectedField kPreflight[] = {{"verdict", Holds::text, true},
                                               {"confidence", Holds::number},
                                               {"beyond_measured", Holds::text},
                                               {"notes", Holds::texts},
                                               {"clear", Holds::flag},
                                               {"reason", Holds::text},
                                               {"advice", Holds::objects, false, kAdvice},
                                               {"passed", Holds::whole},
                                               {"seeds", Holds::whole},
                                               {"horizon", Holds::scalar},
                                               {"twin", Holds::text},
                                               {"formula", Holds::text},
                                               {"skip_gain_predicted", Holds::number},
                                               {"skip_gain_measured", Holds::number},
                                               {"stack", Holds::text},
                                               {"units", Holds::texts},
                                               {"stream_rms", Holds::numbers},
                                               {"gradient_norm", Holds::numbers},
                                               {"spread_at_start", Holds::numbers},
                                               {"stream_rms_after", Holds::numbers},
                                               {"gradient_norm_after", Holds::numbers},
                                               {"spread", Holds::numbers},
                                               {"output_sensitivity", Holds::number},
                                               {"one_step_change", Holds::number},
                                               {"trials", Holds::objects, false, kTrial},
                                               {"second_look", Holds::object, false, kTrial},
                                               {"seconds", Holds::number}};

inline constexpr ExpectedField kXrayModel[] = {
    {"name", Holds::text},   {"kind", Holds::text},       {"arrangement", Holds::text, true}, {"formula", Holds::text},
    {"norm", Holds::text},   {"layers", Holds::whole},    {"d_model", Holds::whole},          {"heads", Holds::whole},
    {"vocab", Holds::whole}, {"parameters", Holds::whole}};

inline constexpr ExpectedField kXrayText[] = {
    {"source", Holds::text}, {"sequences", Holds::whole}, {"tokens", Holds::whole}, {"labels", Holds::whole}};

inline constexpr ExpectedField kXrayPeak[] = {{"value", Holds::number},
                                              {"over_median", Holds::number},
                                              {"feature", Holds::whole},
                                              {"position", Holds::whole},
                                              {"text", Holds::text}};

inline constexpr ExpectedField kXrayExpendable[] = {{"units", Holds::wholes, true}, {"together", Holds::number}};

inline constexpr ExpectedField kXrayStack[] = {{"name", Holds::text, true},
                                               {"layers", Holds::whole},
                                               {"units", Holds::texts, true},
                                               {"stream_rms", Holds::numbers},
                                               {"peaks", Holds::objects, false, kXrayPeak},
                                               {"lens_loss", Holds::numbers},
                                               {"lens_change", Holds::numbers},
                                               {"bypass_change", Holds::numbers},
                                               {"branch_rms", Holds::numbers},
                                               {"update_ratio", Holds::numbers},
                                               {"branch_share", Holds::numbers},
                                               {"cosine", Holds::numbers},
                                               {"block_influence", Holds::numbers},
                                               {"attention_entropy", Holds::numbers},
                                               {"max_logit", Holds::numbers},
                                               {"attribution", Holds::numbers},
                                               {"expendable", Holds::object, false, kXrayExpendable}};

inline constexpr ExpectedField kXrayNorm[] = {
    {"stack", Holds::text, true}, {"name", Holds::text, true}, {"slot", Holds::text, true}, {"unit", Holds::whole},
    {"rms", Holds::number},       {"min", Holds::number},      {"max", Holds::number},      {"bias_rms", Holds::number}};

inline constexpr ExpectedField kXrayAttribution[] = {{"ln", Holds::text}, {"whole", Holds::number}};

inline constexpr ExpectedField kXrayMissing[] = {{"what", Holds::text, true}, {"why", Holds::text, true}};

inline constexpr ExpectedField kXray[] = {{"version", Holds::text},
                                          {"model", Holds::object, true, kXrayModel},
                                          {"text", Holds::object, false, kXrayText},
                                          {"measure", Holds::text, true},
                                          {"loss", Holds::number},
                                          {"findings", Holds::texts},
                                          {"stacks", Holds::objects, true, kXrayStack},
                                          {"norms", Holds::objects, false, kXrayNorm},
                                          {"attribution", Holds::object, false, kXrayAttribution},
                                          {"missing", Holds::objects, false, kXrayMissing},
                                          {"notes", Holds::texts},
                                          {"seconds", Holds::number}};

inline constexpr ExpectedField kClaimValue[] = {{"name", Holds::text, true},
                                                {"mean", Holds::number, true},
                                                {"spread", Holds::number, true},
                                                {"seeds", Holds::whole},
                                                {"each", Holds::numbers}};

inline constexpr ExpectedField kClaimEarlier[] = {
    {"verdict", Holds::text, true}, {"why", Holds::text, true}, {"since", Holds::text}};

inline constexpr ExpectedField kClaimSee[] = {{"id", Holds::text, true}, {"why", Holds::text, true}};

inline constexpr ExpectedField kClaimInit[] = {{"init", Holds::text, true},
                                               {"verdict", Holds::text, true},
                                               {"measured", Holds::text, true},
                                               {"values", Holds::objects, false, kClaimValue}};

inline constexpr ExpectedField kClaim[] = {{"id", Holds::text, true},
                                           {"claim", Holds::text, true},
                                           {"kind", Holds::text},
                                           {"source", Holds::text},
                                           {"expected", Holds::text},
                                           {"measured", Holds::text},
                                           {"changed", Holds::text},
                                           {"earlier", Holds::object, false, kClaimEarlier},
                                           {"see", Holds::objects, false, kClaimSee},
                                           {"start", Holds::text},
                                           {"values", Holds::objects, false, kClaimValue},
                                           {"inits", Holds::objects, false, kClaimInit},
                                           {"verdict", Holds::text, true},
                                           {"condition", Holds::text},
                                           {"seconds", Holds::number},
                                           {"seeds", Holds::whole},
                                           {"scale", Holds::number},
                                           {"command", Holds::text},
                                           {"version", Holds::text},
                                           {"date", Holds::text}};

// A record of the full probes.
inline constexpr ExpectedField kFullProbe[] = {{"lens_loss", Holds::numbers},         {"bypass_change", Holds::numbers},
                                               {"dependency", Holds::lists},          {"logit_attribution", Holds::numbers},
                                               {"effective_rank", Holds::numbers},    {"token_similarity", Holds::numbers},
                                               {"position_accuracy", Holds::numbers}, {"skip_gain", Holds::number}};

}  // namespace addnorm
