import { Parts, assert, body, told } from "./parts.mjs";

export default (require) => ({
  async play({ url, ask, mode, key = "k" }) {
    const OpenAI = require("openai");
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, timeout: 30_000 });
    const asked = body(ask);
    if (mode === "models") return { models: (await client.models.list()).data.map((model) => model.id) };
    if (mode === "embed") {
      const answer = await client.embeddings.create(asked);
      answer.data.forEach((item, at) => assert(item.index === at, item));
      const vectors = answer.data.map((item) => item.embedding);
      return { vectors, model: answer.model, tokens: answer.usage.prompt_tokens };
    }
    if (mode === "retrieve") return { models: [(await client.models.retrieve(ask.model)).id] };
    if (mode === "headers") return told((await client.chat.completions.create(asked).withResponse()).response.headers);
    if (mode === "leave") {
      for await (const event of await client.chat.completions.create({ ...asked, stream: true })) return { first: typeof event };
    }
    if (mode === "whole") return completion(await client.chat.completions.create(asked));
    const counted = { ...asked, stream_options: { include_usage: true } };
    if (mode === "helper") return completion(await client.chat.completions.stream(counted).finalChatCompletion());
    if (mode.startsWith("loop")) {
      // Answers the calls of the first answer, with the answer as the SDK gave it.
      const answer = (asked) =>
        mode === "loop"
          ? client.chat.completions.stream(asked).finalChatCompletion()
          : client.chat.completions.create(asked);
      const { message } = (await answer(asked)).choices[0];
      const results = message.tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "ok" }));
      return completion(await answer({ ...asked, messages: [...asked.messages, message, ...results] }));
    }
    return streamed(await client.chat.completions.create({ ...counted, stream: true }));
  },
});

function completion(answer) {
  assert(answer.object === "chat.completion" && answer.choices.length === 1, answer);
  const [{ message, finish_reason }] = answer.choices;
  assert(message.role === "assistant", message);
  const parts = new Parts();
  if (message.reasoning_content) parts.add("thinking", message.reasoning_content);
  if (message.content) parts.add("text", message.content);
  for (const call of message.tool_calls ?? []) {
    parts.call(call.function.name, JSON.parse(call.function.arguments), call.id);
  }
  const { id, model, created, usage } = answer;
  return { id, model, created, parts: parts.list, stop: finish_reason, usage: tokens(usage) };
}

function tokens(usage) {
  if (!usage) return null;
  return {
    input: usage.prompt_tokens,
    cache_read: usage.prompt_tokens_details?.cached_tokens ?? null,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? null,
    total: usage.total_tokens,
  };
}

async function streamed(stream) {
  const saw = { stop: null, usage: null };
  const parts = new Parts();
  const calls = [];
  for await (const chunk of stream) {
    assert(chunk.object === "chat.completion.chunk", chunk);
    Object.assign(saw, { id: chunk.id, model: chunk.model, created: chunk.created });
    if (chunk.usage) saw.usage = tokens(chunk.usage);
    for (const { index, delta, finish_reason } of chunk.choices) {
      assert(index === 0, chunk);
      if (delta.reasoning_content) parts.add("thinking", delta.reasoning_content);
      if (delta.content) parts.add("text", delta.content);
      for (const call of delta.tool_calls ?? []) {
        if (!calls[call.index]) {
          assert(call.index === calls.length && call.id && call.function.name, call);
          calls.push({ call: call.function.name, id: call.id, arguments: "" });
        }
        calls[call.index].arguments += call.function?.arguments ?? "";
      }
      if (finish_reason) {
        assert(saw.stop === null, "two finish reasons");
        saw.stop = finish_reason;
      }
    }
  }
  for (const call of calls) call.arguments = JSON.parse(call.arguments);
  return { ...saw, parts: [...parts.list, ...calls] };
}
