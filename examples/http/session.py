"""A session over HTTP with Python's standard library: an error, input for running code, a variable, a command."""

import json
import os
from urllib.request import Request, urlopen

URL = os.environ.get("RLM_URL", "http://127.0.0.1:8000")
TOKEN = os.environ["RLM_TOKEN"]


def ask(method, path, body=None, **headers):
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    headers["Authorization"] = f"Bearer {TOKEN}"
    return urlopen(Request(URL + path, data, headers, method=method), timeout=60)


def events(response):
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


session = json.load(ask("POST", "/v1/sessions", {"env": {"GREETING": "Hello"}}))
path = f"/v1/sessions/{session['id']}"

# Code that fails is an ordinary result.
result = json.load(ask("POST", f"{path}/execute", {"code": "1 / 0"}))
print(result["status"], result["error"]["name"], result["state"])

# Events as they happen; a request for input gets a line.
code = "import os\nname = input('who? ')\nprint(os.environ['GREETING'], name)"
stream = ask("POST", f"{path}/execute", {"code": code, "input": "ask"}, Accept="text/event-stream")
for event in events(stream):
    if event["type"] == "input-start":
        ask("POST", f"{stream.headers['Location']}/stdin", {"text": "Ada"})
    elif event["type"] == "output-delta":
        print(event["text"], end="")

# Set a variable of any size, byte for byte, then list the variables.
ask("PUT", f"{path}/variables/words", b"one two three", **{"Content-Type": "text/plain"})
result = json.load(ask("POST", f"{path}/execute", {"code": "len(words.split())", "variables": True}))
print(result["value"]["text/plain"], [variable["name"] for variable in result["variables"]["variables"]])

# A shell command in the files of the session.
body = {"command": "echo 6 x 7; exit 3", "sessionId": session["id"], "waitMs": 10_000}
task = json.load(ask("POST", "/v1/tasks", body))
print(task["status"], task["exitCode"], task["result"]["stdout"], end="")

ask("DELETE", path)
