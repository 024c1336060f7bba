// SPDX-License-Identifier: Apache-2.0
// Part of sanitizer builds only. Reports come at the end of the process, when drivers and layers would be
// unloaded: suppressions could not name them, and what their globals hold would look leaked.
extern "C" __attribute__((visibility("default"))) int dlclose(void* /*handle*/) noexcept {
    return 0;
}
