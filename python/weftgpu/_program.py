# SPDX-License-Identifier: Apache-2.0
"""Compute shaders: compiled at run time, and made ready to run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from weftgpu import _core
from weftgpu._arguments import call_core, extents_of, items_of, mapping_of, path_of
from weftgpu._default import default_devices
from weftgpu._errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weftgpu._backend import Backend
    from weftgpu._devices import Devices


class SpirV:
    """A compiled shader.

    Attributes
    ----------
    code : bytes
        The words of the SPIR-V module.
    name : str
        Of the source.
    included : list of str
        Every file that was included.
    warnings : str
        Lines of ``file:line: warning: message``; usually empty.
    from_cache : bool
        It was compiled earlier.
    """

    __slots__ = ("code", "from_cache", "included", "name", "warnings")

    def __init__(
        self, code: bytes, name: str = "shader", included: Iterable[str] = (), warnings: str = "",
        from_cache: bool = False,
    ) -> None:
        self.code = code
        self.name = name
        self.included = list(included)
        self.warnings = warnings
        self.from_cache = from_cache

    def __repr__(self) -> str:
        return f"<weftgpu.SpirV {self.name!r}: {len(self.code)} bytes>"


def compile_glsl(
    source: str | os.PathLike[str],
    *,
    macros: Mapping[str, object] | None = None,
    include_dirs: Iterable[str | os.PathLike[str]] = (),
    name: str = "",
    optimization: str = "performance",
    debug_info: bool = False,
    warnings_as_errors: bool = False,
    cache: bool | None = None,
) -> SpirV:
    """Compiles a compute shader in GLSL. The result is kept on disk and used again for the same source.

    Parameters
    ----------
    source : str or path
        The text of a shader, if it has a line feed; otherwise the path of a file.
    macros : mapping, optional
        ``#define name value`` ahead of the first line. True and False become 1 and 0.
    include_dirs : iterable of paths
        Where #include is searched. ``weft.glsl``, which has weft_index(), is always found.
    name : str
        Of a text, in messages.
    optimization : {"performance", "size", "none"}
    debug_info, warnings_as_errors : bool
    cache : bool, optional
        Whether results are kept on disk; by default as ``WEFT_CACHE`` says.

    Returns
    -------
    SpirV

    Raises
    ------
    InvalidArgument
        The shader has an error; the text has file, line and message. ``.code`` is ``invalid_shader``.
    Error
        The file cannot be read.

    Examples
    --------
    >>> spirv = weftgpu.compile_glsl('''#version 450
    ... #extension GL_GOOGLE_include_directive : require
    ... #include "weft.glsl"
    ... layout(local_size_x = 64) in;
    ... layout(binding = 0) readonly buffer X { float x[]; };
    ... layout(binding = 1) writeonly buffer Y { float y[]; };
    ... layout(push_constant) uniform Job { uint count, first; float factor; };
    ... void main() {
    ...     uint i = weft_index();
    ...     if (i < count) y[i] = factor * x[i];
    ... }
    ... ''')
    >>> double = weftgpu.Program(spirv)
    >>> x, y = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
    >>> report = weftgpu.run_batch(double, [weftgpu.Job([x], [y], parameters=2.0)])
    >>> y
    array([0., 2., 4., 6.], dtype=float32)
    """
    from weftgpu import _glsl

    is_text = isinstance(source, str) and "\n" in source
    defines = [
        (macro, str(int(value)) if isinstance(value, bool) else str(value))
        for macro, value in mapping_of("compile_glsl", "macros", macros, "str to values").items()
    ]
    for macro, _ in defines:
        if not isinstance(macro, str):
            raise TypeError(f"compile_glsl: macros: wrong name (got {macro!r}, need str)")
    folders = items_of("compile_glsl", "include_dirs", include_dirs, "paths")
    return SpirV(
        *call_core(
            "compile_glsl",
            _glsl.compile,
            "" if is_text else path_of("compile_glsl", "source", source),
            str(source) if is_text else "",
            name,
            [path_of("compile_glsl", "include_dirs", folder) for folder in folders],
            defines,
            optimization,
            debug_info,
            warnings_as_errors,
            cache,
        )
    )


class Program(_core._Program):
    """A compute shader that is ready to run: a pipeline with the buffers that the shader declares.

    Parameters
    ----------
    spirv : SpirV, bytes or array of uint32
        A SPIR-V 1.0 to 1.5 module. docs/shaders.md says what a shader may use.
    backend : Backend or Devices, optional
        With Devices, jobs of the program are shared among them.
    name : str
        In reports and messages; by default that of the SpirV.
    entry : str
    constants : mapping of int to bool, int or float, optional
        Specialization constants by id, 32 bits each.
    local_size : tuple of three int
        Invocations of a workgroup; 0: as in the shader.
    elements_per_workgroup : int
        0: one element an invocation.
    max_workgroups, workgroups_per_element : int
        0: as many as the elements need; one.

    Raises
    ------
    InvalidArgument
        Damaged SPIR-V, or something that weft cannot run, which the text names.
    Unavailable
        The shader needs a feature that the device lacks, which the text names.
    """

    def __init__(
        self,
        spirv: SpirV | Any,
        backend: Backend | Devices | None = None,
        *,
        name: str = "",
        entry: str = "main",
        constants: Mapping[int, bool | int | float] | None = None,
        local_size: tuple[int, int, int] = (0, 0, 0),
        elements_per_workgroup: int = 0,
        max_workgroups: int = 0,
        workgroups_per_element: int = 0,
    ) -> None:
        self.backend: Backend | Devices = backend if backend is not None else default_devices()
        code = spirv.code if isinstance(spirv, SpirV) else spirv
        title = spirv.name if isinstance(spirv, SpirV) and isinstance(name, str) and not name else name
        ids = mapping_of("Program", "constants", constants, "int to bool, int or float")
        extents = extents_of("Program", local_size, "local_size")
        if len(extents) != 3:
            raise InvalidArgument(f"Program: local_size: wrong length (got {local_size}, need three int)", "invalid_argument")
        call_core(
            "Program", _core._Program.__init__, self, self.backend, code, title, entry, ids, extents, elements_per_workgroup,
            max_workgroups, workgroups_per_element,
        )

    def __repr__(self) -> str:
        return f"<weftgpu.Program {self.name!r}: {', '.join(f'{b} {a} {n}' for b, n, a in self.bindings)}>"
