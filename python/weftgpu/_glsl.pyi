from collections.abc import Sequence


def compile(file: str, text: str, name: str, include_dirs: Sequence[str], macros: Sequence[tuple[str, str]], optimization: str, debug_info: bool, warnings_as_errors: bool, cache: bool | None) -> tuple[bytes, str, list[str], str, bool]: ...
