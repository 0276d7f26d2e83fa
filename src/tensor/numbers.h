// Single figures of a tensor or a list of numbers, in double.
#pragma once

#include <span>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm {

std::vector<double> values_of(const Tensor& t);
double mean_of(std::span<const double> values);  ///< NaN of none
/// b may be empty, which gives 0; otherwise as long as a.
double dot(std::span<const double> a, std::span<const double> b);
double dot(std::span<const double> a, const Tensor& b);
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
