// SPDX-License-Identifier: Apache-2.0
// The tables of encode in every place: states are within the stated bound of their definition, have the same
// bits in all places of one back end, and have the same faults.
#include "conformance/encode_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/places.hpp"
#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::EncodeMethod;
using weft::StateShape;

// The states, even if some samples could not be encoded; `failed` gets the error that was thrown.
template <class Amplitude, class Value, class Place>
std::vector<Amplitude> encode_at(Place& place, EncodeMethod method, const std::vector<Value>& values,
                                 const StateShape& shape, std::optional<weft::EncodeError>* failed = nullptr,
                                 bool check_values = false) {
    const auto in = place.input(values);
    auto out = place.template output<Amplitude>(shape.amplitudes());
    const typename Place::In x = place.read(in, values.size());
    const typename Place::Out states = place.write(out);
    try {
        if constexpr (Place::kHost) {
            const weft::EncodeHostOptions options{.check_values = check_values, .batch = place.batch()};
            const weft::OpReport report = call_encode(place, method, x, states, shape, options);
            CHECK(report.items == shape.samples);
        } else {
            const weft::EncodeOptions options{.check_values = check_values};
            call_encode(place, method, x, states, shape, options).require_all(place.stream());
        }
    } catch (const weft::EncodeError& error) {
        if (failed == nullptr) throw;
        failed->emplace(error);
    }
    return place.result(out);
}

template <class Body>
void with_types(const EncodeTypeCase& types, Body&& body) {
    if (types.wide_values)
        types.wide_states ? body(double{}, c64{}) : body(double{}, c32{});
    else
        types.wide_states ? body(float{}, c64{}) : body(float{}, c32{});
}

// Checks that bits are equal on a back end; `previous` is its earlier result.
template <class Amplitude>
void check_same_bits(const std::vector<Amplitude>& got, std::optional<std::vector<Amplitude>>& previous) {
    if (!previous) {
        previous = got;
        return;
    }
    REQUIRE(got.size() == previous->size());
    CHECK(std::memcmp(got.data(), previous->data(), got.size() * sizeof(Amplitude)) == 0);
}

void run(weft::Backend& backend, const EncodeCase& c, EncodeMethod method, std::uint32_t qubits,
         std::uint64_t samples, const EncodeTypeCase& types) {
    INFO("case: " << std::string(c.name) << ", " << std::string(weft::to_string(method)));
    CAPTURE(qubits);
    CAPTURE(samples);
    CAPTURE(types.wide_values);
    CAPTURE(types.wide_states);
    if (types.wide_states && !backend.device().shader_float64) return;
    const std::uint64_t step = samples > c.judged ? samples / 3 : 1;
    std::vector<double> values;
    std::vector<std::vector<Exact>> want;
    for (std::uint64_t s = 0; s < samples; ++s) {
        const std::vector<double> row = c.row(method, qubits, s);
        values.insert(values.end(), row.begin(), row.end());
        if (s % step == 0) want.push_back(expected_state(method, row, qubits));
    }
    with_types(types, [&]<class Value, class Amplitude>(Value, Amplitude) {
        const double bound = types.wide_states ? c.bound64 : tolerance<Amplitude>(method, qubits);
        std::optional<std::vector<Amplitude>> by_vulkan, by_cuda;
        on_places(backend, c.chunks ? 1 : 0, [&](auto& place) {
            const auto states =
                encode_at<Amplitude>(place, method, cast_values<Value>(values), {samples, qubits});
            for (std::size_t w = 0; w < want.size(); ++w)
                CHECK(worst_difference(states, w * step << qubits, want[w]) < bound);
            check_same_bits(states, place.kCuda ? by_cuda : by_vulkan);
        });
    });
}

template <class Amplitude, class Value>
void check_answer(weft::Backend& backend, const EncodeAnswer& answer) {
    on_places(backend, 0, [&](auto& place) {
        const auto state =
            encode_at<Amplitude>(place, answer.method, cast_values<Value>(answer.values), {1, answer.qubits});
        double norm = 0;
        for (const Amplitude& a : state) norm += std::norm(c64(a.real(), a.imag()));
        CHECK(norm == doctest::Approx(1).epsilon(2e-6));
        for (const auto& [index, want] : answer.amplitudes) {
            CAPTURE(index);
            // Published values have 15 decimals; results of float32 values and states are right to 7.
            const double slack =
                std::is_same_v<Value, double> && std::is_same_v<Amplitude, c64> ? 2e-15 : 3e-7;
            CHECK(std::abs(state[index].real() - want.real()) < slack);
            CHECK(std::abs(state[index].imag() - want.imag()) < slack);
        }
    });
}

// Failed samples must be zeros and the others right; with check_values nothing may be written.
template <class Amplitude, class Value>
void check_faults(weft::Backend& backend, const EncodeFaults& bad, bool check_values) {
    CAPTURE(sizeof(Value));
    CAPTURE(check_values);
    const std::uint64_t most = weft::encode_features(bad.method, bad.qubits);
    const std::uint64_t features = bad.method != EncodeMethod::amplitude || bad.values.size() <= most ? most
                                   : bad.qubits == 2                                                  ? 3
                                                                                                      : 2;
    const StateShape shape{bad.values.size() / features, bad.qubits};
    on_places(backend, 1, [&](auto& place) {
        std::optional<weft::EncodeError> failed;
        const auto states = encode_at<Amplitude>(place, bad.method, cast_values<Value>(bad.values), shape,
                                                 &failed, check_values);
        REQUIRE(failed.has_value());
        INFO("error: " << std::string(failed->what()));
        CHECK(std::string(failed->what()).find(bad.text) != std::string::npos);
        CHECK(std::string(failed->what()).find(check_values ? "nothing was written" : "are zeros") !=
              std::string::npos);
        REQUIRE(failed->failures().size() == bad.failures.size());
        std::vector<bool> zero(shape.samples);
        for (std::size_t i = 0; i < bad.failures.size(); ++i) {
            const weft::EncodeFailure &got = failed->failures()[i], &want = bad.failures[i];
            CHECK(got.sample == want.sample);
            CHECK(got.position == want.position);
            CHECK(std::string(weft::to_string(got.fault)) == weft::to_string(want.fault));
            zero[want.sample] = true;
        }
        if (check_values) {
            const auto before = guarded<Amplitude>(states.size());
            CHECK(std::memcmp(states.data(), before.data(), states.size() * sizeof(Amplitude)) == 0);
            return;
        }
        for (std::uint64_t s = 0; s < shape.samples; ++s) {
            CAPTURE(s);
            std::vector<Exact> want(shape.state_size());
            if (!zero[s])
                want = expected_state(bad.method, std::span(bad.values).subspan(s * features, features),
                                      bad.qubits);
            CHECK(worst_difference(states, s << bad.qubits, want) <
                  tolerance<Amplitude>(bad.method, bad.qubits));
        }
    });
}

}  // namespace

TEST_CASE("encode conformance: published values") {
    on_device([](weft::Backend& backend) {
        for (const EncodeAnswer& answer : encode_answers()) {
            CAPTURE(weft::to_string(answer.method));
            CAPTURE(answer.qubits);
            check_answer<c32, double>(backend, answer);
            check_answer<c32, float>(backend, answer);
            if (!backend.device().shader_float64) continue;
            check_answer<c64, double>(backend, answer);
            check_answer<c64, float>(backend, answer);
        }
    });
}

// One test case with one backend, because a software device takes longer to compile the shaders than to run
// them.
TEST_CASE("encode conformance: the table") {
    on_device([](weft::Backend& backend) {
        for (const EncodeCase& c : encode_cases())
            for (const EncodeMethod method : c.methods)
                for (const auto& [qubits, samples] : c.sizes)
                    for (const EncodeTypeCase& types : c.types)
                        run(backend, c, method, qubits, samples, types);
    });
}

TEST_CASE("encode conformance: samples that cannot be encoded are named, the others are right") {
    on_device([](weft::Backend& backend) {
        for (const EncodeFaults& bad : encode_faults()) {
            CAPTURE(weft::to_string(bad.method));
            for (const bool check_values : {false, true}) {
                if (backend.device().shader_float64) check_faults<c64, double>(backend, bad, check_values);
                if (bad.method == EncodeMethod::basis) continue;  // some of these indices change as float32
                check_faults<c32, float>(backend, bad, check_values);
            }
        }
    });
}

// If all factors are equal, their errors add up instead of cancelling, so these states come closest to the
// bound. The first angles have the largest known errors; the others are near multiples of a turn.
TEST_CASE("encode conformance: equal angles stay within the bound for their number of qubits") {
    on_device([](weft::Backend& backend) {
        std::vector<float> angles{443278.75f, 813132.125f, 532434.0f, 0.022393635f, 1e-3f};
        for (int i = 0; i < 59; ++i)
            angles.push_back(static_cast<float>(i * 6.283185307179586 * 1709 + 0.001 * i * i - 0.7));
        for (const auto& [method, qubits, count] : {std::tuple{EncodeMethod::angle, 12u, std::size_t{64}},
                                                    {EncodeMethod::iqp_z, 12u, std::size_t{64}},
                                                    {EncodeMethod::iqp, 12u, std::size_t{64}},
                                                    {EncodeMethod::angle, 22u, std::size_t{3}},
                                                    {EncodeMethod::iqp_z, 18u, std::size_t{8}},
                                                    {EncodeMethod::iqp_z, 22u, std::size_t{3}},
                                                    {EncodeMethod::iqp, 16u, std::size_t{5}}}) {
            CAPTURE(weft::to_string(method));
            CAPTURE(qubits);
            const std::size_t features = weft::encode_features(method, qubits);
            std::vector<float> values(count * features, 0.0f);  // iqp without pairs is a product state too
            for (std::size_t s = 0; s < count; ++s)
                std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(s * features), qubits, angles[s]);
            on_places(backend, 0, [&, method = method, qubits = qubits, count = count](auto& place) {
                const auto states = encode_at<c32>(place, method, values, {count, qubits});
                double worst = 0;
                for (std::size_t s = 0; s < count; ++s) {
                    const auto x = static_cast<long double>(angles[s]);
                    const bool angle = method == EncodeMethod::angle;
                    const Exact zero = angle ? Exact(std::cos(x)) : (Exact(1) + std::polar(1.0L, x)) / 2.0L;
                    const Exact one = angle ? Exact(std::sin(x)) : (Exact(1) - std::polar(1.0L, x)) / 2.0L;
                    for (const std::size_t i :
                         {std::size_t{0}, (std::size_t{1} << qubits) - 1, std::size_t{5}}) {
                        Exact want = 1;
                        for (std::uint32_t k = 0; k < qubits; ++k) want *= (i >> k & 1) != 0 ? one : zero;
                        const c32 got = states[(s << qubits) + i];
                        worst = std::max(worst,
                                         static_cast<double>(std::abs(Exact(got.real(), got.imag()) - want)));
                    }
                }
                CHECK(worst < tolerance<c32>(method, qubits));
                if (method == EncodeMethod::iqp_z && qubits == 18)
                    CHECK(worst > 9e-7);  // so the error does grow with the number of qubits
            });
        }
    });
}

TEST_CASE("encode conformance: a list of arrays has the bits and the faults of its arrays") {
    on_device([](weft::Backend& backend) {
        for (const auto& [method, qubits] :
             {std::pair{EncodeMethod::amplitude, 3u}, std::pair{EncodeMethod::angle, 5u},
              std::pair{EncodeMethod::phase, 4u}, std::pair{EncodeMethod::iqp, 3u},
              std::pair{EncodeMethod::iqp_z, 14u}, std::pair{EncodeMethod::amplitude, 14u}})
            on_places(backend, 1, [&](auto& place) {
                if constexpr (std::remove_reference_t<decltype(place)>::kHost) {
                    INFO("method " << weft::to_string(method) << ", " << qubits << " qubits");
                    const std::uint64_t features = weft::encode_features(method, qubits);
                    constexpr std::uint64_t kSamples[] = {2, 1, 7, 1};
                    std::vector<std::vector<double>> values;
                    std::vector<std::vector<c32>> states, want;
                    std::vector<weft::EncodeJob> jobs;
                    std::uint64_t seed = 0;
                    for (const std::uint64_t samples : kSamples) {
                        std::vector<double>& x = values.emplace_back(samples * features);
                        for (double& value : x) value = std::sin(0.37 * static_cast<double>(++seed));
                        if (samples == 7) x[2 * features] = std::nan("");
                        states.emplace_back(samples << qubits, c32(7, 7));
                        std::optional<weft::EncodeError> failed;
                        want.push_back(encode_at<c32>(place, method, x, {samples, qubits}, &failed));
                        CHECK(failed.has_value() == (samples == 7));
                    }
                    for (std::size_t j = 0; j < values.size(); ++j)
                        jobs.push_back({values[j], states[j], kSamples[j]});
                    std::vector<std::uint64_t> seen;
                    weft::EncodeHostOptions options{.batch = place.batch()};
                    options.batch.progress = [&](const weft::Progress& p) {
                        CHECK(p.total == 11);
                        seen.push_back(p.done);
                    };
                    try {
                        call_encode_batch(place, method, std::span<const weft::EncodeJob>(jobs), qubits,
                                          options);
                        FAIL_CHECK("the bad sample was not reported");
                    } catch (const weft::EncodeError& error) {
                        REQUIRE(error.failures().size() == 1);
                        CHECK(error.failures()[0].job == 2);
                        CHECK(error.failures()[0].sample == 2);
                        CHECK(std::string(error.what()).find("job 2 sample 2 value 0") != std::string::npos);
                    }
                    CHECK(states == want);
                    CHECK(std::is_sorted(seen.begin(), seen.end()));
                    values[2][2 * features] = 0.5;
                    const weft::OpReport report = call_encode_batch(
                        place, method, std::span<const weft::EncodeJob>(jobs), qubits, options);
                    CHECK(report.items == 11);
                    CHECK(report.jobs == 4);
                    CHECK(seen.back() == 11);
                    CHECK(report.op == "encode_batch");
                }
            });
    });
}

TEST_CASE("encode conformance: a list of arrays with check_values writes nothing if one value is bad") {
    on_device([](weft::Backend& backend) {
        on_places(backend, 0, [&](auto& place) {
            if constexpr (std::remove_reference_t<decltype(place)>::kHost) {
                const std::vector<double> good{0.1, 0.2}, bad{0.3, std::nan("")};
                std::vector<c32> first(4, c32(7, 7)), second(4, c32(7, 7));
                const std::vector<weft::EncodeJob> jobs{{good, first, 1}, {bad, second, 1}};
                const weft::EncodeHostOptions options{.check_values = true, .batch = place.batch()};
                check_error(weft::Errc::invalid_argument, "job 1 sample 0 value 1 is not a number", [&] {
                    call_encode_batch(place, EncodeMethod::angle, std::span<const weft::EncodeJob>(jobs), 2u,
                                      options);
                });
                CHECK(first == std::vector<c32>(4, c32(7, 7)));
                const weft::OpReport none = call_encode_batch(
                    place, EncodeMethod::angle, std::span<const weft::EncodeJob>(), 2u, options);
                CHECK(none.items == 0);
            }
        });
    });
}
