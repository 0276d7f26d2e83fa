// The bench as a whole: which groups, what to print.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "bench/machine/cpu.h"
#include "bench/measure.h"
#include "bench/peers/torch_products.h"

namespace addnorm::bench {

struct Options {
  std::vector<std::string> groups;   ///< of group_names(); empty: all kernels, but no whole steps
  std::vector<int> threads;          ///< empty: 1 and, where there are several cores, 2
  std::vector<std::string> shapes;   ///< "2048x384"; empty: all
  std::string python;                ///< interpreter with PyTorch; empty: none known
  std::string init = "arrangement";  ///< how weights of whole steps start: kInitOfArrangement, or a rule
  bool json = false;
  bool quick = false;        ///< fewer rounds, no torch.compile: for a first look
  bool bf16_anyway = false;  ///< measure peers in bf16 also where the processor has none, to try the code
  FieldWords words{};        ///< what messages call these
};

/// "machine", "add-norm", "layer-norm", "rms-norm", "gemm", "attention", "train-step", "decode", "embed"
std::vector<std::string> group_names();

/// "2048x384", ..., or "A": the shapes at which a group is measured, each once; none for "machine".
std::vector<std::string> shape_names(const std::string& group);

struct Report {
  Machine machine;
  std::string torch;  ///< its version; empty: not there
  std::string onnxruntime, ctranslate2, openvino;
  Bf16 bf16 = Bf16::none;
  std::optional<ProductShares> products;  ///< measured where PyTorch has Intel's MKL and the processor is AMD's
  std::string init;                       ///< rule by which weights of whole steps started; empty: that of the arrangement
  std::vector<Result> results;
};

/// Measures. Progress, and what could not be compared, go to `notes`. Throws UsageError for unknown groups and
/// shapes, and for an init where no weights are drawn.
Report run(const Options& options, std::ostream& notes);

std::string shape_text(const std::vector<std::size_t>& shape, const char* between);
void print_table(const Report& report, std::ostream& out);
void print_json(const Report& report, std::ostream& out);  ///< documented in bench/README.md

}  // namespace addnorm::bench
