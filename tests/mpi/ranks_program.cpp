// SPDX-License-Identifier: Apache-2.0
// What every rank runs: ranks_test.py starts it under mpirun with a folder, and with cases that each name the
// numbers of ranks that they are for: "batch:1,3". Starting ranks and devices takes longer than most cases. A
// rank that finds something wrong says so and ends with MPI_Abort.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <weft/glsl.hpp>
#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

#include "ranks_cases.hpp"

namespace {

using namespace ranks_test;

/// Every kind of K has the bits of one process. `few`: those that are cut into other tiles.
void matrices_of(Run& run, bool few) {
    constexpr std::uint32_t kQubits = 3;
    const std::vector<float> x = numbers(330 * kQubits, 0.7), y = numbers(200 * kQubits, 1.3),
                             parts = numbers(150 * 16, 0.37);
    const std::vector<double> weights{0.3, 0.7, -0.1, -0.2, 0.4, 0.9};
    const weft::KernelMatrixShape square{330, 0, kQubits}, cross{330, 200, kQubits};
    const weft::KernelMatrixCircuit closed{}, reupload{.weights = weights, .reupload = true};
    const weft::KernelMatrixHostOptions tiled{
        .state_tile = 64, .bulk_states = weft::Choice::off, .normalize = true};
    const auto check = [&](const char* name, const weft::KernelMatrixShape& shape, const auto& one,
                           const auto& all) {
        const std::filesystem::path file = run.folder / (std::string(name) + ".npy");
        std::vector<float> want(shape.values());
        one(want);
        const weft::OpReport report = all(file);
        require(same(values_in(file), want), std::string(name) + ": other bits");
        require(run.sum(report.items) == shape.pairs(), std::string(name) + ": other pairs");
    };
    const auto of_circuit = [&](const char* name, const weft::KernelMatrixCircuit& circuit,
                                const weft::KernelMatrixHostOptions& options) {
        check(
            name, square, [&](auto& k) { weft::kernel_matrix(run.backend, circuit, x, k, square, options); },
            [&](const auto& file) {
                return weft::mpi::kernel_matrix(run.ranks, run.backend, circuit, x, file, square,
                                                weft::kFloat32, options);
            });
        const std::string with_y = std::string(name) + " with Y";
        check(
            with_y.c_str(), cross,
            [&](auto& k) { weft::kernel_matrix(run.backend, circuit, x, y, k, cross, options); },
            [&](const auto& file) {
                return weft::mpi::kernel_matrix(run.ranks, run.backend, circuit, x, y, file, cross,
                                                weft::kFloat32, options);
            });
    };
    of_circuit("closed form", closed, {});
    of_circuit("re-upload in tiles", reupload, tiled);
    if (few) return;
    of_circuit("re-upload", reupload, {});
    std::vector<weft::c32> states(150 * 8);
    for (std::size_t i = 0; i < states.size(); ++i) states[i] = {parts[2 * i] / 2, parts[2 * i + 1] / 2};
    const weft::KernelMatrixShape of_states{150, 0, kQubits};
    check(
        "states", of_states, [&](auto& k) { weft::kernel_matrix(run.backend, states, k, of_states); },
        [&](const auto& file) {
            return weft::mpi::kernel_matrix(run.ranks, run.backend, states, file, of_states);
        });
}

/// The file is mapped, and then written through MPI-IO.
void matrices(Run& run) {
    matrices_of(run, false);
    Ranks ranks(run.communicator, {.map_files = weft::Choice::off});
    Run through_mpi{ranks, run.backend, run.folder, run.communicator};
    matrices_of(through_mpi, true);
}

/// Ranks that differ, or of which one is wrong, all learn it and go on afterwards.
void refusals(Run& run) {
    const int last = run.ranks.size() - 1;
    const bool odd = run.ranks.rank() == last;
    const std::string name = "rank " + std::to_string(last);
    std::vector<float> x = numbers(300, 0.7), other = x;
    other[7] = 9;
    const weft::KernelMatrixShape shape{100, 0, 3};
    const std::filesystem::path file = run.folder / "refused.npy";
    const auto make = [&](const std::vector<float>& rows, const weft::KernelMatrixCircuit& circuit) {
        return [&run, &rows, circuit, shape, file] {
            weft::mpi::kernel_matrix(run.ranks, run.backend, circuit, rows, file, shape);
        };
    };
    const weft::Errc argument = weft::Errc::invalid_argument;
    const std::string prefix = odd ? "" : name + ": ";
    if (last != 0) {
        require(has(text_of_error(argument, make(odd ? other : x, {})),
                    prefix + "kernel_matrix: the ranks must agree, but differ in X (rank 0 has float32 "),
                "another X");
        require(has(text_of_error(argument, make(x, {.scale = odd ? 2.0 : 1.0})),
                    prefix + "kernel_matrix: the ranks must agree, but differ in scale (rank 0 has 1, this "
                             "rank has 2)"),
                "another scale");
    }
    other[7] = std::nanf("");
    require(has(text_of_error(argument, make(odd ? other : x, {})),
                prefix + "kernel_matrix: x: row 2 column 1 is not"),
            "a value that is not finite");
    require(has(text_of_error(weft::Errc::io,
                              [&] {
                                  weft::mpi::kernel_matrix(run.ranks, run.backend, {}, x,
                                                           run.folder / "none" / "k.npy", shape);
                              }),
                "k.npy.mpi.part: cannot be written"),
            "a folder that is not there");
    // A callback that throws on one rank ends the work of all.
    weft::KernelMatrixHostOptions stopping;
    if (odd) stopping.batch.progress = [](const weft::Progress&) { throw std::runtime_error("enough"); };
    const auto stopped = [&] {
        try {
            weft::mpi::kernel_matrix(run.ranks, run.backend, {}, x, file, shape, weft::kFloat32, stopping);
        } catch (const weft::Error& error) {
            return has(error.what(), name + ": enough");
        } catch (const std::runtime_error& error) {
            return odd && std::string_view(error.what()) == "enough";
        }
        return run.ranks.size() > 1;  // the other ranks may have left it no tile to report
    };
    require(stopped(), "a callback that throws");
    run.ranks.together([] {});
    if (run.ranks.rank() == 0) std::filesystem::remove(file);
    const std::string mine = text_of_error(weft::Errc::unsupported, [&] {
        run.ranks.together([&] {
            if (odd) throw weft::Error(weft::Errc::unsupported, "not here");
        });
    });
    require(mine == prefix + "not here", "an error of a step");
    require(has(text_of_error(argument, [] { Ranks(MPI_COMM_WORLD, {.timeout_s = 0}); }),
                "timeout_s is out of range"),
            "no time limit");
}

/// Parts of K in a grid of ranks, checked against the definition: rank r has the blocks (i, j) with
/// i % rows == r / columns and j % columns == r % columns, in order, column by column.
void local(Run& run) {
    constexpr std::uint32_t kQubits = 3, kBlock = 64;
    const std::vector<float> x = numbers(330 * kQubits, 0.7), y = numbers(200 * kQubits, 1.3);
    const std::vector<double> weights{0.3, 0.7, -0.1, -0.2, 0.4, 0.9};
    const int size = run.ranks.size(), rank = run.ranks.rank();
    const auto check = [&](const weft::mpi::BlockCyclic& layout, bool with_y, weft::mpi::Triangle triangle,
                           const weft::KernelMatrixCircuit& circuit,
                           const weft::KernelMatrixHostOptions& options) {
        const weft::KernelMatrixShape shape{330, with_y ? 200u : 0u, kQubits};
        std::vector<float> want(shape.values());
        const weft::mpi::LocalPart part = weft::mpi::local_part(layout, rank, shape);
        std::vector<float> k(part.values(), -7.0f);
        if (with_y) {
            weft::kernel_matrix(run.backend, circuit, x, y, want, shape, options);
            weft::mpi::kernel_matrix(run.ranks, run.backend, circuit, x, y, layout, k, shape, triangle,
                                     options);
        } else {
            weft::kernel_matrix(run.backend, circuit, x, want, shape, options);
            weft::mpi::kernel_matrix(run.ranks, run.backend, circuit, x, layout, k, shape, triangle, options);
        }
        const auto mine = [&](std::uint64_t index, int places, int place) {
            return index / kBlock % static_cast<std::uint64_t>(places) == static_cast<std::uint64_t>(place);
        };
        std::size_t at = 0;
        for (std::uint64_t j = 0; j < shape.columns(); ++j)
            for (std::uint64_t i = 0; i < shape.samples; ++i) {
                if (!mine(i, layout.grid_rows, rank / layout.grid_columns) ||
                    !mine(j, layout.grid_columns, rank % layout.grid_columns))
                    continue;
                const bool left = triangle == weft::mpi::Triangle::lower && i / kBlock < j / kBlock;
                require(k[at++] == (left ? -7.0f : want[i * shape.columns() + j]), "a value of a local part");
            }
        require(at == k.size(), "the size of a local part");
        const std::array<int, 9> descriptor = weft::mpi::scalapack_descriptor(layout, rank, shape, 5);
        const int columns = static_cast<int>(shape.columns()), rows = static_cast<int>(part.rows);
        require(descriptor == std::array<int, 9>{1, 5, 330, columns, 64, 64, 0, 0, rows == 0 ? 1 : rows},
                "a descriptor");
    };
    const weft::KernelMatrixCircuit closed{}, reupload{.weights = weights, .reupload = true};
    const weft::KernelMatrixHostOptions tiled{.state_tile = 128, .bulk_states = weft::Choice::off};
    const weft::mpi::Triangle both = weft::mpi::Triangle::both, lower = weft::mpi::Triangle::lower;
    for (int rows = 1; rows <= size; ++rows) {
        if (size % rows != 0) continue;
        const weft::mpi::BlockCyclic layout{rows, size / rows, kBlock};
        check(layout, false, both, closed, {});
        check(layout, true, both, closed, {});
        check(layout, false, both, reupload, {.normalize = true});
        check(layout, false, lower, reupload, tiled);
        check(layout, true, both, reupload, {});
    }
    std::vector<float> k(330 * 330);
    const auto refuse = [&](const char* part, const weft::mpi::BlockCyclic& layout, std::size_t values,
                            weft::mpi::Triangle triangle, bool with_y) {
        const std::string text = text_of_error(weft::Errc::invalid_argument, [&] {
            const weft::HostArray to(k.data(), values, weft::kFloat32);
            if (with_y)
                weft::mpi::kernel_matrix(run.ranks, run.backend, closed, x, y, layout, to,
                                         {330, 200, kQubits}, triangle);
            else
                weft::mpi::kernel_matrix(run.ranks, run.backend, closed, x, layout, to, {330, 0, kQubits},
                                         triangle);
        });
        require(has(text, part), part);
    };
    refuse("the grid does not have the ranks", {size, 2, 64}, 1, both, false);
    refuse("block is out of range (got 100, need a multiple of 64)", {size, 1, 100}, 1, both, false);
    refuse("k is not this rank's part (got 1 values", {size, 1, 64}, 1, both, false);
    refuse("Triangle::lower is of a square K", {size, 1, 64}, 1, lower, true);
}

/// y = 2 x + 1.
auto affine_shader() {
    return weft::compile_glsl({.text = R"(#version 450
layout(local_size_x_id = 0) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Job { uint count, first; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) y[i] = 2 * x[i] + 1;
})"});
}
/// Every job is done once, by one rank.
void batch(Run& run) {
    constexpr std::size_t kJobs = 37, kElements = 500;
    const weft::Program program = affine(run.backend);
    std::vector<std::vector<float>> in(kJobs), out(kJobs);
    std::vector<weft::Job> jobs(kJobs);
    for (std::size_t i = 0; i < kJobs; ++i) {
        in[i] = numbers(kElements, 0.1 * static_cast<double>(i));
        out[i].assign(kElements, -5);
        jobs[i].inputs.push_back({in[i].data(), kElements * 4});
        jobs[i].outputs.push_back({out[i].data(), kElements * 4});
        jobs[i].elements = kElements;
    }
    // In a second round several devices of each rank share its jobs.
    weft::Devices several(std::vector<weft::Config>{run.ranks.config(), run.ranks.config()});
    const weft::Program of_several(several, affine_shader());
    const weft::mpi::RankBatch others = weft::mpi::run_batch(run.ranks, several, of_several, jobs);
    for (const std::size_t job : others.jobs) {
        for (std::size_t j = 0; j < kElements; ++j)
            require(out[job][j] == 2 * in[job][j] + 1, "a job of several devices has other values");
        out[job].assign(kElements, -5);
    }
    const weft::mpi::RankBatch done = weft::mpi::run_batch(run.ranks, run.backend, program, jobs);
    std::vector<int> times(kJobs);
    for (const std::size_t job : done.jobs) ++times[job];
    for (std::size_t i = 0; i < kJobs; ++i)
        for (std::size_t j = 0; j < kElements; ++j)
            require(out[i][j] == (times[i] == 1 ? 2 * in[i][j] + 1 : -5), "a job has other values");
    std::vector<int> all(kJobs);
    MPI_Allreduce(times.data(), all.data(), static_cast<int>(kJobs), MPI_INT, MPI_SUM, run.communicator);
    require(all == std::vector<int>(kJobs, 1), "a job was not done once");
    jobs.resize(run.ranks.rank() == 0 ? kJobs : kJobs - 1);
    if (run.ranks.size() > 1)
        require(has(text_of_error(weft::Errc::invalid_argument,
                                  [&] { weft::mpi::run_batch(run.ranks, run.backend, program, jobs); }),
                    "differ in number of jobs (rank 0 has 37, this rank has 36)"),
                "another number of jobs");
}

/// Rank r needs 0.1 s * (r + 1) each time that it takes jobs: ranks_test.py compares what the ranks have done
/// with the model.
void shares(Run& run) {
    constexpr std::size_t kJobs = 64, kElements = 16;
    const weft::Program program = affine(run.backend);
    const std::vector<float> in(kElements, 1.0f);
    std::vector<std::vector<float>> outputs(kJobs, std::vector<float>(kElements));
    std::vector<weft::Job> jobs(kJobs);
    for (std::size_t i = 0; i < kJobs; ++i) {
        jobs[i].inputs.push_back({in.data(), kElements * 4});
        jobs[i].outputs.push_back({outputs[i].data(), kElements * 4});
        jobs[i].elements = kElements;
    }
    const int rank = run.ranks.rank();
    const weft::BatchOptions slow{
        .progress = [rank](const weft::Progress&) { usleep(100000u * static_cast<unsigned>(rank + 1)); }};
    run.ranks.together([] {});
    const weft::mpi::RankBatch done = weft::mpi::run_batch(run.ranks, run.backend, program, jobs, slow);
    std::printf("SHARE %d %d %zu %.3f\n", run.ranks.size(), rank, done.jobs.size(), done.wall_s);
    std::fflush(stdout);
    run.ranks.together([] {});
}

/// Runs a case over the first ranks; the others wait.
void run_case(const std::string& name, int size, weft::Backend& backend,
              const std::filesystem::path& folder) {
    static const std::map<std::string_view, void (*)(Run&)> kCases{{"matrices", matrices},
                                                                   {"refusals", refusals},
                                                                   {"local", local},
                                                                   {"batch", batch},
                                                                   {"operators", ranks_test::operators},
                                                                   {"checkpoints", ranks_test::checkpoints},
                                                                   {"devices", ranks_test::devices},
                                                                   {"shares", shares}};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &some);
    if (some != MPI_COMM_NULL) {
        Ranks ranks(some);
        Run run{ranks, backend, folder, some};
        require(kCases.contains(name) && ranks.size() == size, "a case: " + name);
        kCases.at(name)(run);
    }
    if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
    wait_for_all(MPI_COMM_WORLD);
    if (rank == 0) std::printf("DONE %s %d\n", name.c_str(), size);
    if (rank == 0) std::fflush(stdout);
}

}  // namespace

weft::Program ranks_test::affine(weft::Backend& backend) {
    return {backend, affine_shader()};
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    try {
        Ranks ranks;
        weft::Backend backend(ranks.config());
        for (int i = 2; i < argc; ++i) {
            const std::string text = argv[i], name = text.substr(0, text.find(':'));
            if (name == "loss") {
                Run run{ranks, backend, argv[1], MPI_COMM_WORLD};
                ranks_test::loss(text.substr(name.size() + 1), run);
            }
            std::istringstream sizes(text.substr(text.find(':') + 1));
            for (std::string size; std::getline(sizes, size, ',');)
                run_case(name, std::stoi(size), backend, argv[1]);
        }
    } catch (const std::exception& error) {
        require(false, error.what());
    }
    MPI_Finalize();
    return 0;
}
