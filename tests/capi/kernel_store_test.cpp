// SPDX-License-Identifier: Apache-2.0
// Kernel matrices in files: a run that ends early is continued, with the bits of one call.
#include <cstring>
#include <thread>

#include "capi/fixture.hpp"
#include "support/operator_oracle.hpp"
#include "support/scratch_folder.hpp"

using namespace weft_test;

namespace {

constexpr std::uint32_t kQubits = 3;
constexpr std::uint64_t kSamples = 300;
constexpr weft_kernel_shape kShape{kSamples, 0, kQubits, 0};
constexpr std::uint64_t kTileBytes = 64 * 64 * 4;

weft_kernel_store_info described(const KernelStore& store) {
    weft_kernel_store_info info{};
    info.size = sizeof(info);
    CHECK_OK(weft_kernel_store_describe(store, &info));
    return info;
}

}  // namespace

TEST_CASE("c: a kernel matrix in a file continues where a run has ended") {
    on_device([](weft_backend* backend) {
        const ScratchFolder folder;
        const std::string file = folder.path() / "k.npy";
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1);
        std::vector<float> k(kSamples * kSamples);
        CHECK_OK(weft_kernel_matrix(backend, nullptr, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(k), kShape,
                                    nullptr, nullptr));
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        batch.progress = [](void*, const weft_progress* now) { return now->done < now->total ? 1 : 0; };
        weft_kernel_options options{};
        options.size = sizeof(options);
        options.batch = &batch;
        {
            KernelStore store;
            CHECK_OK(weft_kernel_store_create(file.c_str(), kShape, WEFT_FLOAT32, kTileBytes, &store));
            CHECK(described(store).tiles == 0);
            CHECK(described(store).values.data == nullptr);
            CHECK_STATUS(
                WEFT_CANCELLED, "weft_kernel_store_fill: ",
                weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(x), {}, &options, nullptr));
            CHECK_REFUSED("call weft_kernel_store_fill with it first", weft_kernel_store_finish(store));
        }
        KernelStore store;
        CHECK_OK(weft_kernel_store_create(file.c_str(), kShape, WEFT_FLOAT32, kTileBytes, &store));
        weft_report report{};
        report.size = sizeof(report);
        CHECK_OK(weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(x), {}, nullptr, &report));
        const weft_kernel_store_info info = described(store);
        CHECK(info.kept > 0);
        CHECK(info.kept < info.tiles);
        CHECK(info.damaged == 0);
        CHECK(report.items < kSamples * (kSamples + 1) / 2);
        REQUIRE(info.values.bytes == in(k).bytes);
        CHECK(std::memcmp(info.values.data, k.data(), info.values.bytes) == 0);
        CHECK_OK(weft_kernel_store_finish(store));
        CHECK(described(store).values.data == nullptr);
        const std::string npy = read_whole(file);
        REQUIRE(npy.size() > in(k).bytes);
        CHECK(std::memcmp(npy.data() + npy.size() - in(k).bytes, k.data(), in(k).bytes) == 0);
        CHECK_REFUSED("weft_kernel_store_finish: ", weft_kernel_store_finish(store));
    });
}

TEST_CASE("c: a store of states, and of features with others") {
    on_device([](weft_backend* backend) {
        const ScratchFolder folder;
        const std::vector<float> states{1, 0, 0, 0, 0, 0, 1, 0};  // |0> and |1>
        KernelStore of_states, pair;
        CHECK_OK(weft_kernel_store_create((folder.path() / "states.npy").c_str(), {2, 0, 1, 0}, WEFT_FLOAT32,
                                          0, &of_states));
        weft_kernel_circuit circuit{};
        circuit.size = sizeof(circuit);
        CHECK_REFUSED("circuit does not apply to states",
                      weft_kernel_store_fill(of_states, backend, &circuit, WEFT_COMPLEX64, in(states), {},
                                             nullptr, nullptr));
        CHECK_OK(weft_kernel_store_fill(of_states, backend, nullptr, WEFT_COMPLEX64, in(states), {}, nullptr,
                                        nullptr));
        const auto* const k = static_cast<const float*>(described(of_states).values.data);
        CHECK(std::vector<float>(k, k + 4) == std::vector<float>{1, 0, 0, 1});
        const std::vector<double> x = scattered<double>(3 * kQubits, 1),
                                  y = scattered<double>(2 * kQubits, 2);
        CHECK_OK(weft_kernel_store_create((folder.path() / "pair.npy").c_str(), {3, 2, kQubits, 0},
                                          WEFT_FLOAT64, 0, &pair));
        CHECK_OK(
            weft_kernel_store_fill(pair, backend, nullptr, WEFT_FLOAT64, in(x), in(y), nullptr, nullptr));
        const auto* const values = static_cast<const double*>(described(pair).values.data);
        OperatorOracle oracle{.qubits = kQubits};
        oracle.square = false;
        const std::vector<double> want = oracle.matrix(x, y);
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(values[i] == doctest::Approx(want[i]));
    });
}

TEST_CASE("c: stores that cannot be are refused, and belong to one thread at a time") {
    on_device([](weft_backend* backend) {
        const ScratchFolder folder;
        const std::string file = folder.path() / "k.npy";
        KernelStore store, second;
        CHECK_REFUSED("weft_kernel_store_create: ",
                      weft_kernel_store_create(file.c_str(), kShape, WEFT_COMPLEX64, 0, &store));
        CHECK_REFUSED("weft_kernel_store_create: file is NULL",
                      weft_kernel_store_create(nullptr, kShape, WEFT_FLOAT32, 0, &store));
        CHECK_STATUS(WEFT_IO, "weft_kernel_store_create: ",
                     weft_kernel_store_create("/there/is/no/k.npy", kShape, WEFT_FLOAT32, 0, &store));
        CHECK_OK(weft_kernel_store_create(file.c_str(), kShape, WEFT_FLOAT32, 0, &store));
        CHECK_STATUS(WEFT_IO, "weft_kernel_store_create: ",
                     weft_kernel_store_create(file.c_str(), kShape, WEFT_FLOAT32, 0, &second));
        CHECK(static_cast<weft_kernel_store*>(second) == nullptr);
        struct Inside {
            weft_kernel_store* store;
            weft_status status;
        } inside{store, WEFT_OK};
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        batch.user = &inside;
        batch.progress = [](void* user, const weft_progress*) {
            auto& self = *static_cast<Inside*>(user);
            std::thread([&] { self.status = weft_kernel_store_finish(self.store); }).join();
            return 0;
        };
        weft_kernel_options options{};
        options.size = sizeof(options);
        options.batch = &batch;
        const std::vector<float> x = scattered<float>(kSamples * kQubits, 1);
        CHECK_OK(weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(x), {}, &options, nullptr));
        CHECK(inside.status == WEFT_INVALID_ARGUMENT);
        CHECK_REFUSED(
            "make another weft_kernel_store",
            weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(x), {}, nullptr, nullptr));
        store.reset();
        CHECK_OK(weft_kernel_store_create(file.c_str(), kShape, WEFT_FLOAT32, 0, &store));
        std::vector<float> other = x;
        other[0] += 1;
        CHECK_REFUSED(
            "weft_kernel_store_fill: the tile store is of another",
            weft_kernel_store_fill(store, backend, nullptr, WEFT_FLOAT32, in(other), {}, nullptr, nullptr));
    });
}
