// SPDX-License-Identifier: Apache-2.0
#include "device/loader_files.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <utility>

#include "cli/print_json.hpp"

namespace weft::tool {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(':', begin), list.size());
        if (end != begin) parts.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// Manifests that have been found; the loader reads each file once.
class Found {
  public:
    /// A manifest, or a folder of them.
    void add(const fs::path& path, const std::string& from) {
        std::error_code error;
        if (fs::is_directory(path, error))
            add_folder(path, from);
        else
            add_file(path, from);
    }
    void add_folder(const fs::path& path, const std::string& from) {
        std::error_code error;
        std::vector<fs::path> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
            if (entry.path().extension() == ".json") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) add_file(file, from);
    }
    std::vector<DriverManifest> take() { return std::move(manifests_); }

  private:
    void add_file(const fs::path& file, const std::string& from) {
        std::error_code error;
        if (!seen_.insert(fs::weakly_canonical(file, error)).second) return;
        DriverManifest manifest{file, from, {}, {}, {}};
        read(manifest);
        manifests_.push_back(std::move(manifest));
    }

    static void read(DriverManifest& manifest) {
        constexpr std::streamsize kMostBytes = 1 << 20;
        std::error_code error;
        std::ifstream in(manifest.file, std::ios::binary);
        if (!fs::is_regular_file(manifest.file, error) || !in) {
            manifest.problem = "cannot be read";
            return;
        }
        std::string text(kMostBytes, '\0');
        in.read(text.data(), kMostBytes);
        text.resize(static_cast<std::size_t>(in.gcount()));
        const Json json = Json::parse(text, nullptr, false);
        const auto icd = json.is_object() ? json.find("ICD") : json.end();
        const auto member = [&](const char* name) {
            if (icd == json.end() || !icd->is_object()) return std::string();
            const auto value = icd->find(name);
            return value != icd->end() && value->is_string() ? value->get<std::string>() : std::string();
        };
        manifest.library = member("library_path");
        manifest.api = member("api_version");
        if (manifest.library.empty()) {
            manifest.problem = "names no library";
        } else if (manifest.library.find('/') != std::string::npos) {
            const fs::path library = manifest.file.parent_path() / manifest.library;  // unless it is absolute
            manifest.library = library.lexically_normal().string();
            if (!fs::exists(library, error)) manifest.problem = "its library does not exist";
        }
    }

    std::set<fs::path> seen_;
    std::vector<DriverManifest> manifests_;
};

void add_standard_folders(Found& found, const LoaderFile& loader) {
    const fs::path home = variable("HOME");
    const auto add = [&](const fs::path& folder, const char* from) {
        if (!folder.empty()) found.add_folder(folder / "vulkan/icd.d", from);
    };
    const auto or_home = [&](const char* name, const char* below_home) {
        const std::string set = variable(name);
        return !set.empty() ? fs::path(set) : home.empty() ? fs::path() : home / below_home;
    };
    const auto or_list = [](const char* name, const char* usual) {
        const std::string set = variable(name);
        return split(set.empty() ? usual : set);
    };
    add(or_home("XDG_CONFIG_HOME", ".config"), "the user's folder");
    for (const std::string& folder : or_list("XDG_CONFIG_DIRS", "/etc/xdg")) add(folder, "XDG_CONFIG_DIRS");
    // The loader was built with the folder for settings of its own prefix: /etc, or that of an environment.
    const fs::path prefix = loader.environment;
    add(prefix.empty() ? fs::path("/etc") : prefix / "etc", "the system's folder");
    if (!prefix.empty()) add(prefix / "share", "the environment's folder");
    add(or_home("XDG_DATA_HOME", ".local/share"), "the user's folder");
    for (const std::string& folder : or_list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"))
        add(folder, "the system's folder");
}

}  // namespace

LoaderFile open_loader(const Config& config) {
    const std::string wanted = config.vulkan_library;
    for (const char* name : {wanted.c_str(), "libvulkan.so.1", "libvulkan.so"}) {
        if (*name == '\0') continue;
        // The library never closes the loader, so it is still loaded if it was.
        void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) {
            if (!wanted.empty()) break;
            continue;
        }
        LoaderFile loader;
        Dl_info info{};
        void* const entry = dlsym(library, "vkGetInstanceProcAddr");
        if (entry != nullptr && dladdr(entry, &info) != 0 && info.dli_fname != nullptr) {
            std::error_code error;
            loader.file = fs::canonical(info.dli_fname, error);
            if (error) loader.file = info.dli_fname;
            for (const char* prefix : {"CONDA_PREFIX", "VIRTUAL_ENV"}) {
                const fs::path folder = fs::weakly_canonical(variable(prefix), error);
                const auto relative = loader.file.lexically_relative(folder);
                if (!variable(prefix).empty() && !relative.empty() && *relative.begin() != "..")
                    loader.environment = folder;
            }
        }
        dlclose(library);
        return loader;
    }
    return {};
}

std::vector<DriverManifest> driver_manifests(const LoaderFile& loader) {
    Found found;
    const bool trusted = getuid() == geteuid() && getgid() == getegid();  // otherwise the loader ignores them
    const auto add_list = [&](const char* name) {
        const std::string list = trusted ? variable(name) : std::string();
        for (const std::string& path : split(list)) found.add(path, name);
        return !list.empty();
    };
    if (add_list("VK_DRIVER_FILES") || add_list("VK_ICD_FILENAMES")) return found.take();
    add_list("VK_ADD_DRIVER_FILES");
    add_standard_folders(found, loader);
    return found.take();
}

std::vector<std::string> driver_filters() {
    std::vector<std::string> filters;
    for (const char* name : {"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"})
        if (const std::string value = variable(name); !value.empty())
            filters.push_back(std::string(name) + "=" + value);
    return filters;
}

}  // namespace weft::tool
