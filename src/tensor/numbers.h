// What is said of a tensor in one number, in double.
#pragma once

#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

std::vector<double> values_of(const Tensor& t);
double dot(const Tensor& a, const Tensor& b);
double length(const Tensor& t);
double rms(const Tensor& t);
double mean_value(const Tensor& t);
double variance(const Tensor& t);  ///< over all elements, divided by their number
double cosine(const Tensor& a, const Tensor& b);
double relative_distance(const Tensor& a, const Tensor& b);  ///< ||a - b|| / ||b||
double largest_difference(const Tensor& a, const Tensor& b);
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace addnorm
