import { Parts, assert, body, told } from "./parts.mjs";

export default (require) => ({
  async play({ url, ask, mode, key = "k" }) {
    const OpenAI = require("openai");
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, timeout: 30_000 });
    const asked = body(ask);
    if (mode === "count") return { tokens: (await client.responses.inputTokens.count(asked)).input_tokens };
    if (mode === "retrieve") return { models: [(await client.models.retrieve(ask.model)).id] };
    if (mode === "headers") return told((await client.responses.create(asked).withResponse()).response.headers);
    if (mode === "leave") {
      for await (const event of await client.responses.create({ ...asked, stream: true })) return { first: typeof event };
    }
    if (mode === "whole") return response(await client.responses.create(asked));
    if (mode === "helper") return response(await client.responses.stream(asked).finalResponse());
    if (mode.startsWith("loop")) {
      // Answers the calls of the first answer, with the answer as the SDK gave it.
      const answer = (asked) =>
        mode === "loop" ? client.responses.stream(asked).finalResponse() : client.responses.create(asked);
      const { output } = await answer(asked);
      const calls = output.filter((item) => item.type === "function_call");
      const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "ok" }));
      const begin = { role: "user", content: asked.input };
      return response(await answer({ ...asked, input: [begin, ...output.map(sendable), ...results] }));
    }
    return streamed(await client.responses.create({ ...asked, stream: true }));
  },
});

// The accumulation adds fields of its own, which the API does not take.
function sendable({ parsed_arguments, ...item }) {
  if (item.type === "message") item.content = item.content.map(({ parsed, ...content }) => content);
  return item;
}

function response(answer) {
  assert(answer.object === "response", answer);
  const parts = new Parts();
  for (const item of answer.output) {
    if (item.type === "reasoning") {
      const texts = [...(item.summary ?? []), ...(item.content ?? [])].map((text) => text.text);
      parts.list.push({ thinking: texts.join(""), signature: item.encrypted_content ?? null });
    } else if (item.type === "message") {
      assert(item.role === "assistant" && ["completed", "incomplete"].includes(item.status), item);
      for (const content of item.content) {
        assert(content.type === "output_text", content);
        parts.add("text", content.text);
      }
    } else if (item.type === "function_call") {
      parts.call(item.name, JSON.parse(item.arguments), item.call_id);
    } else {
      parts.list.push({ unknown: item.type });
    }
  }
  const { id, model, created_at, status, incomplete_details, error, usage } = answer;
  const stop = incomplete_details ? `${status}:${incomplete_details.reason}` : status;
  const saw = { id, model, created: created_at, parts: parts.list, stop, usage: usage ? tokens(usage) : null };
  if (error) saw.error = { code: error.code, message: error.message };
  return saw;
}

function tokens(usage) {
  return {
    input: usage.input_tokens,
    cache_read: usage.input_tokens_details.cached_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
    total: usage.total_tokens,
  };
}

// The last event holds the whole answer; the deltas before must have said the same.
async function streamed(stream) {
  const said = { text: "", thinking: "", arguments: new Map() };
  let [last, number] = [null, -1];
  for await (const event of stream) {
    if (event.type === "keepalive") continue;
    assert(event.sequence_number === number + 1, `${event.sequence_number} after ${number}`);
    number = event.sequence_number;
    assert(last === null, `${event.type} after the end`);
    if (event.type === "response.output_text.delta") said.text += event.delta;
    else if (/^response\.reasoning_(summary_)?text\.delta$/.test(event.type)) said.thinking += event.delta;
    else if (event.type === "response.function_call_arguments.delta") {
      const before = said.arguments.get(event.output_index) ?? "";
      said.arguments.set(event.output_index, before + event.delta);
    } else if (/^response\.(completed|incomplete|failed)$/.test(event.type)) last = event;
  }
  assert(last !== null, "no end");
  const saw = response(last.response);
  if (last.type !== "response.failed") {
    const join = (kind) => saw.parts.map((part) => part[kind] ?? "").join("");
    assert(join("text") === said.text && join("thinking") === said.thinking, said);
    const calls = saw.parts.filter((part) => "call" in part).map((part) => JSON.stringify(part.arguments));
    const streamed = [...said.arguments.values()].map((text) => JSON.stringify(JSON.parse(text)));
    assert(calls.join("\n") === streamed.join("\n"), streamed);
  }
  return saw;
}
