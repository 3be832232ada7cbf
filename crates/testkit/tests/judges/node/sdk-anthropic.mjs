import { assert, body, told } from "./parts.mjs";

export default (require) => ({
  async play({ url, ask, mode, key = "k" }) {
    const Anthropic = require("@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, timeout: 30_000 });
    const asked = body(ask);
    if (mode === "count") return { tokens: (await client.messages.countTokens(asked)).input_tokens };
    if (mode === "models") return { models: (await client.models.list()).data.map((model) => model.id) };
    if (mode === "retrieve") return { models: [(await client.models.retrieve(ask.model)).id] };
    if (mode === "headers") return told((await client.messages.create(asked).withResponse()).response.headers);
    if (mode === "leave") {
      for await (const event of await client.messages.create({ ...asked, stream: true })) return { first: typeof event };
    }
    if (mode === "whole") return message(await client.messages.create(asked));
    if (mode === "helper") return message(await client.messages.stream(asked).finalMessage());
    if (mode.startsWith("loop")) {
      // Answers the calls of the first answer, with the answer as the SDK gave it.
      const answer = (asked) =>
        mode === "loop" ? client.messages.stream(asked).finalMessage() : client.messages.create(asked);
      const { content } = await answer(asked);
      const calls = content.filter((block) => block.type === "tool_use");
      const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
      const history = [{ role: "assistant", content }, { role: "user", content: results }];
      return message(await answer({ ...asked, messages: [...asked.messages, ...history] }));
    }
    return streamed(await client.messages.create({ ...asked, stream: true }));
  },
});

function message({ id, model, content, stop_reason, usage }) {
  const parts = content.map((block) => {
    if (block.type === "text") return { text: block.text };
    if (block.type === "thinking") return { thinking: block.thinking, signature: block.signature };
    if (block.type === "redacted_thinking") return { redacted: block.data };
    if (block.type === "tool_use") return { call: block.name, id: block.id, arguments: block.input };
    return { unknown: block.type };
  });
  return { id, model, parts, stop: stop_reason, usage: tokens(usage) };
}

function tokens(usage) {
  return {
    input: usage.input_tokens,
    cache_read: usage.cache_read_input_tokens,
    cache_write: usage.cache_creation_input_tokens,
    output: usage.output_tokens,
  };
}

async function streamed(stream) {
  const saw = { stop: null, usage: null };
  const blocks = [];
  let ended = false;
  for await (const event of stream) {
    assert(!ended, `${event.type} after message_stop`);
    if (event.type === "message_start") {
      saw.id = event.message.id;
      saw.model = event.message.model;
      assert(event.message.content.length === 0 && event.message.usage.input_tokens != null, event);
      saw.usage = tokens(event.message.usage);
    } else if (event.type === "content_block_start") {
      assert(event.index === blocks.length, event);
      blocks.push(start(event.content_block));
    } else if (event.type === "content_block_delta") {
      delta(blocks[event.index], event.delta);
    } else if (event.type === "content_block_stop") {
      const block = blocks[event.index];
      if ("call" in block) block.arguments = JSON.parse(block.arguments || "{}");
    } else if (event.type === "message_delta") {
      saw.stop = event.delta.stop_reason;
      // Cumulative: what is said again stands, what is not stays.
      const told = Object.entries(tokens(event.usage)).filter(([, value]) => value != null);
      Object.assign(saw.usage, Object.fromEntries(told));
    } else if (event.type === "message_stop") {
      ended = true;
    }
  }
  assert(ended, "no message_stop");
  return { ...saw, parts: blocks };
}

function start(block) {
  if (block.type === "text") return { text: block.text };
  if (block.type === "thinking") return { thinking: block.thinking, signature: block.signature };
  if (block.type === "redacted_thinking") return { redacted: block.data };
  assert(block.type === "tool_use" && Object.keys(block.input).length === 0, block);
  return { call: block.name, id: block.id, arguments: "" };
}

function delta(block, delta) {
  if (delta.type === "text_delta") block.text += delta.text;
  else if (delta.type === "thinking_delta") block.thinking += delta.thinking;
  else if (delta.type === "signature_delta") block.signature = delta.signature;
  else if (delta.type === "input_json_delta") block.arguments += delta.partial_json;
  else assert(false, delta);
}
