// What the texts say and no experiment of ours can decide, and what papers say of arrangements that are not built here.
#include "addnorm/claims/claim.h"
#include "addnorm/core/error.h"
#include "claims/texts.h"

namespace addnorm {

const std::vector<LeftOut>& left_out_statements() {
  static const std::vector<LeftOut> all{
      {"Many modern Transformers are pre-normed.", kClassicalTransformer,
       "about what people build, not about what happens in a network"},
      {"Add & Norm is the standard of modern Transformers.", concat(kLecture, ", takeaways"),
       "the same; it was the standard in 2017, and most large models since GPT-2 norm inside the branch instead"},
      {"Residual connections are also called skip connections.", concat(kChapter23, "; ", kLecture), "a matter of words"},
      {"Residual connections came with ResNet in 2015 and went on into Transformers.", concat(kChapter23, ", introduction"),
       "history; question 7 of the same text is answered from the catalogue (S30)"},
      {"RAdam's paper is of 2021.", concat(kClassicalTransformer, ", reference"),
       "a date: arXiv 1908.03265 is of 2019, the conference of 2020"},
      {"Warm-up is costly.", kClassicalTransformer,
       "costly compared with what? How many steps it takes is chosen by whoever trains"},
      {"A bypass conveyor belt on an assembly line.", concat(kLecture, ", analogy"),
       "a picture; what it says of robustness is S59"},
      {"Learning objectives, prerequisites, and what the lecture covers.", kLecture, "about the lecture"},
  };
  return all;
}

const std::vector<LeftOut>& left_out_claims() {
  static const std::vector<LeftOut> all{
      {"C26: products of the mixing matrices of hyper-connections grow without bound, those of their manifold-constrained form "
       "do not.",
       "Xie et al. 2025", "neither hyper-connections nor their constrained form are built"},
      {"C27: attention over the outputs of all layers lowers the loss, bounds the stream and evens gradients.",
       "Attention Residuals, 2026", "attention residuals are not built"},
      {"C36: mixing the first layer's values into those of every layer lowers the loss and keeps attention less concentrated.",
       "Zhou et al. 2024, arXiv 2410.17897", "value residuals are not built"},
  };
  return all;
}

}  // namespace addnorm
