#!/usr/bin/env python3
"""Measures Celery's chord on the servers of the environment, for `make bench`, and prints one line of JSON:
{"version", "items", "millis": [...]}.

Celery comes from the package index into target/celery. One worker with two processes, one trivial task per item, the
result gathered by the chord's callback: RabbitMQ carries the tasks, Redis keeps the results.
"""

import json
import subprocess
import sys
from pathlib import Path

ITEMS = 10_000
RUNS = 2
HOME = Path(__file__).resolve().parent.parent / "target" / "celery"
PYTHON = HOME / "bin" / "python"
APP = """
import os
from celery import Celery

app = Celery("bench", broker=os.environ["RUNEGLASS_AMQP"].replace("%2f", "/"), backend=os.environ["RUNEGLASS_REDIS"] + "/1")
app.conf.update(broker_connection_retry_on_startup=True, worker_prefetch_multiplier=64, result_expires=600)

@app.task
def double(item):
    return {"n": item["n"] * 2}

@app.task
def gather(items):
    return len(items)
"""
MEASURE = """
import json, os, sys, time
import celery
from bench import double, gather
items, runs = int(sys.argv[1]), int(sys.argv[2])
millis = []
for run in range(runs + 1):
    count = items if run else 100
    began = time.monotonic()
    answer = celery.chord((double.s({"n": n}) for n in range(count)), gather.s())().get(timeout=300)
    assert answer == count, answer
    if run:
        millis.append((time.monotonic() - began) * 1000)
print(json.dumps({"version": celery.__version__, "items": items, "millis": millis}), flush=True)
# Its tidying up is not measured, and has been seen to take minutes.
os._exit(0)
"""


def install():
    if not PYTHON.exists():
        print("Installing Celery into target/celery …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
    have = subprocess.run([PYTHON, "-c", "import celery, redis"], capture_output=True)
    if have.returncode != 0:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "celery[redis]"], check=True, stdout=sys.stderr)


def main():
    install()
    (HOME / "bench.py").write_text(APP)
    command = [PYTHON, "-m", "celery", "-A", "bench", "worker", "--concurrency", "2", "--loglevel", "ERROR",
               "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(command, cwd=HOME, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        measured = subprocess.run([PYTHON, "-c", MEASURE, str(ITEMS), str(RUNS)], cwd=HOME, check=True,
                                  capture_output=True, text=True, timeout=600)
        print(measured.stdout.strip())
    except subprocess.CalledProcessError as error:
        sys.exit(f"Celery failed: {error.stderr.strip().splitlines()[-1]}")
    finally:
        worker.terminate()
        try:
            worker.wait(timeout=10)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


main()
