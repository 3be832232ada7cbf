"""The Claude Agent SDK for Python with `rail` as its program: two tasks in one session, seen by its callbacks. Prints what it saw."""

import asyncio
import json
import sys

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)

seen = []


@tool("add", "Adds two numbers", {"a": int, "b": int})
async def add(arguments):
    seen.append({"ran": "add", "arguments": arguments})
    return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}


async def may(name, given, context):
    seen.append({"asked": name, "input": given, "suggestions": len(context.suggestions)})
    if "rm" in given.get("command", ""):
        return PermissionResultDeny(message="keep it")
    if name == "Bash":
        return PermissionResultAllow(updated_input={"command": "echo two > made.txt"})
    return PermissionResultAllow()


async def before(given, call, context):
    seen.append({"hook": given["hook_event_name"], "tool": given["tool_name"]})
    return {}


def blocks(content):
    for block in content:
        if isinstance(block, TextBlock):
            yield {"text": block.text}
        elif isinstance(block, ToolUseBlock):
            yield {"call": block.name, "input": block.input}
        elif isinstance(block, ToolResultBlock):
            yield {"result": block.content, "failed": block.is_error}


def told(message):
    if isinstance(message, SystemMessage):
        data = message.data
        return {"system": message.subtype, "servers": data.get("mcp_servers"), "tool": "mcp__calc__add" in data.get("tools", [])}
    if isinstance(message, AssistantMessage):
        return {"assistant": list(blocks(message.content)), "model": message.model}
    if isinstance(message, UserMessage):
        return {"user": list(blocks(message.content))}
    if isinstance(message, ResultMessage):
        return {"done": message.subtype, "error": message.is_error, "turns": message.num_turns, "text": message.result,
                "denied": [denial["tool_name"] for denial in message.permission_denials]}
    if isinstance(message, StreamEvent):
        return {"stream": message.event["type"]}
    return {"other": type(message).__name__}


async def main(rail, work):
    options = ClaudeAgentOptions(
        cli_path=rail,
        cwd=work,
        system_prompt="You are tested.",
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add])},
        allowed_tools=["mcp__calc__add"],
        can_use_tool=may,
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[before])]},
        max_turns=10,
    )
    async with ClaudeSDKClient(options=options) as client:
        for prompt in ["Add and write.", "Take it away."]:
            await client.query(prompt)
            async for message in client.receive_response():
                seen.append(told(message))
        await client.set_permission_mode("acceptEdits")
        status = await client.get_mcp_status()
        seen.append({"status": [server["status"] for server in status["mcpServers"]]})
    for line in seen:
        print(json.dumps(line, sort_keys=True))


asyncio.run(main(sys.argv[1], sys.argv[2]))
