"""An MCP server that behaves, or in one way does not: the first argument says how."""

import json
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
]


def write(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def answer(id, result):
    send({"id": id, "result": result})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def forever():
    while True:
        time.sleep(1000)


def initialize(id, params):
    if MODE == "hang-start":
        sys.stderr.write("waiting for the moon\n")
        sys.stderr.flush()
        forever()
    if MODE == "old":
        return answer(id, {"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {}})
    if MODE == "refuse":
        return send({"id": id, "error": {"code": -32000, "message": "not today"}})
    if MODE == "wrong-hello":
        return answer(id + 1000, {})
    if MODE == "garbage":
        write("Listening on port 80")
        write("{\"half\": ")
        write("[1, null, \"x\"]")
        write("\x00\xff\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    version = params["protocolVersion"]
    capabilities = {"tools": {"listChanged": True}}
    if MODE == "liar":
        capabilities = {"tools": True, "prompts": 5, "resources": "yes"}
    answer(id, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "hostile", "version": MODE}})


def tools(id, params):
    if MODE == "endless":
        page = int(params.get("cursor", "0"))
        return answer(id, {"tools": [{"name": "t%d" % page, "inputSchema": {}}], "nextCursor": str(page + 1)})
    if MODE == "circle":
        return answer(id, {"tools": TOOLS, "nextCursor": "again"})
    if MODE == "crowd":
        return answer(id, {"tools": [{"name": "t%d" % n, "inputSchema": {}} for n in range(100000)]})
    if MODE == "fat":
        fat = {"type": "object", "properties": {"p%d" % n: {"type": "string", "description": "x" * 1000} for n in range(10000)}}
        return answer(id, {"tools": [{"name": "fat", "description": "y" * 100000, "inputSchema": fat}] + TOOLS})
    if MODE == "liar":
        return answer(id, {"tools": [
            {"name": "content", "inputSchema": [1, 2]},
            {"name": "number", "inputSchema": {"type": "object", "properties": {"n": {"$ref": "#/properties/n"}}}},
            {"name": 5},
            "no tool",
            {"name": "none", "description": 7, "inputSchema": "x", "annotations": []},
            {"name": "error"},
            {"name": "nothing"},
        ]})
    if MODE == "no-list":
        return answer(id, {"tools": "none"})
    answer(id, {"tools": TOOLS})


LIES = {
    "content": {"content": 5, "isError": "no"},
    "number": {"content": [{"type": "text", "text": 12}, {"type": "image", "data": 7}], "structuredContent": "x"},
    "none": "just a text",
}


def call(id, params):
    global TOOLS
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if MODE == "liar":
        if name == "error":
            return send({"id": id, "error": "not an object"})
        if name == "nothing":
            return send({"id": id})
        return answer(id, LIES[name])
    if MODE == "hang-call":
        return
    if MODE == "die-call":
        sys.stderr.write("Segmentation fault, nearly\n")
        sys.stderr.flush()
        sys.exit(3)
    if MODE == "flood":
        for n in range(20000):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": n, "message": "m" * 50}})
            send({"method": "notifications/message", "params": {"level": "info", "data": "line %d" % n}})
            send({"method": "notifications/nonsense"})
    if MODE == "stderr":
        for n in range(20000):
            sys.stderr.write("complaint %d\n" % n)
    if MODE == "change":
        TOOLS = TOOLS + [{"name": arguments["text"]}]
        for _ in range(50):
            send({"method": "notifications/tools/list_changed"})
    if MODE == "long":
        return answer(id, text("z" * (50 << 20)))
    if MODE == "wrong-id":
        answer(id + 500, text("for nobody"))
        answer("x", text("for nobody"))
        answer(None, text("for nobody"))
        answer([1], text("for nobody"))
    if MODE == "twice":
        answer(id, text(arguments.get("text", "")))
    if MODE == "asks":
        for n in range(1000):
            ask = {"messages": [{"role": "user", "content": {"type": "text", "text": "say %d" % n}}], "maxTokens": 5}
            send({"id": "ask%d" % n, "method": "sampling/createMessage", "params": ask})
        counts = {"answered": 0, "refused": 0}
        for _ in range(1000):
            said = json.loads(sys.stdin.readline())
            counts["answered" if "result" in said else "refused"] += 1
        return answer(id, text("asked 1000 times, %s" % ("some were refused" if counts["refused"] else "none was refused")))
    if MODE == "progress":
        for n in range(1, 4):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": n, "total": 3, "message": "step"}})
            # The next step is taken when the one before was seen.
            sys.stdin.readline()
    answer(id, text(arguments.get("text", "")))


if MODE == "die":
    sys.stderr.write("no configuration found\n")
    sys.exit(1)
if MODE == "deaf":
    forever()

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        initialize(id, message["params"])
    elif method == "tools/list":
        tools(id, message.get("params", {}))
    elif method == "tools/call":
        call(id, message["params"])
    elif method == "ping":
        if MODE != "no-ping":
            answer(id, {})
    elif method == "notifications/cancelled" and MODE == "hang-call":
        send({"method": "notifications/message", "params": {"level": "info", "data": "cancelled: " + message["params"].get("reason", "")}})
    elif id is not None and method:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
