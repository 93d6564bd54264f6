"""`python -m classad_cli` runs the program, where the folder of scripts is not on `PATH`."""

import subprocess
import sys

from ._binary import find_binary

if __name__ == "__main__":
    sys.exit(subprocess.run([find_binary(), *sys.argv[1:]]).returncode)
