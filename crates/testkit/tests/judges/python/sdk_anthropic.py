import asyncio
import json

import anthropic

from judge import Parts, told


SHARED = anthropic.Anthropic(api_key="k", max_retries=0, timeout=30)


def play(scenario):
    client = SHARED.with_options(base_url=scenario["url"], api_key=scenario.get("key", "k"))
    ask, mode = scenario["ask"], scenario["mode"]
    if mode == "count":
        return {"tokens": client.messages.count_tokens(**ask).input_tokens}
    if mode == "models":
        return {"models": [model.id for model in client.models.list()]}
    if mode == "retrieve":
        return {"models": [client.models.retrieve(ask["model"]).id]}
    if mode == "headers":
        answer = client.messages.with_raw_response.create(**ask)
        assert answer.parse()._request_id == answer.headers["request-id"]
        return told(answer.headers)
    if mode == "leave":
        with client.messages.create(**ask, stream=True) as stream:
            return {"first": next(iter(stream)).type}
    if mode.startswith("async"):
        return asyncio.run(waited(scenario))
    if mode == "whole":
        return message(client.messages.create(**ask))
    if mode == "helper":
        with client.messages.stream(**ask) as stream:
            return message(stream.get_final_message())
    if mode in ("loop", "loop-whole"):
        return loop(client, ask, mode)
    return streamed(client.messages.create(**ask, stream=True))


async def waited(scenario):
    key = scenario.get("key", "k")
    async with anthropic.AsyncAnthropic(base_url=scenario["url"], api_key=key, max_retries=0, timeout=30) as client:
        if scenario["mode"] == "async-whole":
            return message(await client.messages.create(**scenario["ask"]))
        async with client.messages.stream(**scenario["ask"]) as stream:
            return message(await stream.get_final_message())


def loop(client, ask, mode):
    """Answers the calls of the first answer, with the answer as the SDK gave it."""

    def answer(ask):
        if mode == "loop-whole":
            return client.messages.create(**ask)
        with client.messages.stream(**ask) as stream:
            return stream.get_final_message()

    first = answer(ask)
    calls = [block for block in first.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "ok"} for call in calls]
    history = [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    return message(answer({**ask, "messages": ask["messages"] + history}))


def message(message):
    parts = Parts()
    for block in message.content:
        if block.type == "text":
            # Two blocks are two parts, even of the same kind.
            parts.list.append({"text": block.text})
        elif block.type == "thinking":
            parts.list.append({"thinking": block.thinking, "signature": block.signature})
        elif block.type == "redacted_thinking":
            parts.list.append({"redacted": block.data})
        elif block.type == "tool_use":
            parts.call(block.name, block.input, block.id)
        else:
            parts.list.append({"unknown": block.type})
    return {
        "id": message.id,
        "model": message.model,
        "parts": parts.list,
        "stop": message.stop_reason,
        "usage": usage(message.usage),
    }


def usage(usage):
    return {
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_input_tokens,
        "cache_write": usage.cache_creation_input_tokens,
        "output": usage.output_tokens,
    }


def streamed(stream):
    saw, blocks, ended = {"stop": None, "usage": None}, {}, False
    for event in stream:
        assert not ended, f"{event.type} after message_stop"
        if event.type == "message_start":
            saw["id"], saw["model"] = event.message.id, event.message.model
            assert event.message.content == [] and event.message.stop_reason is None
            assert event.message.usage.input_tokens is not None
            saw["usage"] = usage(event.message.usage)
        elif event.type == "content_block_start":
            assert event.index == len(blocks), f"block {event.index} after {len(blocks)}"
            blocks[event.index] = start(event.content_block)
        elif event.type == "content_block_delta":
            delta(blocks[event.index], event.delta)
        elif event.type == "content_block_stop":
            block = blocks[event.index]
            if "call" in block:
                block["arguments"] = json.loads(block["arguments"] or "{}")
        elif event.type == "message_delta":
            saw["stop"] = event.delta.stop_reason
            # Cumulative: what is said again stands, what is not stays.
            saw["usage"].update({key: value for key, value in usage(event.usage).items() if value is not None})
        elif event.type == "message_stop":
            ended = True
    assert ended, "no message_stop"
    return {**saw, "parts": list(blocks.values())}


def start(block):
    if block.type == "text":
        return {"text": block.text}
    if block.type == "thinking":
        return {"thinking": block.thinking, "signature": block.signature}
    if block.type == "redacted_thinking":
        return {"redacted": block.data}
    assert block.type == "tool_use" and block.input == {}, block
    return {"call": block.name, "id": block.id, "arguments": ""}


def delta(block, delta):
    if delta.type == "text_delta":
        block["text"] += delta.text
    elif delta.type == "thinking_delta":
        block["thinking"] += delta.thinking
    elif delta.type == "signature_delta":
        block["signature"] = delta.signature
    elif delta.type == "input_json_delta":
        block["arguments"] += delta.partial_json
    else:
        raise AssertionError(delta)
