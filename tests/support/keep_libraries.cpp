// SPDX-License-Identifier: Apache-2.0
// Part of sanitizer builds only. Leaks are reported at the end of the process. If drivers and layers were
// unloaded by then, suppressions could not name them, and memory of their globals would look leaked.
extern "C" __attribute__((visibility("default"))) int dlclose(void* /*handle*/) noexcept {
    return 0;
}
