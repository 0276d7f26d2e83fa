// Adafactor in parts, each over some rows of one matrix [., width] on the calling thread. A vector is one row. The formula, and
// all of it in double, is in the reference; three passes over the gradient, two over the parameters, no array of their size.
#pragma once

#include <cstddef>

#include "kernels/optimizer/args.h"
#include "kernels/reference/optimizer_adafactor.h"

namespace addnorm::kernels {

/// Sum of the squares of x [n], in double.
double squares(const float* x, std::size_t n);
/// of_rows[r] and of_columns[c]: sums of the squares of g, in double.
void square_sums(const float* g, std::size_t rows, std::size_t width, double* of_rows, double* of_columns);

/// v += gain ((scale g)^2 - v).
void follow_squares(const float* g, double gain, double scale, std::size_t n, float* v);

/// Sum of g^2 / max(V, least), in double; V = row[r] column[c], where a null row is 1.
double update_squares(const float* g, const float* row, const float* column, double least, std::size_t rows, std::size_t width);

/// p -= shrink p + step_size g / sqrt(max(V, least)).
void adafactor_update(const float* g, const float* row, const float* column, double least, double shrink, double step_size,
                      std::size_t rows, std::size_t width, float* p);

}  // namespace addnorm::kernels
