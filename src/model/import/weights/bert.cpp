// BERT's kind: modeling_bert.py, modeling_roberta.py, modeling_distilbert.py.
#include "model/import/weights/family.h"

namespace addnorm::importing {
namespace {

// What BERT and RoBERTa share.
constexpr std::array kBertBody{
    NameRow{"tokens.embedding", {"embeddings.word_embeddings"}},
    NameRow{"tokens.types", {"embeddings.token_type_embeddings"}},
    NameRow{"tokens.positions", {"embeddings.position_embeddings"}},
    NameRow{"residual.entry", {"embeddings.LayerNorm"}},
    NameRow{"layers.{}.self.qkv",
            {"encoder.layer.{}.attention.self.query", "encoder.layer.{}.attention.self.key",
             "encoder.layer.{}.attention.self.value"}},
    NameRow{"layers.{}.self.out", {"encoder.layer.{}.attention.output.dense"}},
    NameRow{"residual.layers.{}.self.*", {"encoder.layer.{}.attention.output.LayerNorm"}},
    NameRow{"layers.{}.ffn.in", {"encoder.layer.{}.intermediate.dense"}},
    NameRow{"layers.{}.ffn.out", {"encoder.layer.{}.output.dense"}},
    NameRow{"residual.layers.{}.ffn.*", {"encoder.layer.{}.output.LayerNorm"}},
};
constexpr const char* kPooler = "the pooler, which makes one vector of the first token, is not computed";
constexpr const char* kNextSentence = "whether one sentence follows another is not computed";
constexpr std::array kBertUnused{
    UnusedRow{"embeddings.position_ids", nullptr},
    UnusedRow{"embeddings.token_type_ids", nullptr},
    UnusedRow{"pooler.dense.weight", kPooler},
    UnusedRow{"pooler.dense.bias", kPooler},
    UnusedRow{"cls.seq_relationship.weight", kNextSentence},
    UnusedRow{"cls.seq_relationship.bias", kNextSentence},
};

constexpr std::array kBertTypes{"bert"};
constexpr std::array kBertPrefixes{"bert.", ""};
constexpr std::array kBertTop{
    NameRow{"head.transform", {"cls.predictions.transform.dense"}},
    NameRow{"head.norm", {"cls.predictions.transform.LayerNorm"}},
    NameRow{"head.weight", {"cls.predictions.decoder.weight"}},
    NameRow{"head.bias", {"cls.predictions.bias"}},
};
constexpr std::array kBertCopies{
    CopyRow{"cls.predictions.decoder.weight", "tokens.embedding.weight"},
    CopyRow{"cls.predictions.decoder.bias", "head.bias"},
};

constexpr std::array kRobertaTypes{"roberta", "xlm-roberta", "camembert"};
constexpr std::array kRobertaPrefixes{"roberta.", ""};
constexpr std::array kRobertaTop{
    NameRow{"head.transform", {"lm_head.dense"}},
    NameRow{"head.norm", {"lm_head.layer_norm"}},
    NameRow{"head.weight", {"lm_head.decoder.weight"}},
    NameRow{"head.bias", {"lm_head.bias"}},
};
constexpr std::array kRobertaCopies{
    CopyRow{"lm_head.decoder.weight", "tokens.embedding.weight"},
    CopyRow{"lm_head.decoder.bias", "head.bias"},
};

constexpr std::array kDistilBertTypes{"distilbert"};
constexpr std::array kDistilBertPrefixes{"distilbert.", ""};
constexpr std::array kDistilBertBody{
    NameRow{"tokens.embedding", {"embeddings.word_embeddings"}},
    NameRow{"tokens.positions", {"embeddings.position_embeddings"}},
    NameRow{"residual.entry", {"embeddings.LayerNorm"}},
    NameRow{
        "layers.{}.self.qkv",
        {"transformer.layer.{}.attention.q_lin", "transformer.layer.{}.attention.k_lin", "transformer.layer.{}.attention.v_lin"}},
    NameRow{"layers.{}.self.out", {"transformer.layer.{}.attention.out_lin"}},
    NameRow{"residual.layers.{}.self.*", {"transformer.layer.{}.sa_layer_norm"}},
    NameRow{"layers.{}.ffn.in", {"transformer.layer.{}.ffn.lin1"}},
    NameRow{"layers.{}.ffn.out", {"transformer.layer.{}.ffn.lin2"}},
    NameRow{"residual.layers.{}.ffn.*", {"transformer.layer.{}.output_layer_norm"}},
};
constexpr std::array kDistilBertTop{
    NameRow{"head.transform", {"vocab_transform"}},
    NameRow{"head.norm", {"vocab_layer_norm"}},
    NameRow{"head.weight", {"vocab_projector.weight"}},
    NameRow{"head.bias", {"vocab_projector.bias"}},
};
constexpr std::array kDistilBertCopies{CopyRow{"vocab_projector.weight", "tokens.embedding.weight"}};
constexpr std::array kDistilBertUnused{UnusedRow{"embeddings.position_ids", nullptr}};

}  // namespace

const ImportFamily& bert_family() {
  static constexpr ImportFamily kFamily{"bert", kBertTypes, kBertPrefixes, kBertBody, kBertTop, kBertCopies, kBertUnused};
  return kFamily;
}

const ImportFamily& roberta_family() {
  static constexpr ImportFamily kFamily{"roberta",   kRobertaTypes,  kRobertaPrefixes, kBertBody,
                                        kRobertaTop, kRobertaCopies, kBertUnused};
  return kFamily;
}

const ImportFamily& distilbert_family() {
  static constexpr ImportFamily kFamily{"distilbert",   kDistilBertTypes,  kDistilBertPrefixes, kDistilBertBody,
                                        kDistilBertTop, kDistilBertCopies, kDistilBertUnused};
  return kFamily;
}

}  // namespace addnorm::importing
