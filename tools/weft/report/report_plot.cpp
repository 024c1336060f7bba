// SPDX-License-Identifier: Apache-2.0
// Pictures by gnuplot, which runs a script that contains the data.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "cli/figures.hpp"
#include "report/report_files.hpp"
#include "report/report_findings.hpp"

extern char** environ;

namespace weft::tool {
namespace {

constexpr const char* kColours[] = {"#444444", "#d95f02", "#1f78b4", "#1b9e77", "#7570b3", "#e7298a",
                                    "#66a61e", "#a6761d", "#e31a1c", "#17becf", "#6a3d9a", "#bcbd22"};
constexpr std::size_t kPanelWidth = 520, kWidePanelWidth = 660, kPanelHeight = 420, kTitleHeight = 60;
// The key is to the right of the panel or below it, so that it hides no curve. Below, it always has space for
// two lines, so that all panels have the same height.
constexpr const char* kKeyBelow =
    "at graph 0.5, graph -0.21 center top horizontal Left reverse samplen 2\nset bmargin 6.2";
constexpr const char* kKeyBeside = "outside right top vertical Left reverse samplen 2";

/// A string of gnuplot in single quotes, in which only the quote itself has a special meaning.
std::string plot_quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') out += '\'';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out + "'";
}

struct Curve {
    std::string title;
    std::string colour;
    using Points = std::vector<std::pair<double, double>>;  // size, value
    Points points{}, extrapolated{};                        // points whose CPU time was not measured
    bool empty() const { return points.empty() && extrapolated.empty(); }
};

std::string data_of(const std::string& name, const Curve::Points& points) {
    std::string out = name + " << EOD\n";
    for (const auto& [size, value] : points) out += nine_digits(size) + " " + nine_digits(value) + "\n";
    return out + "EOD\n";
}

/// Curves of one panel with both axes logarithmic; `unity` adds a line at 1.
std::string panel(const std::string& title, const std::string& x, const std::string& y, bool unity,
                  const std::vector<Curve>& curves) {
    const bool guesses = std::any_of(curves.begin(), curves.end(),
                                     [](const Curve& curve) { return !curve.extrapolated.empty(); });
    std::string out = "set title " + plot_quoted(title + (guesses ? " (o: CPU extrapolated)" : "")) +
                      " noenhanced\nset xlabel " + plot_quoted(x) + "\nset ylabel " + plot_quoted(y) + "\n";
    std::string plots;
    std::size_t drawn = 0;
    for (const Curve& curve : curves) {
        if (curve.empty()) continue;
        const auto plot = [&](const std::string& name, const Curve::Points& points, const std::string& style,
                              const std::string& key) {
            if (points.empty()) return;
            out += data_of(name, points);
            plots += (plots.empty() ? "plot " : ", ") + name + " using 1:2 with " + style + " lc rgb " +
                     plot_quoted(curve.colour) + " " + key;
        };
        const std::string name = "$d" + std::to_string(drawn++), key = "title " + plot_quoted(curve.title);
        plot(name, curve.points, "linespoints lw 2 pt 7 ps 0.8", key);
        plot(name + "x", curve.extrapolated, "points lw 2 pt 6 ps 1.2",
             curve.points.empty() ? key : "notitle");
    }
    if (plots.empty()) return out + "set multiplot next\n";
    if (unity) plots += ", 1 with lines dt 2 lc rgb '#999999' notitle";
    return out + plots + "\n";
}

std::string head(const std::string& output, const std::string& title, std::size_t rows, std::size_t columns,
                 std::size_t panel_width, const char* key) {
    const std::size_t width = columns * panel_width, height = rows * kPanelHeight + kTitleHeight;
    return "set terminal pngcairo enhanced size " + std::to_string(width) + "," + std::to_string(height) +
           " font 'sans,11'\nset output " + plot_quoted(output) +
           "\nset logscale xy\nset format x '10^{%T}'\nset format y '10^{%T}'\n"
           "set grid back lt 1 lw 0.7 lc rgb '#d8d8d8'\nset offsets graph 0.05, graph 0.05, 0, 0\nset key "
           "noenhanced " +
           key +
           "\n"
           "set multiplot layout " +
           std::to_string(rows) + "," + std::to_string(columns) + " title " + plot_quoted(title) +
           " noenhanced font 'sans,15'\n";
}

struct Value {
    double (*of)(const SizeResult&, const PathResult&);
    bool over_cpu = false;  // depends on the CPU's time
};

Curve curve_of(const KernelResult& result, std::size_t process, ReportPath path, std::string title,
               std::size_t colour, const Value& value) {
    Curve curve{std::move(title), kColours[colour % std::size(kColours)]};
    for (const SizeResult& size : result.sizes) {
        const PathResult* p = size.process == process ? size.of(path) : nullptr;
        if (p == nullptr) continue;
        const double v = value.of(size, *p);
        const bool guess = p->extrapolated() || (value.over_cpu && p->over_extrapolated);
        if (v > 0)
            (guess ? curve.extrapolated : curve.points).emplace_back(static_cast<double>(size.batch), v);
    }
    return curve;
}

const Value kTime{[](const SizeResult&, const PathResult& p) { return p.timing.seconds.median * 1e3; }};
const Value kRate{[](const SizeResult& s, const PathResult& p) { return s.per_s(p); }};
const Value kSpeedup{[](const SizeResult&, const PathResult& p) { return p.speedup; }, true};
const Value kOverVulkan{[](const SizeResult&, const PathResult& p) { return p.over_vulkan; }};
const Value kCeiling{[](const SizeResult&, const PathResult& p) { return p.of_ceiling(); }};

std::string row_of(const KernelResult& result, std::size_t process) {
    const std::string size = "batch size (" + result.unit + ")";
    const auto curves = [&](const Value& value, bool with_cpu) {
        std::vector<Curve> all;
        for (const ReportPath path : kReportPaths)
            if (with_cpu || path != ReportPath::cpu)
                all.push_back(
                    curve_of(result, process, path, to_string(path), static_cast<std::size_t>(path), value));
        return all;
    };
    std::vector<Curve> speedups = curves(kSpeedup, false);
    speedups.push_back(
        curve_of(result, process, ReportPath::cuda, "cuda/vulkan", std::size(kReportPaths), kOverVulkan));
    const std::string name = result.label(process);
    double most = 0;  // the last byte of a small batch may not be full
    for (const SizeResult& s : result.sizes)
        if (s.process == process) most = std::max(most, s.compression);
    return panel(name + (most > 0 ? ", compression up to " + factor(most) : "") + ": time", size,
                 "median of a call (ms)", false, curves(kTime, true)) +
           panel(name + ": throughput", size, result.rate_unit(process) + "/s", false, curves(kRate, true)) +
           panel(name + ": speed-up over the CPU" +
                     (speedups.back().points.empty() ? "" : ", CUDA's over Vulkan"),
                 size, "CPU time / device time", true, speedups) +
           panel(name + ": share of the ceiling", size, "ceiling's time / time", true,
                 curves(kCeiling, false));
}

constexpr const char* kRates = "elements, pairs, samples, states or vectors/s";

/// Curves of every process of every kernel on one path.
std::vector<Curve> all_curves(const Report& report, ReportPath path, const Value& value) {
    std::vector<Curve> all;
    for (const KernelResult& result : report.kernels)
        for (std::size_t p = 0; p < result.processes.size(); ++p)
            all.push_back(curve_of(result, p, path, result.label(p), all.size(), value));
    return all;
}

/// Paths of the device that have figures.
std::vector<ReportPath> device_paths(const Report& report) {
    std::vector<ReportPath> paths;
    for (const ReportPath path : kReportPaths)
        if (path != ReportPath::cpu &&
            std::any_of(report.kernels.begin(), report.kernels.end(),
                        [&](const KernelResult& result) { return result.has(path); }))
            paths.push_back(path);
    return paths;
}

std::string bars(const Report& report) {
    const std::vector<ReportPath> paths = device_paths(report);
    std::string data, out;
    std::size_t count = 0;
    for (const KernelResult& result : report.kernels)
        for (std::size_t p = 0; p < result.processes.size(); ++p) {
            data += "\"" + result.label(p) + "\"";
            for (const ReportPath path : paths) {
                const Best best = best_of(result, p, path, BestBy::measured_speedup);
                data += best.size == nullptr || best.path->speedup <= 0
                            ? " NaN"
                            : " " + nine_digits(best.path->speedup);
            }
            data += "\n";
            ++count;
        }
    out +=
        "unset logscale x\nset format x '%s'\nset offsets\nset style data histogram\nset style histogram "
        "clustered gap 1\n"
        "set style fill solid 0.9 noborder\nset xtics rotate by -25\nset title 'best speed-up over the CPU "
        "as "
        "measured, any size'\n"
        "unset xlabel\nset ylabel 'CPU time / device time'\nset xrange [-0.6:" +
        nine_digits(static_cast<double>(count) - 0.4) + "]\n$bars << EOD\n" + data + "EOD\nplot ";
    for (std::size_t i = 0; i < paths.size(); ++i)
        out += std::string(i == 0 ? "" : ", ") + "$bars using " + std::to_string(i + 2) +
               (i == 0 ? ":xtic(1)" : "") + " lc rgb " +
               plot_quoted(kColours[static_cast<std::size_t>(paths[i])]) + " title " +
               plot_quoted(to_string(paths[i]));
    return out + ", 1 with lines dt 2 lc rgb '#999999' notitle\n";
}

/// The beginning of the output of gnuplot.
std::string read_some(int file) {
    std::string text;
    char buffer[512];
    for (ssize_t got; (got = ::read(file, buffer, sizeof buffer)) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        if (text.size() < 300) text.append(buffer, static_cast<std::size_t>(got));
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text.substr(0, 300);
}

}  // namespace

std::string plot_script(const Report& report, const KernelResult& result, const std::string& output) {
    std::string title = "weft profile " + result.kernel;
    constexpr std::size_t kLongest = 16;  // what is longer describes, and the Markdown has it
    for (const auto& [name, value] : result.configuration)
        if (value.size() <= kLongest) title += ", " + name + " " + value;
    std::string out = head(output, title + "; " + report.machine.device, result.processes.size(), 4,
                           kPanelWidth, kKeyBelow);
    for (std::size_t p = 0; p < result.processes.size(); ++p) out += row_of(result, p);
    return out + "unset multiplot\nunset output\n";
}

std::string combined_script(const Report& report, const std::string& output) {
    constexpr std::size_t kColumns = 3;
    std::vector<std::string> panels;
    const auto add = [&](const std::string& title, ReportPath path, const Value& value, const char* y) {
        const std::vector<Curve> curves = all_curves(report, path, value);
        if (std::any_of(curves.begin(), curves.end(), [](const Curve& c) { return !c.empty(); }))
            panels.push_back(panel(title, "batch size", y, y != kRates, curves));
    };
    add("throughput, CPU", ReportPath::cpu, kRate, kRates);
    add("throughput, device, ordinary memory", ReportPath::ordinary, kRate, kRates);
    add("throughput, device, resident", ReportPath::resident, kRate, kRates);
    add("throughput, CUDA, ordinary memory", ReportPath::cuda, kRate, kRates);
    add("speed-up over the CPU, ordinary memory", ReportPath::ordinary, kSpeedup, "CPU time / device time");
    add("speed-up over the CPU, CUDA, ordinary memory", ReportPath::cuda, kSpeedup, "CPU time / CUDA time");
    add("CUDA over Vulkan, ordinary memory", ReportPath::cuda, kOverVulkan, "Vulkan time / CUDA time");
    add("share of the memory ceiling, resident", ReportPath::resident, kCeiling, "ceiling's time / time");
    panels.push_back(bars(report));  // last, because it changes settings that the panels share
    std::string out = head(output, "weft profile, all kernels; " + report.machine.device,
                           (panels.size() + kColumns - 1) / kColumns, kColumns, kWidePanelWidth, kKeyBeside);
    for (const std::string& text : panels) out += text;
    return out + "unset multiplot\nunset output\n";
}

std::string run_gnuplot(const std::string& folder, const std::string& script) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return "no pipe to gnuplot (" + std::generic_category().message(errno) + ")";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    // Names in the script are relative to the folder, so that the folder can be moved and the picture drawn
    // again.
    const std::string chdir = "cd " + plot_quoted(folder);
    const char* arguments[] = {"gnuplot", "-e", chdir.c_str(), script.c_str(), nullptr};
    pid_t child = 0;
    const int error =
        posix_spawnp(&child, "gnuplot", &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    const std::string said = error == 0 ? read_some(ends[0]) : "";
    ::close(ends[0]);
    if (error == ENOENT) return "gnuplot is not installed";
    if (error != 0) return "gnuplot cannot be started (" + std::generic_category().message(error) + ")";
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return "gnuplot is not installed";
    return "gnuplot failed: " + (said.empty() ? "it said nothing" : said);
}

}  // namespace weft::tool
