#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what weft needs to build, test and run. On Debian and Ubuntu, missing packages are installed; on other systems
# the exact list of what is missing is printed. If everything is present, one line is printed. What the Python package
# needs goes into a virtual environment, build/python-venv. Not included are clang-format and clang-tidy 14,
# which are needed to change weft. With --languages, Rust and Go are installed too: each has a test of the C API, which
# exists only where its compiler is. With --mpi, what weft::mpi and its tests need is installed too; MPICH works as well.
set -euo pipefail

# One line for each package: the Debian package | how its presence is checked | what to install on other systems.
needs=(
    "g++|command c++|a C++20 compiler (GCC 12 or Clang 15 on)"
    "cmake|command cmake|CMake 3.25 or newer"
    "ninja-build|command ninja|Ninja"
    "ccache|command ccache|ccache"
    "pkg-config|command pkg-config|pkg-config"
    "glslc|command glslc|glslc of shaderc"
    "libshaderc-dev|header shaderc/shaderc.h|libshaderc, which compiles GLSL at run time"
    "spirv-tools|command spirv-val|SPIRV-Tools: spirv-val and the library"
    "libvulkan-dev|header vulkan/vulkan.h|Vulkan headers and loader, 1.3"
    "libvulkan-volk-dev|header volk.h|volk: volk.h and volk.c"
    "libspirv-cross-c-shared-dev|module spirv-cross-c-shared|SPIRV-Cross, shared C API"
    "libdlpack-dev|header dlpack/dlpack.h|DLPack (arrays to and from NumPy, PyTorch and others; one header)"
    "doctest-dev|header doctest/doctest.h|doctest"
    "libeigen3-dev|module eigen3|Eigen (eigenvalues for clip_kernel_matrix; headers alone)"
    "libcli11-dev|header CLI/CLI.hpp|CLI11"
    "libhdf5-dev|module hdf5|HDF5 (the weft command reads its data sets)"
    "zlib1g-dev|module zlib|zlib (the weft command reads .npz files)"
    "nlohmann-json3-dev|header nlohmann/json.hpp|nlohmann-json"
    "mesa-vulkan-drivers|file vulkan/icd.d/*.json|a Vulkan driver (Mesa's lavapipe where there is no GPU)"
    "vulkan-validationlayers|file vulkan/explicit_layer.d/VkLayer_khronos_validation.json|Khronos validation layer"
    "python3|command python3|Python 3"
    "python3-dev|pythonheader Python.h|the headers of Python 3.10 or newer, for the Python package"
    "python3-venv|pythonmodule ensurepip|the module venv of Python, for the Python package"
    "gnuplot-nox|command gnuplot|gnuplot (pictures of weft profile, and their tests)"
    "clang|command clang++|Clang, for the fuzz tests"
    "libclang-rt-dev|command clang++|the runtime libraries of Clang, for the fuzz tests"
)

languages=(
    "rustc|command rustc|Rust, for a test of the C API"
    "golang-go|command go|Go, for a test of the C API"
)
mpi=(
    "libopenmpi-dev|command mpicc|MPI 3.0 or newer, for weft::mpi"
    "openmpi-bin|command mpirun|mpirun, for the tests of weft::mpi"
    "libscalapack-openmpi-dev|library scalapack-openmpi|ScaLAPACK, for a test of weft::mpi"
)
for argument in "$@"; do
    case $argument in
        --languages) needs+=("${languages[@]}") ;;
        --mpi) needs+=("${mpi[@]}") ;;
        *) echo "setup: unknown argument '$argument' (need --languages, --mpi or nothing)" >&2; exit 2 ;;
    esac
done

# present KIND WHAT: succeeds if it is on this machine, even if it was not installed as a package.
present() {
    local folder
    case $1 in
        command) command -v "$2" >/dev/null ;;
        module) pkg-config --exists "$2" 2>/dev/null ;;
        library) c++ -shared -o /dev/null "-l$2" 2>/dev/null ;;
        pythonheader) [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/$2" ] ;;
        pythonmodule) python3 -c "import $2" 2>/dev/null ;;
        header) printf '#include <%s>\n' "$2" | c++ -x c++ -std=c++20 -fsyntax-only -DVK_NO_PROTOTYPES - 2>/dev/null ;;
        file)
            for folder in /usr/share /usr/local/share /etc /usr/local/etc "${XDG_DATA_HOME:-$HOME/.local/share}"; do
                compgen -G "$folder/$2" >/dev/null && return 0
            done
            return 1 ;;
    esac
}

# Succeeds if everything is present; otherwise lists what is missing.
probe_all() {
    local need package kind_what meaning missing=0
    for need in "${needs[@]}"; do
        IFS='|' read -r package kind_what meaning <<<"$need"
        # shellcheck disable=SC2086 # kind and what are two words
        if ! present $kind_what; then
            echo "missing: $meaning (looked for $kind_what; Debian package $package)" >&2
            missing=1
        fi
    done
    return $missing
}

missing_packages() {
    local need package
    for need in "${needs[@]}"; do
        package=${need%%|*}
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

install_packages() {
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "setup: need root or sudo to install: $*" >&2; return 1; }
        root=(sudo)
    fi
    echo "setup: installing $*"
    "${root[@]}" apt-get update -qq || echo "setup: apt-get update failed, trying to install all the same" >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

cmake_is_new_enough() {
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*//p')
    [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" = 3.25 ] && return 0
    echo "setup: CMake $version is too old (need 3.25 or newer)" >&2
    return 1
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    mapfile -t packages < <(missing_packages)
    if [ ${#packages[@]} -gt 0 ] && ! install_packages "${packages[@]}"; then
        # The missing packages may have been installed in another way.
        probe_all || { echo "setup: the packages above could not be installed" >&2; exit 1; }
    fi
else
    probe_all || { echo "setup: install what is listed above, then run this again" >&2; exit 1; }
fi
cmake_is_new_enough || exit 1

# The environment is made again when the requirements change.
make_python_environment() {
    local folder=build/python-venv stamp=build/python-venv/requirements.txt
    cmp -s tools/python-requirements.txt "$stamp" && return 0
    echo "setup: installing $folder"
    rm -rf "$folder"
    python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check \
        --requirement tools/python-requirements.txt && cp tools/python-requirements.txt "$stamp"
}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# mpi4py is built for whichever MPI is there; only weftgpu.mpi and its tests need it.
add_mpi4py() {
    build/python-venv/bin/python -c "import mpi4py" 2>/dev/null ||
        build/python-venv/bin/pip install --quiet --disable-pip-version-check "mpi4py==4.*"
}
make_python_environment ||
    echo "setup: build/python-venv could not be made, so the Python package cannot be built and tested" >&2
case " $* " in
    *" --mpi "*) add_mpi4py || echo "setup: mpi4py could not be installed, so weftgpu.mpi is not tested" >&2 ;;
esac
echo "setup: everything is installed"
