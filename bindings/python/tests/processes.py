"""Programs in processes of their own: none outlives its time limit, nor does what it has started,
and each hears Ctrl-C whatever the shell that runs the tests has told its children to ignore."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading

#: Seconds, many times what is needed on a busy machine.
LIMIT = 120

#: In the background of a shell SIGINT is ignored, and children inherit that.
PREAMBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


@contextlib.contextmanager
def running(program, limit=LIMIT, stdout=subprocess.PIPE, **options):
    """A Python program, or a command as a list, whose standard output is piped; killed at the limit and at the end."""
    is_command = isinstance(program, list)
    command = program if is_command else [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)]
    child = subprocess.Popen(command, stdout=stdout, text=True, start_new_session=True, **options)
    timer = threading.Timer(limit, _kill, [child])
    timer.start()
    try:
        yield child
    finally:
        timer.cancel()
        _kill(child)
        if child.stdout:
            child.stdout.close()
        child.wait(30)


def _kill(child):
    """The process and those that it has started: it leads a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


def output(program, limit=LIMIT):
    """What a program prints; fails if it hangs or fails."""
    with running(program, limit) as child:
        text = child.stdout.read()
        code = child.wait(30)
    assert code != -9, f"killed: it took more than {limit} seconds, after printing {text!r}"
    assert code == 0, f"ended with {code} after printing {text!r}"
    return text
