"""Compiles sources with NVRTC, the run-time compiler, through its C interface.

Called by nvrtc_part.py as `nvrtc_compile.py DIRECTORY name.arch[.variant].ptx ...`, in the toolchain's
Python.
"""

import ctypes
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VARIANTS = {
    "": [],
    "lineinfo": ["-lineinfo"],
    "debug": ["-G"],
    "rdc": ["-rdc=true"],
    "fast": ["-use_fast_math", "-DTILE=32"],
}


def cuda_root() -> Path:
    import nvidia

    return Path(next(iter(nvidia.__path__))) / "cu13"


class Nvrtc:
    def __init__(self):
        self.root = cuda_root()
        self.library = ctypes.CDLL(str(next((self.root / "lib").glob("libnvrtc.so.*"))))
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def check(self, status: int) -> None:
        if status:
            raise RuntimeError(self.library.nvrtcGetErrorString(status).decode())

    def text(self, program, what: str) -> str:
        """The PTX or the log of a program."""
        size = ctypes.c_size_t()
        self.check(getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.library, f"nvrtcGet{what}")(program, buffer))
        return buffer.value.decode()

    def compile(self, source: Path, arch: str, options: list[str]) -> str:
        include = self.root / "include"
        options = [f"-arch={arch}", "-std=c++17", "-w", "-device-int128", f"-I{include}", f"-I{include / 'cccl'}", *options]
        program = ctypes.c_void_p()
        self.check(self.library.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None))
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if self.library.nvrtcCompileProgram(program, len(options), words):
            lines = self.text(program, "ProgramLog").splitlines()
            raise RuntimeError(next((line for line in lines if "error" in line), "no message"))
        return self.text(program, "PTX")


def main() -> None:
    directory = Path(sys.argv[1])
    nvrtc = Nvrtc()
    for filename in sys.argv[2:]:
        words = filename.split(".")
        name, arch, variant = words[0], words[1], words[2] if len(words) == 4 else ""
        source = HERE / "nvrtc" / f"{name}.cu"
        if not source.exists():
            source = HERE / "kernels" / f"{name}.cu"
        try:
            (directory / filename).write_text(nvrtc.compile(source, arch, VARIANTS[variant]))
            print("ok", filename, flush=True)
        except Exception as error:  # one refused source must not hide the others
            print("failed", filename, str(error)[:300], flush=True)


if __name__ == "__main__":
    main()
