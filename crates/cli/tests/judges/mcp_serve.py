"""The official MCP SDK for Python as a client of `rail mcp serve`. Prints what it saw, one JSON object a line."""

import asyncio
import base64
import json
import os
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

rail, work, folder, where, mark, *flags = sys.argv[1:]


def server():
    if where == "stdio":
        return StdioServerParameters(command=rail, args=["mcp", "serve", *flags], env=dict(os.environ), cwd=work)
    return where


def tell(**seen):
    print(json.dumps(seen), flush=True)


def at(name):
    return os.path.join(work, name)


def told(result):
    return {"error": bool(result.is_error), "text": "\n".join(block.text for block in result.content if block.type == "text")}


def runs(words):
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if words.encode() in file.read().replace(b"\0", b" "):
                    return True
        except OSError:
            pass
    return False


async def without_forms():
    async with Client(server()) as client:
        tell(protocol=client.protocol_version, server=client.server_info.name)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        tell(tools=sorted(tools))
        hints = {name: [tools[name].annotations.read_only_hint, tools[name].annotations.destructive_hint] for name in ["bash", "read_file"]}
        tell(hints=hints, described=len(tools["bash"].description) > 300, required=tools["read_file"].input_schema["required"])
        tell(read=told(await client.call_tool("read_file", {"file_path": at("a.txt")})))
        tell(refused=told(await client.call_tool("write_file", {"file_path": at("b.txt"), "content": "b"})))
        tell(allowed=told(await client.call_tool("write_file", {"file_path": at("open/c.txt"), "content": "c"})))
        image = (await client.call_tool("read_file", {"file_path": at("dot.png")})).content
        tell(image=[[block.mime_type, base64.b64decode(block.data)[1:4].decode()] for block in image if block.type == "image"])
        try:
            await client.call_tool("nonsense", {})
        except MCPError as error:
            tell(unknown=[error.code, "there is no tool `nonsense`" in str(error)])
        tell(bad=told(await client.call_tool("read_file", {"lines": 3})))
        await at_once(client)
        await progress(client)
        await cancel(client)
        background = {"command": f"sleep 86402{mark}", "run_in_background": True}
        tell(background=(await client.call_tool("bash", background)).is_error, runs=runs(f"sleep 86402{mark}"))


async def at_once(client):
    calls = [client.call_tool("read_file", {"file_path": at(f"many/{n}.txt")}) for n in range(10)]
    tell(ten=[told(result)["text"].split("\n")[0] for result in await asyncio.gather(*calls)])


async def progress(client):
    seen = []

    async def hear(done, total, message):
        seen.append(message)
        with open(at("go"), "w"):
            pass

    command = "echo begun; until [ -e go ]; do sleep 0.05; done; echo over"
    result = await client.call_tool("bash", {"command": command}, progress_callback=hear)
    tell(progress=seen[0], result=told(result)["text"].split("\n")[:2])


async def cancel(client):
    with anyio.CancelScope() as scope:

        async def hear(done, total, message):
            tell(before=runs(f"sleep 86401{mark}"))
            scope.cancel()

        await client.call_tool("bash", {"command": f"echo begun; sleep 86401{mark}"}, progress_callback=hear)
    # What changes something runs alone: when this has run, the other has ended.
    after = await client.call_tool("bash", {"command": "echo after"})
    tell(cancelled=scope.cancelled_caught, after=told(after)["text"].split("\n")[0], runs=runs(f"sleep 86401{mark}"))


async def with_forms():
    asked, answers = [], []

    async def answer(context, params):
        asked.append({"message": params.message, "choices": params.requested_schema["properties"]["answer"]["enum"]})
        return answers.pop(0)

    async with Client(server(), elicitation_callback=answer) as client:

        async def write(name, said):
            answers.append(said)
            return told(await client.call_tool("write_file", {"file_path": at(name), "content": f"the text of {name}\n"}))

        tell(once=await write("once.txt", ElicitResult(action="accept", content={"answer": "Allow once"})))
        tell(no=await write("no.txt", ElicitResult(action="accept", content={"answer": "No", "reason": "not that one"})))
        tell(declined=await write("declined.txt", ElicitResult(action="decline")))
        tell(asked=asked[0], questions=len(asked))
        answers.append(ElicitResult(action="accept", content={"answer": "Allow for this session: Bash(mkdir:*)"}))
        for name in ["one", "two"]:
            tell(session=told(await client.call_tool("bash", {"command": f"mkdir {name}"}))["error"], questions=len(asked))


asyncio.run(without_forms())
asyncio.run(with_forms())
