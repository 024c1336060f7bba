// SPDX-License-Identifier: Apache-2.0
// Cases named "child: ..." need an environment of their own: they run only where another case starts this
// program for them (support/child_process.hpp).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/child_process.hpp"

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    if (!weft_test::is_child()) context.addFilter("test-case-exclude", "child:*");
    return context.run();
}
