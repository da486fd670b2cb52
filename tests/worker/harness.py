"""Starts a worker without a sandbox and speaks the protocol with it, as the host does."""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAIN = os.path.join(ROOT, "python", "worker", "__main__.py")
PYTHON = os.environ.get("RLM_TEST_PYTHON", sys.executable)
TIMEOUT = 20.0


class Ended(Exception):
    """A pipe of the worker ended where a message was expected."""


class Source:
    """One pipe from the worker, read with a deadline."""

    def __init__(self, fd, beside=None):
        self.fd = fd
        self.buffer = b""
        self.beside = beside  # is read meanwhile, as a host does

    def fileno(self):
        return self.fd

    def more(self, deadline):
        while True:
            left = deadline - time.monotonic()
            watched = [self.fd] if self.beside is None else [self.fd, self.beside.fd]
            readable = select.select(watched, [], [], left)[0] if left > 0 else []
            if not readable:
                raise TimeoutError(f"nothing came; so far {self.buffer[-300:]!r}")
            if self.fd in readable:
                break
            data = os.read(self.beside.fd, 1 << 20)
            self.beside.buffer += data
            if not data:
                self.beside = None
        data = os.read(self.fd, 1 << 20)
        if not data:
            raise Ended(self.buffer)
        self.buffer += data

    def line(self, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            self.more(deadline)
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def exactly(self, size, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        while len(self.buffer) < size:
            self.more(deadline)
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def until(self, needle, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        while needle not in self.buffer:
            self.more(deadline)
        return self.buffer

    def drain(self):
        """Everything that is in the pipe now."""
        while select.select([self.fd], [], [], 0)[0]:
            data = os.read(self.fd, 1 << 20)
            if not data:
                break
            self.buffer += data
        data, self.buffer = self.buffer, b""
        return data

    def rest(self, timeout=TIMEOUT):
        """Everything until the end of the pipe."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self.more(deadline)
        except Ended:
            return self.buffer


class Worker:
    def __init__(self, cwd=None, python=PYTHON):
        commands, self.commands = os.pipe()
        aside, self.aside = os.pipe()
        events_r, events = os.pipe()
        out_r, out = os.pipe()
        err_r, err = os.pipe()
        self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        inherited = [commands, aside, events, control.fileno()]
        self.process = subprocess.Popen(
            [python, "-I", MAIN, *map(str, inherited)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=inherited, cwd=cwd,
        )
        for fd in (commands, aside, events, out, err):
            os.close(fd)
        control.close()
        self.events = Source(events_r)
        self.out, self.err = Source(out_r, self.events), Source(err_r, self.events)
        self.number = 0
        self.closed = False
        self.retired = []
        self.marks = []
        self.ready = self.event()

    def event(self, timeout=TIMEOUT):
        """The next event. Marks of the order of output are collected in ``marks``."""
        while True:
            message = self._message(timeout)
            if message["type"] != "order":
                return message
            self.marks.append((message["next"], message["stdout"], message["stderr"], *(["all"] if "all" in message else [])))

    def _message(self, timeout):
        message = json.loads(self.events.line(timeout))
        if "bytes" in message:
            header, message = message, json.loads(self.events.exactly(message["bytes"], timeout))
            assert header["type"] == message["type"] and header["id"] == message["id"], header
        return message

    def write(self, fd, message, payload=b""):
        data = memoryview(json.dumps(message).encode() + b"\n" + payload)
        while data:
            data = data[os.write(fd, data):]

    def send(self, code, payload=None, **fields):
        """Starts an execution and returns its id."""
        self.number += 1
        message = {"id": f"e{self.number}", "cmd": "exec", "count": self.number, **fields}
        if payload is None:
            self.write(self.commands, {**message, "code": code})
        else:
            self.write(self.commands, {**message, "bytes": len(payload)}, payload)
        return message["id"]

    def status(self, execution, timeout=TIMEOUT):
        event = self.event(timeout)
        assert event["type"] == "status" and event["id"] == execution, event
        return event

    def run(self, code, **fields):
        return self.status(self.send(code, **fields))

    def value(self, code, **fields):
        status = self.run(code, **fields)
        assert status["status"] == "ok", status
        return status.get("value", {}).get("text/plain")

    def command(self, cmd, **fields):
        self.number += 1
        self.write(self.commands, {"id": f"c{self.number}", "cmd": cmd, **fields})
        return self.status(f"c{self.number}")

    def send_aside(self, **message):
        self.write(self.aside, message)

    def printed(self, code, **fields):
        """Runs code; returns its status and the contents of both streams."""
        status = self.run(code, **fields)
        return status, self.out.drain().decode(), self.err.drain().decode()

    def shown(self, code, **fields):
        """Runs code and acknowledges its displays, as the host does; returns its status and the displays."""
        execution = self.send(code, **fields)
        displays = []
        while True:
            event = self.event()
            if event["type"] != "display":
                assert event["type"] == "status" and event["id"] == execution, event
                return event, displays
            displays.append(event)
            self.send_aside(cmd="reply", id=event["id"], call=event["call"], value=None)

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def new_streams(self):
        """Gives the worker a new pair of output pipes; returns the sources of the old pair."""
        out_r, out = os.pipe()
        err_r, err = os.pipe()
        self.control.sendmsg([b"s"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [out, err]))])
        os.close(out)
        os.close(err)
        status = self.command("streams")
        assert status["status"] == "ok", status
        old = self.out, self.err
        self.out, self.err = Source(out_r), Source(err_r)
        self.retired += old
        return old

    def close(self):
        """Closes the command pipe and returns the exit code. Idempotent."""
        if self.closed:
            return self.process.returncode
        self.closed = True
        os.close(self.commands)
        os.close(self.aside)
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for source in (self.events, self.out, self.err, *self.retired):
            os.close(source.fd)
        self.control.close()
        return code


class WorkerCase(unittest.TestCase):
    """Each test has its own worker."""

    def setUp(self):
        self.worker = self.fresh()

    def fresh(self, **options):
        worker = Worker(**options)
        self.addCleanup(worker.close)
        return worker
