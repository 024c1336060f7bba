// SPDX-License-Identifier: Apache-2.0
// The entry that libFuzzer and replay.cpp call.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
