// SPDX-License-Identifier: Apache-2.0
// Streams and ranges of CUDA device memory: see device.hpp.
#pragma once

#include <weft/cuda/device.hpp>
