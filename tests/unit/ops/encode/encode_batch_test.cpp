// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "ops/encode/encode_batch_check.hpp"
#include "ops/encode/encode_check.hpp"

namespace {

using weft::c32;
using weft::EncodeFault;
using weft::EncodeJob;
using weft::EncodeMethod;
using namespace weft::kernels;

struct Arrays {
    std::vector<double> a = std::vector<double>(6, 0.5), b = std::vector<double>(2, 0.25);
    std::vector<c32> sa = std::vector<c32>(12), sb = std::vector<c32>(4);
    std::vector<EncodeJob> jobs{{a, sa, 3}, {b, sb, 1}};
};

std::string refusal(EncodeMethod method, const std::vector<EncodeJob>& jobs, std::uint32_t qubits = 2) {
    try {
        check_encode_jobs(method, jobs, qubits);
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::invalid_argument);
        return error.what();
    }
    return "accepted";
}

TEST_CASE("lists of arrays: numbers of samples may differ, types and features may not") {
    Arrays x;
    CHECK(refusal(EncodeMethod::angle, x.jobs) == "accepted");
    CHECK(check_encode_jobs(EncodeMethod::angle, x.jobs, 2) == 2);
    CHECK(samples_of(x.jobs) == 4);
    CHECK(check_encode_jobs(EncodeMethod::angle, {}, 2) == 2);
    const std::vector<float> narrow(2, 0.5f);
    x.jobs[1].values = narrow;
    CHECK(refusal(EncodeMethod::angle, x.jobs) ==
          "encode angle: job 1: values are of another type (got float32, need float64 as in job 0)");
    x.jobs[1].values = x.b;
    std::vector<weft::c64> wide(4);
    x.jobs[1].states = wide;
    CHECK(refusal(EncodeMethod::angle, x.jobs) ==
          "encode angle: job 1: states are of another type (got complex128, need complex64 as in job 0)");
    x.jobs[1].states = x.sb;
    const std::vector<double> three(3, 1);
    x.jobs[1].values = three;
    CHECK(refusal(EncodeMethod::amplitude, x.jobs) ==
          "encode amplitude: job 1: another number of values a sample (got 3, need 2 as in job 0)");
}

TEST_CASE("lists of arrays: refusals of an array name its job") {
    Arrays x;
    x.jobs[1].samples = 0;
    CHECK(refusal(EncodeMethod::angle, x.jobs) == "encode angle: job 1: no samples (got 0, need at least 1)");
    x.jobs[1] = {x.b, weft::HostArray(nullptr, 4, weft::kComplex64), 1};
    CHECK(refusal(EncodeMethod::angle, x.jobs) == "encode: job 1: states are null");
    x.jobs[1] = {x.b, x.sb, 2};
    CHECK(refusal(EncodeMethod::angle, x.jobs) ==
          "encode angle: job 1: states do not fit the shape (got 4 amplitudes, need 8)");
    x.jobs[1] = {x.b, weft::HostArray(x.sa.data() + 10, 4, weft::kComplex64), 1};
    const std::string text = refusal(EncodeMethod::angle, x.jobs);
    CHECK(text ==
          "encode angle: states overlap memory of another job (got an overlap of 16 bytes of jobs 0 and 1, "
          "need "
          "separate memory)");
    CHECK(refusal(EncodeMethod::angle, Arrays().jobs, 31).find("qubits out of range") != std::string::npos);
    // Values may be shared.
    Arrays y;
    y.jobs[1].values = weft::ConstHostArray(y.a.data() + 2, 2, weft::kFloat64);
    CHECK(refusal(EncodeMethod::angle, y.jobs) == "accepted");
}

TEST_CASE("lists of arrays: failures have a job and its sample") {
    Arrays x;
    x.a[3] = std::numeric_limits<double>::quiet_NaN();
    x.b[1] = std::numeric_limits<double>::infinity();
    const auto found = find_job_faults(EncodeMethod::angle, 2, 2, x.jobs, 4);
    REQUIRE(found.size() == 2);
    CHECK((found[0].job == 0 && found[0].sample == 1 && found[0].position == 1));
    CHECK((found[1].job == 1 && found[1].sample == 0 && found[1].position == 1));
    CHECK(found[1].fault == EncodeFault::infinite);
    std::vector<weft::EncodeFailure> counted{{1, 1, EncodeFault::not_a_number},
                                             {3, 1, EncodeFault::infinite}};
    name_jobs(x.jobs, counted);
    CHECK((counted[0].job == 0 && counted[0].sample == 1));
    CHECK((counted[1].job == 1 && counted[1].sample == 0));
    try {
        require_no_failures(EncodeMethod::angle, counted, true, true);
        FAIL_CHECK("was accepted");
    } catch (const weft::EncodeError& error) {
        CHECK(std::string(error.what()) ==
              "encode angle: job 0 sample 1 value 1 is not a number, job 1 sample 0 value 1 is infinite (2 "
              "samples "
              "cannot be encoded; their states are zeros, all others are right)");
        CHECK(error.failures()[1].job == 1);
    }
}

}  // namespace
