import asyncio
import json

import openai

from judge import Parts, told


SHARED = openai.OpenAI(api_key="k", max_retries=0, timeout=30)


def play(scenario):
    client = SHARED.with_options(base_url=scenario["url"] + "/v1", api_key=scenario.get("key", "k"))
    ask, mode = scenario["ask"], scenario["mode"]
    if mode == "count":
        return {"tokens": client.responses.input_tokens.count(**ask).input_tokens}
    if mode == "retrieve":
        return {"models": [client.models.retrieve(ask["model"]).id]}
    if mode == "headers":
        return told(client.responses.with_raw_response.create(**ask).headers)
    if mode == "leave":
        with client.responses.create(**ask, stream=True) as stream:
            return {"first": type(next(iter(stream))).__name__}
    if mode.startswith("async"):
        return asyncio.run(waited(scenario))
    if mode == "whole":
        return response(client.responses.create(**ask))
    if mode == "helper":
        with client.responses.stream(**ask) as stream:
            return response(stream.get_final_response())
    if mode in ("loop", "loop-whole"):
        return loop(client, ask, mode)
    return streamed(client.responses.create(**ask, stream=True))


async def waited(scenario):
    url, key = scenario["url"] + "/v1", scenario.get("key", "k")
    async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=30) as client:
        if scenario["mode"] == "async-whole":
            return response(await client.responses.create(**scenario["ask"]))
        async with client.responses.stream(**scenario["ask"]) as stream:
            return response(await stream.get_final_response())


def loop(client, ask, mode):
    """Answers the calls of the first answer, with the answer as the SDK gave it."""

    def answer(ask):
        if mode == "loop-whole":
            return client.responses.create(**ask)
        with client.responses.stream(**ask) as stream:
            return stream.get_final_response()

    output = answer(ask).output
    calls = [item for item in output if item.type == "function_call"]
    results = [{"type": "function_call_output", "call_id": call.call_id, "output": "ok"} for call in calls]
    # The accumulation adds fields of its own, which the API does not take.
    own = {"parsed_arguments": True, "content": {"__all__": {"parsed"}}}
    sent = [item.model_dump(exclude_unset=True, exclude=own if item.type != "reasoning" else None) for item in output]
    begin = {"role": "user", "content": ask["input"]}
    return response(answer({**ask, "input": [begin, *sent, *results]}))


def response(answer):
    assert answer.object == "response", answer.object
    parts = Parts()
    for item in answer.output:
        if item.type == "reasoning":
            texts = [*(item.summary or []), *(item.content or [])]
            part = {"thinking": "".join(text.text for text in texts)}
            parts.list.append({**part, "signature": item.encrypted_content})
        elif item.type == "message":
            assert item.role == "assistant" and item.status in ("completed", "incomplete"), item
            for content in item.content:
                assert content.type == "output_text", content
                parts.add("text", content.text)
        elif item.type == "function_call":
            parts.call(item.name, json.loads(item.arguments), item.call_id)
        else:
            parts.list.append({"unknown": item.type})
    saw = {
        "id": answer.id,
        "model": answer.model,
        "created": int(answer.created_at),
        "parts": parts.list,
        "stop": answer.status,
        "usage": usage(answer.usage),
    }
    if answer.incomplete_details:
        saw["stop"] += ":" + answer.incomplete_details.reason
    if answer.error:
        saw["error"] = {"code": answer.error.code, "message": answer.error.message}
    return saw


def usage(usage):
    return usage and {
        "input": usage.input_tokens,
        "cache_read": usage.input_tokens_details.cached_tokens,
        "output": usage.output_tokens,
        "reasoning": usage.output_tokens_details.reasoning_tokens,
        "total": usage.total_tokens,
    }


def streamed(stream):
    """The last event holds the whole answer; the deltas before must have said the same."""
    last, number, said = None, -1, {"text": "", "thinking": "", "arguments": {}}
    for event in stream:
        if event.type == "keepalive":
            continue
        assert event.sequence_number == number + 1, f"{event.sequence_number} after {number}"
        number = event.sequence_number
        assert last is None, f"{event.type} after the end"
        if event.type in ("response.created", "response.in_progress"):
            assert event.response.output == [], event
        elif event.type == "response.output_text.delta":
            said["text"] += event.delta
        elif event.type in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            said["thinking"] += event.delta
        elif event.type == "response.function_call_arguments.delta":
            said["arguments"].setdefault(event.output_index, "")
            said["arguments"][event.output_index] += event.delta
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            last = event
    assert last is not None, "no end"
    saw = response(last.response)
    if last.type != "response.failed":
        join = lambda kind: "".join(part.get(kind, "") for part in saw["parts"])
        assert join("text") == said["text"] and join("thinking") == said["thinking"], said
        calls = [part["arguments"] for part in saw["parts"] if "call" in part]
        assert calls == [json.loads(text) for text in said["arguments"].values()], said
    return saw
