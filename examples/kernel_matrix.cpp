// SPDX-License-Identifier: Apache-2.0
// Keeps data on the device: angles are encoded into states, a kernel matrix is computed, and only it is
// downloaded.
#include <cmath>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr weft::StateShape shape{.samples = 256, .qubits = 8};

std::vector<float> read_angles() {
    std::vector<float> angles(shape.samples * shape.qubits);
    for (std::size_t i = 0; i < angles.size(); ++i) angles[i] = 0.3f * std::sin(0.7f * static_cast<float>(i));
    return angles;
}

}  // namespace

int main() try {
    weft::Backend backend;
    weft::Stream stream{backend};
    weft::Buffer<float> angles{backend, shape.samples * shape.qubits};  // [samples, qubits], radians
    weft::Buffer<weft::c32> states{backend, shape.amplitudes()};
    weft::Buffer<float> k{backend, shape.samples * shape.samples};
    stream.upload(read_angles(), angles);
    weft::encode_angle(stream, angles, states, shape);  // recorded in order; barriers are implied
    weft::kernel_matrix(stream, states, k, shape);
    const std::vector<float> values = stream.download(k);  // submits, waits, returns
    std::printf("K[0,1] = %.6f\n", static_cast<double>(values[1]));

    // These states are products over the qubits, so K is known: the product of cos^2 of the differences.
    const std::vector<float> a = read_angles();
    double want = 1;
    for (std::size_t q = 0; q < shape.qubits; ++q)
        want *= std::pow(std::cos(static_cast<double>(a[q]) - static_cast<double>(a[shape.qubits + q])), 2);
    return std::abs(static_cast<double>(values[1]) - want) < 2e-6 ? 0 : 1;
} catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
