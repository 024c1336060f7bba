// SPDX-License-Identifier: Apache-2.0
// Kernel operators: products, rows, the diagonal, models and eigenvalues, compared with K pair by pair.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>

#include "capi/fixture.hpp"
#include "support/operator_oracle.hpp"
#include "support/scratch_folder.hpp"

using namespace weft_test;

namespace {

constexpr std::uint32_t kQubits = 3;
constexpr std::size_t kSamples = 40, kOthers = 24;

std::vector<double> features(std::size_t rows, std::uint32_t seed) {
    return scattered<double>(rows * kQubits, seed);
}

weft_kernel_options operator_options(weft_type type = WEFT_FLOAT64) {
    weft_kernel_options options{};
    options.size = sizeof(options);
    options.type = type;
    return options;
}
weft_kernel_apply_options apply_options() {
    weft_kernel_apply_options options{};
    options.size = sizeof(options);
    return options;
}
weft_kernel_solve_options solve_options() {
    weft_kernel_solve_options options{};
    options.size = sizeof(options);
    return options;
}

void make(weft_backend* backend, const std::vector<double>& x, const std::vector<double>& y,
          KernelOperator& k) {
    const weft_kernel_options options = operator_options();
    CHECK_OK(weft_kernel_operator_create(backend, nullptr, WEFT_FLOAT64, in(x),
                                         y.empty() ? weft_const_span{} : in(y),
                                         {x.size() / kQubits, y.size() / kQubits, kQubits, 0}, &options, &k));
}

std::vector<double> oracle_matrix(const std::vector<double>& x, const std::vector<double>& y = {}) {
    OperatorOracle oracle{.qubits = kQubits};
    oracle.square = y.empty();
    return oracle.matrix(x, y.empty() ? x : y);
}

/// a (K + lambda I) v + b before, or with the transpose of K.
struct Product {
    std::vector<double> k, v, before;
    std::size_t rows, columns, width;
    weft_kernel_apply_options options;

    std::vector<double> want() const {
        std::vector<double> all = oracle_product(k, rows, columns, v, width, options.transpose != 0);
        const double a = options.a != 0 ? options.a : 1;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double own = options.lambda != 0 ? options.lambda * v[i] : 0;
            all[i] = a * (all[i] + own) + options.b * before[i];
        }
        return all;
    }
};

void check_near(const std::vector<double>& got, const std::vector<double>& want, double most = 1e-10) {
    REQUIRE(got.size() == want.size());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - want[i]));
    CHECK(worst < most);
}

void apply(weft_backend* backend, const KernelOperator& k, const Product& product, bool resident) {
    std::vector<double> got = product.before;
    weft_report report{};
    report.size = sizeof(report);
    if (!resident) {
        CHECK_OK(weft_kernel_apply(backend, k, in(product.v), out(got), &product.options, &report));
        CHECK(report.items == product.rows * product.columns);
    } else {
        Stream stream;
        Buffer v, o;
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, in(product.v).bytes, nullptr, &v));
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, in(got).bytes, nullptr, &o));
        CHECK_OK(weft_stream_upload(stream, in(product.v), weft_buffer_view(v)));
        CHECK_OK(weft_stream_upload(stream, in(got), weft_buffer_view(o)));
        CHECK_OK(
            weft_stream_kernel_apply(stream, k, weft_buffer_view(v), weft_buffer_view(o), &product.options));
        CHECK_OK(weft_stream_download(stream, weft_buffer_view(o), out(got)));
    }
    check_near(got, product.want());
}

}  // namespace

TEST_CASE("c: products with kernel operators, their factors and transposes") {
    on_device([](weft_backend* backend) {
        const std::vector<double> x = features(kSamples, 1), y = features(kOthers, 2);
        KernelOperator square, pair;
        make(backend, x, {}, square);
        make(backend, x, y, pair);
        weft_kernel_apply_options plain = apply_options(), all = apply_options(), transposed = all;
        all.a = -2, all.b = 0.5, all.lambda = 0.25;
        transposed.transpose = 1;
        for (const bool resident : {false, true})
            for (const std::size_t width : {std::size_t{1}, std::size_t{3}}) {
                const auto v = [&](std::size_t rows) { return scattered<double>(rows * width, 5); };
                const auto before = [&](std::size_t rows) { return scattered<double>(rows * width, 6); };
                CAPTURE(width);
                CAPTURE(resident);
                apply(backend, square,
                      {oracle_matrix(x), v(kSamples), before(kSamples), kSamples, kSamples, width, plain},
                      resident);
                apply(backend, square,
                      {oracle_matrix(x), v(kSamples), before(kSamples), kSamples, kSamples, width, all},
                      resident);
                apply(backend, pair,
                      {oracle_matrix(x, y), v(kOthers), before(kSamples), kSamples, kOthers, width, plain},
                      resident);
                apply(
                    backend, pair,
                    {oracle_matrix(x, y), v(kSamples), before(kOthers), kSamples, kOthers, width, transposed},
                    resident);
            }
    });
}

TEST_CASE("c: rows of K and its diagonal, from features on the device too") {
    on_device([](weft_backend* backend) {
        const std::vector<double> x = features(kSamples, 1), k = oracle_matrix(x);
        Stream stream;
        Buffer of_x, of_out;
        CHECK_OK(weft_stream_create(backend, nullptr, &stream));
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, in(x).bytes, nullptr, &of_x));
        CHECK_OK(weft_stream_upload(stream, in(x), weft_buffer_view(of_x)));
        const weft_kernel_options options = operator_options();
        KernelOperator resident, host;
        CHECK_OK(weft_stream_kernel_operator_create(stream, nullptr, WEFT_FLOAT64, weft_buffer_view(of_x), {},
                                                    {kSamples, 0, kQubits, 0}, &options, &resident));
        make(backend, x, {}, host);
        const std::uint32_t rows[] = {39, 0, 7, 7};
        std::vector<double> want, got(4 * kSamples), also(got), diagonal(kSamples), of_stream(kSamples);
        for (const std::uint32_t row : rows)
            want.insert(want.end(), k.begin() + static_cast<std::ptrdiff_t>(row * kSamples),
                        k.begin() + static_cast<std::ptrdiff_t>((row + 1) * kSamples));
        weft_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_kernel_rows(backend, host, rows, 4, out(got), &report));
        CHECK(report.items == 4 * kSamples);
        check_near(got, want);
        CHECK_OK(weft_buffer_create(backend, WEFT_DEVICE_MEMORY, in(also).bytes, nullptr, &of_out));
        CHECK_OK(weft_stream_kernel_rows(stream, resident, rows, 4, weft_buffer_view(of_out)));
        CHECK_OK(weft_stream_download(stream, weft_buffer_view(of_out), out(also)));
        CHECK(also == got);
        CHECK_OK(weft_kernel_diagonal(backend, host, out(diagonal), nullptr));
        check_near(diagonal, std::vector<double>(kSamples, 1.0));
        const weft_view part{of_out, 0, in(of_stream).bytes};
        CHECK_OK(weft_stream_kernel_diagonal(stream, resident, part));
        CHECK_OK(weft_stream_download(stream, part, out(of_stream)));
        CHECK(of_stream == diagonal);
        std::vector<double> one(kSamples);
        CHECK_REFUSED(
            "weft_kernel_rows: no such row (got 40, need below 40)",
            weft_kernel_rows(backend, host, std::vector<std::uint32_t>{40}.data(), 1, out(one), nullptr));
        for (const std::uint64_t count : {std::uint64_t{1} << 62, (std::uint64_t{1} << 62) + 1, UINT64_MAX})
            CHECK_REFUSED("weft_kernel_rows: out does not hold the rows (got count",
                          weft_kernel_rows(backend, host, rows, count, out(one), nullptr));
    });
}

TEST_CASE("c: ridge regression, predictions and eigenvalues") {
    on_device([](weft_backend* backend) {
        const std::vector<double> x = features(kSamples, 1), y = scattered<double>(kSamples * 2, 9);
        KernelOperator k;
        make(backend, x, {}, k);
        weft_kernel_solve_options options = solve_options();
        options.lambda = 0.1;
        options.tolerance = 1e-9;
        weft_kernel_solve_report report{};
        report.size = sizeof(report);
        std::vector<double> alpha(y.size());
        for (const weft_choice preconditioner : {WEFT_AUTOMATIC, WEFT_OFF}) {
            options.preconditioner = preconditioner;
            CHECK_OK(weft_kernel_solve(backend, k, in(y), out(alpha), &options, &report));
            CHECK(report.converged == 1);
            CHECK((report.rank == 0) == (preconditioner == WEFT_OFF));
            CHECK(report.residual == std::max(report.residuals[0], report.residuals[1]));
            CHECK(report.residuals[2] == 0);
            std::vector<double> again = oracle_product(oracle_matrix(x), kSamples, kSamples, alpha, 2);
            for (std::size_t i = 0; i < again.size(); ++i) again[i] += 0.1 * alpha[i];
            check_near(again, y, 1e-7);
        }
        const std::vector<double> x_new = features(5, 3);
        std::vector<double> predicted(10), values(2), vectors(2 * kSamples);
        CHECK_OK(weft_kernel_predict(backend, nullptr, WEFT_FLOAT64, in(x_new), in(x), WEFT_FLOAT64,
                                     in(alpha), out(predicted), {5, kSamples, kQubits, 0}, nullptr, nullptr));
        check_near(predicted, oracle_product(oracle_matrix(x_new, x), 5, kSamples, alpha, 2));
        options = solve_options();
        options.tolerance = 1e-8;
        CHECK_OK(weft_kernel_eigen(backend, k, out(values), out(vectors), &options, &report));
        CHECK(report.converged == 1);
        CHECK(report.iterations > 0);
        std::vector<double> scaled = vectors;
        for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= values[i % 2];
        check_near(oracle_product(oracle_matrix(x), kSamples, kSamples, vectors, 2), scaled, 1e-5);
    });
}

/// |<s_j|s_i>|^2 of rows of complex numbers.
std::vector<double> overlaps(const std::vector<double>& states, std::size_t rows) {
    const std::size_t amplitudes = states.size() / rows / 2;
    std::vector<double> k(rows * rows);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < rows; ++j) {
            std::complex<double> sum = 0;
            for (std::size_t a = 0; a < amplitudes; ++a) {
                const double* s = &states[2 * (i * amplitudes + a)];
                const double* t = &states[2 * (j * amplitudes + a)];
                sum += std::conj(std::complex<double>(t[0], t[1])) * std::complex<double>(s[0], s[1]);
            }
            k[i * rows + j] = std::norm(sum);
        }
    return k;
}

TEST_CASE("c: operators of states, and of circuits with re-upload") {
    on_device([](weft_backend* backend) {
        constexpr std::size_t kRows = 20;
        const std::vector<double> states = scattered<double>(kRows * 16, 3), v = scattered<double>(kRows, 4);
        const weft_kernel_options options = operator_options();
        KernelOperator k;
        CHECK_OK(weft_kernel_operator_create(backend, nullptr, WEFT_COMPLEX128, in(states), {},
                                             {kRows, 0, kQubits, 0}, &options, &k));
        std::vector<double> got(kRows), also(kRows);
        CHECK_OK(weft_kernel_apply(backend, k, in(v), out(got), nullptr, nullptr));
        check_near(got, oracle_product(overlaps(states, kRows), kRows, kRows, v, 1), 1e-9);
        CHECK_OK(weft_kernel_predict(backend, nullptr, WEFT_COMPLEX128, in(states), in(states), WEFT_FLOAT64,
                                     in(v), out(also), {kRows, kRows, kQubits, 0}, nullptr, nullptr));
        check_near(also, got, 1e-9);
        weft_kernel_circuit layers{};
        layers.size = sizeof(layers);
        KernelOperator none;
        CHECK_REFUSED("circuit does not apply to states (got one, need NULL)",
                      weft_kernel_operator_create(backend, &layers, WEFT_COMPLEX128, in(states), {},
                                                  {kRows, 0, kQubits, 0}, &options, &none));

        const std::vector<double> x = features(kRows, 1), weights(2 * kQubits, 0.5);
        layers.weights = in(weights);
        layers.weights_type = WEFT_FLOAT64;
        layers.reupload = 1;
        std::vector<double> stored(kRows * kRows);
        CHECK_OK(weft_kernel_matrix(backend, &layers, WEFT_FLOAT64, in(x), {}, WEFT_FLOAT64, out(stored),
                                    {kRows, 0, kQubits, 0}, nullptr, nullptr));
        KernelOperator made;
        CHECK_OK(weft_kernel_operator_create(backend, &layers, WEFT_FLOAT64, in(x), {},
                                             {kRows, 0, kQubits, 0}, &options, &made));
        CHECK_OK(weft_kernel_apply(backend, made, in(v), out(got), nullptr, nullptr));
        check_near(got, oracle_product(stored, kRows, kRows, v, 1), 1e-9);
    });
}

TEST_CASE("c: a solve continues from its checkpoint") {
    on_device([](weft_backend* backend) {
        const ScratchFolder folder;
        const std::string file = (folder.path() / "solve").string();
        const std::vector<double> x = features(kSamples, 1), y = scattered<double>(kSamples, 9);
        KernelOperator k;
        make(backend, x, {}, k);
        weft_kernel_solve_options options = solve_options();
        options.tolerance = 1e-10;
        options.preconditioner = WEFT_OFF;
        std::vector<double> whole(kSamples), resumed(kSamples);
        weft_kernel_solve_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_kernel_solve(backend, k, in(y), out(whole), &options, &report));
        CHECK(report.resumed == 0);
        REQUIRE(report.iterations > 4);
        options.checkpoint = file.c_str();
        options.checkpoint_every = 2;
        options.max_iterations = 4;
        CHECK_OK(weft_kernel_solve(backend, k, in(y), out(resumed), &options, &report));
        CHECK(report.converged == 0);
        options.max_iterations = 0;
        options.resume = 1;
        CHECK_OK(weft_kernel_solve(backend, k, in(y), out(resumed), &options, &report));
        CHECK(report.resumed == 4);
        CHECK(resumed == whole);
        weft_kernel_solve_options nameless = options;
        nameless.checkpoint = "";
        CHECK_REFUSED("weft_kernel_solve_options.checkpoint: no file (got an empty path, need one, or NULL)",
                      weft_kernel_solve(backend, k, in(y), out(resumed), &nameless, nullptr));
        options.resume = 2;
        CHECK_REFUSED("weft_kernel_solve_options.resume",
                      weft_kernel_solve(backend, k, in(y), out(resumed), &options, nullptr));
        weft_kernel_solve_options of_eigen = solve_options();
        of_eigen.checkpoint = file.c_str();
        std::vector<double> value(1), vector(kSamples);
        CHECK_REFUSED("weft_kernel_solve_options.checkpoint applies to weft_kernel_solve alone",
                      weft_kernel_eigen(backend, k, out(value), out(vector), &of_eigen, nullptr));
    });
}

TEST_CASE("c: progress of a solve counts iterations, and ends it") {
    on_device([](weft_backend* backend) {
        const std::vector<double> x = features(kSamples, 1), y = scattered<double>(kSamples, 9);
        KernelOperator k;
        make(backend, x, {}, k);
        int calls = 0;
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        batch.user = &calls;
        batch.progress = [](void* user, const weft_progress* now) {
            CHECK(now->total == 7);
            return ++*static_cast<int*>(user) == 2 ? 1 : 0;
        };
        weft_kernel_solve_options options = solve_options();
        options.max_iterations = 7;
        options.tolerance = 1e-14;
        options.preconditioner = WEFT_OFF;
        options.batch = &batch;
        std::vector<double> alpha(kSamples, 77);
        CHECK_STATUS(WEFT_CANCELLED, "weft_kernel_solve: ended by its callback",
                     weft_kernel_solve(backend, k, in(y), out(alpha), &options, nullptr));
        CHECK(alpha == std::vector<double>(kSamples, 77));
    });
}

TEST_CASE("c: operators on several devices") {
    const char* const device = std::getenv("WEFT_DEVICE");
    const std::string twice = device != nullptr ? std::string(device) + "," + device : "0,0";
    weft_backend_options settings{};
    settings.size = sizeof(settings);
    settings.device = twice.c_str();
    Backend several;
    CHECK_OK(weft_backend_create(&settings, &several));
    const std::vector<double> x = features(kSamples, 1), v = scattered<double>(kSamples, 4);
    KernelOperator k;
    make(several, x, {}, k);
    std::vector<double> got(kSamples), rows(kSamples), diagonal(kSamples), alpha(kSamples);
    weft_report report{};
    report.size = sizeof(report);
    CHECK_OK(weft_kernel_apply(several, k, in(v), out(got), nullptr, &report));
    CHECK(report.devices == weft_backend_count(several));
    check_near(got, oracle_product(oracle_matrix(x), kSamples, kSamples, v, 1));
    const std::uint32_t row = 3;
    CHECK_OK(weft_kernel_rows(several, k, &row, 1, out(rows), nullptr));
    CHECK(rows[3] == 1);
    CHECK_OK(weft_kernel_diagonal(several, k, out(diagonal), nullptr));
    CHECK(diagonal[kSamples - 1] == 1);
    CHECK_OK(weft_kernel_solve(several, k, in(v), out(alpha), nullptr, nullptr));
    CHECK_OK(weft_kernel_predict(several, nullptr, WEFT_FLOAT64, in(x), in(x), WEFT_FLOAT64, in(v), out(got),
                                 {kSamples, kSamples, kQubits, 0}, nullptr, nullptr));
    check_near(got, oracle_product(oracle_matrix(x, x), kSamples, kSamples, v, 1));
    weft_estimate estimate{};
    estimate.size = sizeof(estimate);
    CHECK_REFUSED("weft_backend_at",
                  weft_estimate_kernel_operator(several, nullptr, {4, 0, 2, 0}, 1, nullptr, &estimate));
}

TEST_CASE("c: estimates of operators") {
    on_device([](weft_backend* backend) {
        weft_estimate estimate{};
        estimate.size = sizeof(estimate);
        weft_kernel_options options = operator_options(0);
        options.symmetric = WEFT_OFF;
        CHECK_OK(weft_estimate_kernel_operator(backend, nullptr, {100000, 0, 12, 0}, 1, &options, &estimate));
        CHECK(std::string(estimate.method) == "product");
        CHECK(estimate.pairs == 10000000000);
        CHECK(estimate.symmetric == 0);
        CHECK(estimate.passes == 1);
        CHECK(estimate.columns_together >= 1);
        CHECK(estimate.held_bytes >= 4u * 3 * 12 * 100000);
        CHECK(estimate.streamed_bytes == estimate.held_bytes + estimate.resident_bytes);
        CHECK(estimate.error > 0);
        CHECK(estimate.instructions > 0);
        CHECK_REFUSED("columns",
                      weft_estimate_kernel_operator(backend, nullptr, {4, 0, 2, 0}, 65, nullptr, &estimate));
        CHECK_OK(
            weft_estimate_kernel_matrix(backend, nullptr, {100, 0, 6, 0}, WEFT_FLOAT32, nullptr, &estimate));
        CHECK(estimate.pairs == 0);  // of operators alone
    });
}

TEST_CASE("c: operators that cannot be are refused in the words of C") {
    on_device([](weft_backend* backend) {
        std::vector<double> x = features(4, 1), v(4), o(4);
        weft_kernel_options options = operator_options();
        const auto refused = [&](const char* part, const weft_kernel_circuit* circuit = nullptr) {
            KernelOperator none;
            CHECK_REFUSED(part, weft_kernel_operator_create(backend, circuit, WEFT_FLOAT64, in(x), {},
                                                            {4, 0, kQubits, 0}, &options, &none));
            CHECK(static_cast<weft_kernel_operator*>(none) == nullptr);
            options = operator_options();
        };
        options.type = WEFT_COMPLEX64, refused("weft_kernel_operator_create: ");
        options.autotune = WEFT_ON, refused("weft_kernel_options.autotune applies to kernel matrices alone");
        options.state_tile = 1, refused("weft_kernel_options.state_tile applies to kernel matrices alone");
        options.bulk_states = WEFT_ON, refused("weft_kernel_options.bulk_states applies to kernel matrices");
        options.symmetric = 3, refused("weft_kernel_options.symmetric: no such value");
        options.low_rank = 3, refused("weft_kernel_options.low_rank: no such value");
        options.jitter = 1, refused("weft_kernel_options.jitter");
        options.vram_fraction = 2, refused("vram_fraction out of range");
        options.reserved = 1, refused("weft_kernel_options.reserved");
        x[4] = std::numeric_limits<double>::quiet_NaN();
        refused("weft_kernel_operator_create: ");
        weft_failure failure{};
        CHECK(weft_last_failures(&failure, 1) == 1);
        CHECK(failure.sample == 1);
        std::vector<float> m(16), f(12, 0.5f);
        options = operator_options();
        CHECK_REFUSED("weft_kernel_options.type applies to kernel operators alone",
                      weft_kernel_matrix(backend, nullptr, WEFT_FLOAT32, in(f), {}, WEFT_FLOAT32, out(m),
                                         {4, 0, kQubits, 0}, &options, nullptr));
        KernelOperator k;
        make(backend, features(4, 1), {}, k);
        weft_kernel_apply_options apply = apply_options();
        apply.transpose = 2;
        CHECK_REFUSED("weft_kernel_apply_options.transpose",
                      weft_kernel_apply(backend, k, in(v), out(o), &apply, nullptr));
        CHECK_REFUSED("weft_kernel_apply: v ",
                      weft_kernel_apply(backend, k, {v.data(), 24}, out(o), nullptr, nullptr));
        weft_kernel_solve_options solve = solve_options();
        solve.rank = 3, solve.preconditioner = WEFT_OFF;
        CHECK_REFUSED("weft_kernel_solve_options.rank does not apply without a preconditioner (got 3",
                      weft_kernel_solve(backend, k, in(v), out(o), &solve, nullptr));
        CHECK_REFUSED("weft_kernel_solve_options.preconditioner applies to weft_kernel_solve alone",
                      weft_kernel_eigen(backend, k, out(v), out(o), &solve, nullptr));
        solve = solve_options();
        solve.pivots = 2;
        CHECK_REFUSED("weft_kernel_solve_options.pivots: no such value",
                      weft_kernel_solve(backend, k, in(v), out(o), &solve, nullptr));
    });
}
