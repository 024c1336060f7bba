// SPDX-License-Identifier: Apache-2.0
// Where Vulkan comes from on this machine: the file of the loader, and the manifests of drivers that it
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/config.hpp>

namespace weft::tool {

/// The loader that this process has opened.
struct LoaderFile {
    std::filesystem::path file;  ///< with links followed; empty: none is open
    std::filesystem::path
        environment;  ///< the conda or virtual environment that the file belongs to; or empty
};
LoaderFile open_loader(const Config& config);

/// A driver that the loader tries.
struct DriverManifest {
    std::filesystem::path file;
    std::string from;     ///< the variable or the kind of folder that names it
    std::string library;  ///< as the manifest names it; with a slash, as a path
    std::string api;      ///< "1.3.255"
    std::string problem;  ///< why the loader cannot use it; else empty
};
/// In the loader's order of search. Variables replace or add to the standard folders, as the loader's own
/// documentation (LoaderDriverInterface) says.
std::vector<DriverManifest> driver_manifests(const LoaderFile& loader);

/// "VK_LOADER_DRIVERS_SELECT=*nvidia*" and the like, which leave out some of the manifests.
std::vector<std::string> driver_filters();

}  // namespace weft::tool
