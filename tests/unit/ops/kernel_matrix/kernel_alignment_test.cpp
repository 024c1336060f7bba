// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <weft/ops/kernel_post.hpp>

#include "support/error_text.hpp"

namespace {

// Two qubits, ryrz with re-upload.
const std::vector<double> kKernel{1, 0.511382804912692, 0.314722519382784, 0.511382804912692,
                                  1, 0.839342672523955, 0.314722519382784, 0.839342672523955,
                                  1};
const std::vector<double> kLabels{1, -1, 1};

}  // namespace

TEST_CASE("alignment and polarity with labels") {
    CHECK(std::abs(weft::kernel_alignment(kKernel, kLabels, false) - 0.136571568075591) < 1e-12);
    CHECK(std::abs(weft::kernel_polarity(kKernel, kLabels) - 0.306635782254745) < 1e-12);
    CHECK(std::abs(weft::kernel_alignment(kKernel, kLabels) - 0.090254302990745) < 1e-12);
    const std::vector<float> narrow(kKernel.begin(), kKernel.end());
    CHECK(std::abs(weft::kernel_alignment(narrow, kLabels) - 0.090254302990745) < 1e-7);
    CHECK(weft::kernel_alignment(std::vector<double>(9, 0.0), kLabels) == 0);
    // y y^T is aligned with itself.
    std::vector<double> ideal(9);
    for (std::size_t i = 0; i < 9; ++i) ideal[i] = kLabels[i / 3] * kLabels[i % 3];
    CHECK(std::abs(weft::kernel_alignment(ideal, kLabels, false) - 1) < 1e-15);
}

TEST_CASE("the alignment of a finite matrix does not depend on its scale; others have none") {
    const std::vector<double> same{1, 1, 1};
    for (const double size : {1e200, 1.0, 1e-200, 4e-310})
        CHECK(std::abs(weft::kernel_alignment(std::vector<double>(9, size), same) - 1) < 1e-15);
    std::vector<double> k = kKernel;
    for (double& value : k) value *= 1e300;
    CHECK(std::abs(weft::kernel_alignment(k, kLabels) - 0.090254302990745) < 1e-12);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        k[5] = bad;
        CHECK(std::isnan(weft::kernel_alignment(k, kLabels)));
    }
}

TEST_CASE("a single class does not divide by zero") {
    CHECK(std::abs(weft::kernel_polarity(std::vector<double>{1, 0.5, 0.5, 1}, std::vector<double>{1, 1}) -
                   0.75) < 1e-15);
}

TEST_CASE("clipping finds the nearest positive semidefinite matrix") {
    std::vector<double> k{0.9, 1, 1, 0.9};
    CHECK(weft::clip_kernel_matrix(k, 2) == 1);
    for (const double value : k) CHECK(std::abs(value - 0.95) < 1e-14);
    std::vector<float> narrow{0.9f, 1, 1, 0.9f};
    CHECK(weft::clip_kernel_matrix(narrow, 2) == 1);
    for (const float value : narrow) CHECK(std::abs(value - 0.95f) < 1e-6f);
    std::vector<double> good = kKernel;
    CHECK(weft::clip_kernel_matrix(good, 3) == 0);
    CHECK(good == kKernel);
    // The 3 x 3 matrix of ones minus the identity has the eigenvalues -1, -1 and 2.
    std::vector<double> ones{0, 1, 1, 1, 0, 1, 1, 1, 0};
    CHECK(weft::clip_kernel_matrix(ones, 3) == 2);
    for (const double value : ones) CHECK(std::abs(value - 2.0 / 3) < 1e-14);
    CHECK(ones[1] == ones[3]);
}

TEST_CASE("clipping a matrix whose eigenvalues are all negative gives zeros") {
    for (const std::size_t rows : {1u, 3u, 48u, 67u}) {
        std::vector<double> k(rows * rows);
        for (std::size_t i = 0; i < rows; ++i) k[i * rows + i] = -1;
        CHECK(weft::clip_kernel_matrix(k, rows) == rows);
        CHECK(k == std::vector<double>(rows * rows, 0.0));
    }
}

TEST_CASE("clipping reads the lower triangle alone, and rounding errors do not count as negative") {
    constexpr std::size_t kRows = 50;
    std::vector<double> one(kRows * kRows);  // of rank 1
    for (std::size_t i = 0; i < one.size(); ++i)
        one[i] = std::sin(static_cast<double>(i / kRows) + 1) * std::sin(static_cast<double>(i % kRows) + 1);
    const std::vector<double> before = one;
    CHECK(weft::clip_kernel_matrix(one, kRows) == 0);
    CHECK(one == before);
    std::vector<double> k{0.9, std::numeric_limits<double>::infinity(), 1, 0.9};
    CHECK(weft::clip_kernel_matrix(k, 2) == 1);
    for (const double value : k) CHECK(std::abs(value - 0.95) < 1e-14);
    // The eigenvalues are -1, 0, 0 and 3; a root of an eigenvalue that rounding made negative would be NaN.
    std::vector<double> mixed{1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, -1};
    CHECK(weft::clip_kernel_matrix(mixed, 4) == 1);
    CHECK(std::abs(mixed[0] - 1) < 1e-14);
    CHECK(std::abs(mixed[15]) < 1e-14);
}

TEST_CASE("centring subtracts the means of rows and columns") {
    std::vector<double> k{1, 0.5, 0.25, 0.5, 1, 0.125, 0.25, 0.125, 1};
    weft::center_kernel_matrix(k, 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(std::abs(k[3 * i] + k[3 * i + 1] + k[3 * i + 2]) < 1e-15);
        CHECK(std::abs(k[i] + k[i + 3] + k[i + 6]) < 1e-15);
    }
    // 1 - 2 * 1.75 / 3 + 4.75 / 9
    CHECK(std::abs(k[0] - (1 - 3.5 / 3 + 4.75 / 9)) < 1e-15);
    CHECK(std::abs(k[1] - (0.5 - 1.75 / 3 - 1.625 / 3 + 4.75 / 9)) < 1e-15);
}

TEST_CASE("normalising shrinks values off the diagonal") {
    std::vector<double> k = kKernel;
    weft::normalize_kernel_matrix(k, 3, 0.01);
    CHECK(std::abs(k[1] - 0.506319608824447) < 1e-12);
    CHECK(std::abs(k[2] - 0.311606454834439) < 1e-12);
    CHECK(std::abs(k[5] - 0.831032349033618) < 1e-12);
    for (const std::size_t i : {0u, 4u, 8u}) CHECK(k[i] == 1);
    std::vector<double> uneven{4, 1, 1, 0.25};
    weft::normalize_kernel_matrix(uneven, 2);
    CHECK(uneven == std::vector<double>{1, 1, 1, 1});
    std::vector<double> broken{std::numeric_limits<double>::quiet_NaN(), 1, 1, 1};
    weft::normalize_kernel_matrix(broken, 2);
    CHECK(std::isnan(broken[0]));
    CHECK(std::isnan(broken[1]));
    CHECK(broken[3] == 1);
    std::vector<double> dead{0, 1e-9, 1e-9, 1};  // its own value counts as 1e-12
    weft::normalize_kernel_matrix(dead, 2);
    CHECK(std::abs(dead[1] - 1e-3) < 1e-15);
}

TEST_CASE("invalid matrices and labels are refused") {
    std::vector<double> k = kKernel;
    const std::vector<double> two{1, -1}, odd{1, 0.5, -1};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    struct Case {
        const char* part;
        std::function<void()> call;
    };
    const std::vector<Case> cases{
        {"kernel_alignment: not a square matrix (got 9 numbers for 2 rows",
         [&] { weft::kernel_alignment(k, two); }},
        {"kernel_polarity: label 1 is neither 1 nor -1", [&] { weft::kernel_polarity(k, odd); }},
        {"kernel_polarity: no rows",
         [&] { weft::kernel_polarity(std::vector<double>{}, std::vector<double>{}); }},
        {"center_kernel_matrix: not a square matrix", [&] { weft::center_kernel_matrix(k, 4); }},
        {"normalize_kernel_matrix: jitter out of range", [&] { weft::normalize_kernel_matrix(k, 3, -0.5); }},
        {"normalize_kernel_matrix: jitter out of range", [&] { weft::normalize_kernel_matrix(k, 3, nan); }},
        {"clip_kernel_matrix: row 1 column 0 is not finite",
         [&] {
             k[3] = nan;
             weft::clip_kernel_matrix(k, 3);
         }},
    };
    for (const Case& c : cases) {
        INFO("expected: " << std::string(c.part));
        const std::string text = weft_test::error_text(weft::Errc::invalid_argument, c.call);
        CHECK(text.find(c.part) != std::string::npos);
    }
    CHECK(k[0] == 1);
}
