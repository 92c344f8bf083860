"""What scripts/check-packages runs in a tree without Rust, LLVM and CUDA: each package finds the README's bug."""

import glob
import os
import shutil
import subprocess
import sys
import time
import venv

LIMIT = float(os.environ.get("LIMIT", "5"))
# Python is started, too: whoever uses the wheel starts the command from it.
FROM_PYTHON = "import subprocess, sys; sys.exit(subprocess.run(['warpgrind', *sys.argv[1:]]).returncode)"
os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"


def check(condition: bool, message: str) -> None:
    if not condition:
        sys.exit(f"check-packages: {message}")


def find_bug(name: str, python: str, path: str) -> None:
    """Runs the program with the bug and its twin, with nothing compiled before."""
    home = f"/tmp/home-{name}"
    os.mkdir(home)
    environment = {"PATH": path, "HOME": home}

    def run(*words: str) -> subprocess.CompletedProcess:
        command = [python, "-I", "-c", FROM_PYTHON, *words]
        return subprocess.run(command, cwd="/program", env=environment, capture_output=True, text=True)

    start = time.monotonic()
    found = run("memcheck", "./vecadd")
    seconds = time.monotonic() - start
    check(found.returncode == 86, f"{name}: memcheck exits with {found.returncode}:\n{found.stderr}")
    for words in ["memcheck[out-of-bounds]", "vecadd.cu:8:5 in vecadd", "and 23 more times", "vecadd.cu:14"]:
        check(words in found.stderr, f"{name}: `{words}` is not in the report:\n{found.stderr}")
    check(seconds < LIMIT, f"{name}: the bug was found after {seconds:.1f} s")
    clean = run("memcheck", "./fixed")
    check(clean.returncode == 0, f"{name}: of the repaired program, memcheck says:\n{clean.stderr}")
    able = run("doctor", "./vecadd")
    check(able.returncode == 0 and "nothing is wrong" in able.stdout, f"{name}: doctor says:\n{able.stdout}{able.stderr}")
    headers = run("config", "--include-dir").stdout.strip()
    check(os.path.isfile(f"{headers}/warpgrind/tx.cuh"), f"{name}: there are no headers in `{headers}`")
    print(f"{name}: found the bug in {seconds:.2f} s, from the start of Python on")


for name in ["cargo", "rustc", "nvcc", "ptxas", "llvm-config", "clang", "cc", "sh"]:
    check(shutil.which(name) is None, f"{name} is in the tree")
for top in os.listdir("/"):
    if top not in ("proc", "dev"):
        files = [name for _, _, names in os.walk(f"/{top}") for name in names]
        check(not any(name.startswith(("libLLVM", "libcuda")) for name in files), "LLVM or CUDA is in the tree")

venv.create("/tmp/venv", with_pip=True)
wheel = glob.glob("/opt/*.whl")[0]
subprocess.run(
    ["/tmp/venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True
)
print(f"wheel: {os.path.getsize(wheel) / 1e6:.1f} MB")
find_bug("wheel", "/tmp/venv/bin/python", "/tmp/venv/bin")
# Where no tool is at work, requests do nothing.
requests = "import warpgrind; warpgrind.mark_defined(4096, 4); assert not warpgrind.is_at_work()"
subprocess.run(["/tmp/venv/bin/python", "-c", requests], check=True)
find_bug("tarball", sys.executable, "/opt/moved/bin")
find_bug("deb", sys.executable, "/usr/bin")
