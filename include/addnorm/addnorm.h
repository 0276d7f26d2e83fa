// Everything public, for users; our own sources name what they need.
#pragma once

#include "addnorm/autograd/gradcheck.h"
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/autograd/var.h"
#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/core/parallel.h"
#include "addnorm/core/rng.h"
#include "addnorm/core/shape.h"
#include "addnorm/core/version.h"
#include "addnorm/kernels/add_norm.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/tensor/safetensors.h"
#include "addnorm/tensor/tensor.h"
