// SPDX-License-Identifier: Apache-2.0
// Programs and the jobs that they run, as Python holds them.
#pragma once

#include <vector>

#include <weft/job.hpp>
#include <weft/program.hpp>

#include "arrays.hpp"

namespace weft::python {

/// A job whose arrays were checked when it was made. Keeps them alive.
struct PyJob {
    Job job;
    std::vector<Array> arrays;
};

/// Bytes that follow `count` and `first` in the push-constant block. Errors: InvalidArgument - too many.
Parameters parameters_of(const char* call, const nb::bytes& bytes);

}  // namespace weft::python
