import asyncio
import json

import openai

from judge import Parts, told


SHARED = openai.OpenAI(api_key="k", max_retries=0, timeout=30)


def play(scenario):
    client = SHARED.with_options(base_url=scenario["url"] + "/v1", api_key=scenario.get("key", "k"))
    ask, mode = scenario["ask"], scenario["mode"]
    if mode == "models":
        return {"models": [model.id for model in client.models.list()]}
    if mode == "embed":
        answer = client.embeddings.create(**ask)
        vectors = [item.embedding for item in answer.data]
        assert [item.index for item in answer.data] == list(range(len(vectors)))
        return {"vectors": vectors, "model": answer.model, "tokens": answer.usage.prompt_tokens}
    if mode == "retrieve":
        return {"models": [client.models.retrieve(ask["model"]).id]}
    if mode == "headers":
        return told(client.chat.completions.with_raw_response.create(**ask).headers)
    if mode == "leave":
        with client.chat.completions.create(**ask, stream=True) as stream:
            return {"first": type(next(iter(stream))).__name__}
    if mode.startswith("async"):
        return asyncio.run(waited(scenario))
    if mode == "whole":
        return completion(client.chat.completions.create(**ask))
    if mode in ("loop", "loop-whole"):
        return loop(client, ask, mode)
    counted = {**ask, "stream_options": {"include_usage": True}}
    if mode == "helper":
        with client.chat.completions.stream(**counted) as stream:
            return completion(stream.get_final_completion())
    return streamed(client.chat.completions.create(**counted, stream=True))


async def waited(scenario):
    url, key = scenario["url"] + "/v1", scenario.get("key", "k")
    async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=30) as client:
        if scenario["mode"] == "async-whole":
            return completion(await client.chat.completions.create(**scenario["ask"]))
        async with client.chat.completions.stream(**scenario["ask"], stream_options={"include_usage": True}) as stream:
            return completion(await stream.get_final_completion())


def loop(client, ask, mode):
    """Answers the calls of the first answer, with the answer as the SDK gave it."""

    def answer(ask):
        if mode == "loop-whole":
            return client.chat.completions.create(**ask)
        with client.chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
            return stream.get_final_completion()

    message = answer(ask).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in message.tool_calls]
    sent = message.model_dump(exclude_none=True, exclude={"parsed": True, "tool_calls": {"__all__": {"function": {"parsed_arguments"}}}})
    return completion(answer({**ask, "messages": [*ask["messages"], sent, *results]}))


def completion(answer):
    assert answer.object == "chat.completion", answer.object
    [choice] = answer.choices
    parts, message = Parts(), choice.message
    assert message.role == "assistant"
    thought = (message.model_extra or {}).get("reasoning_content")
    if thought:
        parts.add("thinking", thought)
    # The accumulation of a stream says an empty text where there was none.
    if message.content:
        parts.add("text", message.content)
    for call in message.tool_calls or []:
        parts.call(call.function.name, json.loads(call.function.arguments), call.id)
    return {
        "id": answer.id,
        "model": answer.model,
        "created": answer.created,
        "parts": parts.list,
        "stop": choice.finish_reason,
        "usage": usage(answer.usage),
    }


def usage(usage):
    read, thought = usage.prompt_tokens_details, usage.completion_tokens_details
    return {
        "input": usage.prompt_tokens,
        "cache_read": read.cached_tokens if read else None,
        "output": usage.completion_tokens,
        "reasoning": thought.reasoning_tokens if thought else None,
        "total": usage.total_tokens,
    }


def streamed(stream):
    saw, parts, calls = {"stop": None, "usage": None}, Parts(), {}
    for chunk in stream:
        assert chunk.object == "chat.completion.chunk", chunk.object
        saw.update(id=chunk.id, model=chunk.model, created=chunk.created)
        if chunk.usage:
            saw["usage"] = usage(chunk.usage)
        for choice in chunk.choices:
            assert choice.index == 0
            delta = choice.delta
            thought = (delta.model_extra or {}).get("reasoning_content")
            if thought:
                parts.add("thinking", thought)
            if delta.content:
                parts.add("text", delta.content)
            for call in delta.tool_calls or []:
                if call.index not in calls:
                    assert call.index == len(calls) and call.id and call.function.name, call
                    calls[call.index] = {"call": call.function.name, "id": call.id, "arguments": ""}
                calls[call.index]["arguments"] += call.function.arguments or ""
            if choice.finish_reason:
                assert saw["stop"] is None, "two finish reasons"
                saw["stop"] = choice.finish_reason
    for call in calls.values():
        call["arguments"] = json.loads(call["arguments"])
    return {**saw, "parts": parts.list + list(calls.values())}
