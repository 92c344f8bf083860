"""What every part of the corpus shares: the tools, the outputs, the jobs, and the check by ptxas."""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """A job could not make an output; the text is the reason shown at the end of the run."""


@dataclass(frozen=True)
class Tools:
    """Where the compilers are. Everything but clang comes from scripts/cuda-toolchain."""

    bin: Path
    python: Path

    @property
    def cuda(self) -> Path:
        return self.bin.parent

    @property
    def site_packages(self) -> Path:
        return self.cuda.parent.parent

    @property
    def cccl(self) -> Path:
        return self.cuda / "include" / "cccl"

    @property
    def cutlass(self) -> Path:
        return self.site_packages / "cutlass_library" / "source"

    @property
    def nvcc(self) -> Path:
        return self.bin / "nvcc"

    @property
    def ptxas(self) -> Path:
        return self.bin / "ptxas"

    def environment(self) -> dict[str, str]:
        """The environment for the compilers, without whatever other CUDA the user may have set up."""
        env = {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")}
        env["PATH"] = f"{self.bin}:{env.get('PATH', '/usr/bin:/bin')}"
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        return env


@dataclass(frozen=True)
class Output:
    """One PTX file: OUTDIR/<part>/<name>.<arch>[.<variant>].ptx"""

    part: str
    name: str
    arch: str
    variant: str = ""

    @property
    def filename(self) -> str:
        return ".".join(filter(None, (self.name, self.arch, self.variant, "ptx")))

    def __str__(self) -> str:
        return f"{self.part}/{self.filename}"


@dataclass
class Result:
    """What a job made of its outputs. An output in none of these fields counts as failed."""

    made: dict[Output, Path] = field(default_factory=dict)
    failed: dict[Output, str] = field(default_factory=dict)
    # Outputs that turned out to be empty, so that there is nothing to keep (not a failure).
    empty: list[Output] = field(default_factory=list)
    # What had to be left out of an output, for example instruction forms that ptxas does not know.
    notes: dict[Output, list[str]] = field(default_factory=dict)


@dataclass
class Job:
    """Makes one or several outputs in one go. It is given only the outputs that are missing."""

    outputs: list[Output]
    make: Callable[["Tools", list[Output], Path], Result]


def first_error(text: str) -> str:
    """The line of a compiler's output that says what went wrong, for the list of failures."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern in (r"\b(fatal )?error\b", r"\w(Error|Exception)\b", r"fatal|refused|not supported"):
        for line in lines:
            if re.search(pattern, line, re.IGNORECASE):
                return shorten(line)
    return shorten(lines[-1]) if lines else "no message"


def shorten(line: str) -> str:
    """A message without the directories, which are temporary or differ from one machine to the next."""
    return re.sub(r"(?<![\w.])/(?:[^\s:(),']+/)+(?=[^\s/])", "", line)[:300]


def run(tools: Tools, command: list, timeout: int = 1800, **kwargs) -> str:
    """Runs a compiler and returns what it printed; raises Failed with the first error otherwise."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            env=tools.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            **kwargs,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"no result after {timeout} s") from None
    except OSError as error:
        raise Failed(str(error)) from None
    if done.returncode:
        raise Failed(first_error(done.stdout) if done.stdout.strip() else f"exit status {done.returncode}")
    return done.stdout


def nvcc_job(output: Output, source: Path | str, flags: list = ()) -> Job:
    """A job that compiles one .cu file, or one text, with `nvcc -ptx` for the output's architecture.

    `-ptx` stops after the device compiler: neither the host pass nor ptxas runs, which is what makes
    the template libraries bearable.
    """

    def make(tools: Tools, outputs: list[Output], work: Path) -> Result:
        result = Result()
        if isinstance(source, Path):
            file = source
        else:
            file = work / f"{output.name}.cu"
            file.write_text(source)
        target = work / output.filename
        try:
            # Warnings about unused variables and the like say nothing about the PTX.
            run(tools, [tools.nvcc, "-ptx", f"-arch={output.arch}", "-w", *flags, file, "-o", target])
            result.made[output] = target
        except Failed as error:
            result.failed[output] = str(error)
        return result

    return Job([output], make)


def script_job(script: Path, outputs: list[Output]) -> Job:
    """A job that lets a Python script make all the outputs in one process of the toolchain's Python.

    One process for many kernels, because importing Triton or Numba takes longer than compiling a
    small kernel. The script is called with a directory and the file names wanted, and prints one
    line "ok FILE" or "failed FILE reason" for each.
    """

    def make(tools: Tools, wanted: list[Output], work: Path) -> Result:
        result = Result()
        try:
            text = run(tools, [tools.python, script, work, *(o.filename for o in wanted)])
        except Failed as error:
            text = ""
            for output in wanted:
                result.failed[output] = str(error)
        said = {}
        for line in text.splitlines():
            words = line.split(None, 2)
            if len(words) >= 2 and words[0] in ("ok", "failed"):
                said[words[1]] = (words[0], words[2] if len(words) > 2 else "")
        for output in wanted:
            word, reason = said.get(output.filename, ("failed", result.failed.get(output, "the script said nothing about it")))
            if word == "ok":
                result.made[output] = work / output.filename
            else:
                result.failed[output] = reason
        return result

    return Job(outputs, make)


TARGET = re.compile(r"^\s*\.target\s+([^\n/]+)", re.MULTILINE)


def assemble(tools: Tools, path: Path) -> tuple[bool, str]:
    """Has ptxas assemble a PTX file for its own .target. Returns (accepted, flags or message)."""
    text = path.read_text(errors="replace")
    match = TARGET.search(text)
    if not match:
        return False, "no .target directive"
    words = [word.strip() for word in match.group(1).split(",")]
    flags = [f"-arch={words[0]}"]
    if "debug" in words[1:]:
        # ptxas insists on -g for a debug target, and on -O0 with -g.
        flags += ["-g", "-O0"]
    try:
        run(tools, [tools.ptxas, *flags, path, "-o", "/dev/null"])
        return True, " ".join(flags)
    except Failed as error:
        message = str(error)
    # Functions and variables defined elsewhere (-rdc=true) are only resolved by the linker, so such
    # a module can only be assembled to a relocatable object.
    if ".extern" in text or ".weak" in text or ".visible .func" in text or ".entry" not in text:
        try:
            run(tools, [tools.ptxas, *flags, "-c", path, "-o", "/dev/null"])
            return True, " ".join(flags + ["-c"])
        except Failed as error:
            message = str(error)
    return False, message
