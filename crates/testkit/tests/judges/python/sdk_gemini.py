import asyncio
import base64
import functools

from google import genai
from google.genai import types

from judge import Parts, told


@functools.cache
def client_of(url, key):
    options = types.HttpOptions(
        base_url=url, timeout=30_000, retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key=key, vertexai=False, http_options=options)


def play(scenario):
    client = client_of(scenario["url"], scenario.get("key", "k"))
    ask, mode = with_bytes(scenario["ask"]), scenario["mode"]
    if mode == "count":
        return {"tokens": client.models.count_tokens(**ask).total_tokens}
    if mode == "models":
        return {"models": [model.name for model in client.models.list()]}
    if mode == "embed":
        answer = client.models.embed_content(**ask)
        return {"vectors": [item.values for item in answer.embeddings]}
    if mode == "retrieve":
        return {"models": [client.models.get(model=ask["model"]).name]}
    if mode == "headers":
        return told(client.models.generate_content(**ask).sdk_http_response.headers)
    if mode == "leave":
        chunks = client.models.generate_content_stream(**ask)
        first = next(chunks)
        chunks.close()
        return {"first": type(first).__name__}
    if mode.startswith("async"):
        # Its connections belong to one event loop.
        client = client_of.__wrapped__(scenario["url"], scenario.get("key", "k"))
        return asyncio.run(waited(client.aio, ask, mode))
    if mode == "whole":
        return joined([client.models.generate_content(**ask)])
    if mode == "helper":
        chat = client.chats.create(model=ask["model"], config=ask.get("config"))
        saw = joined(list(chat.send_message_stream(spoken(ask))))
        kept = Parts()
        for content in chat.get_history()[1:]:
            add(kept, content.parts)
        assert kept.list == saw["parts"], kept.list
        return saw
    if mode == "loop":
        chat = client.chats.create(model=ask["model"], config=ask.get("config"))
        calls = [part for chunk in chat.send_message_stream(spoken(ask)) for part in given(chunk)]
        return joined(list(chat.send_message_stream(results(calls))))
    if mode == "loop-whole":
        first = client.models.generate_content(**ask)
        history = [first.candidates[0].content, types.Content(role="user", parts=results(given(first)))]
        return joined([client.models.generate_content(**{**ask, "contents": [*ask["contents"], *history]})])
    return joined(list(client.models.generate_content_stream(**ask)))


async def waited(client, ask, mode):
    if mode == "async-whole":
        return joined([await client.models.generate_content(**ask)])
    return joined([chunk async for chunk in await client.models.generate_content_stream(**ask)])


def spoken(ask):
    return [types.Part.model_validate(part) for part in ask["contents"][-1]["parts"]]


def given(answer):
    content = answer.candidates[0].content if answer.candidates else None
    return (content and content.parts) or []


def results(parts):
    calls = [part.function_call for part in parts if part.function_call]
    answer = {"output": "ok"}
    return [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=answer))
        for call in calls
    ]


def with_bytes(value):
    """The same value with bytes where the SDK's types want them instead of base64."""
    if isinstance(value, dict):
        wants = lambda key, inner: isinstance(inner, str) and key in ("data", "thoughtSignature")
        return {k: base64.b64decode(v) if wants(k, v) else with_bytes(v) for k, v in value.items()}
    return [with_bytes(inner) for inner in value] if isinstance(value, list) else value


def joined(chunks):
    saw, parts = {"stop": None, "usage": None}, Parts()
    for chunk in chunks:
        saw.update(id=chunk.response_id, model=chunk.model_version)
        if chunk.usage_metadata:
            saw["usage"] = usage(chunk.usage_metadata)
        for candidate in chunk.candidates or []:
            assert not candidate.index
            if candidate.content:
                add(parts, candidate.content.parts or [])
            if candidate.finish_reason:
                assert saw["stop"] is None, "two finish reasons"
                saw["stop"] = candidate.finish_reason.value
    return {**saw, "parts": parts.list}


def add(parts, list):
    for part in list:
        if part.function_call:
            parts.call(part.function_call.name, part.function_call.args, part.function_call.id)
        elif part.text and part.thought:
            parts.add("thinking", part.text)
        elif part.text:
            parts.add("text", part.text)
        elif part.inline_data:
            data = base64.b64encode(part.inline_data.data).decode()
            parts.list.append({"image": part.inline_data.mime_type, "data": data})
        if part.thought_signature:
            parts.sign(base64.b64encode(part.thought_signature).decode())


def usage(usage):
    return {
        "input": usage.prompt_token_count,
        "cache_read": usage.cached_content_token_count,
        "output": usage.candidates_token_count,
        "reasoning": usage.thoughts_token_count,
        "total": usage.total_token_count,
    }
