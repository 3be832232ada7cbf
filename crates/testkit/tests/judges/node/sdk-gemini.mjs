import { Parts, assert, told } from "./parts.mjs";

export default (require) => ({
  async play({ url, ask, mode, key = "k" }) {
    const { GoogleGenAI } = require("@google/genai");
    const httpOptions = { baseUrl: url, timeout: 30_000, retryOptions: { attempts: 1 } };
    const { models, chats } = new GoogleGenAI({ apiKey: key, vertexai: false, httpOptions });
    if (mode === "count") return { tokens: (await models.countTokens(ask)).totalTokens };
    if (mode === "models") {
      const names = [];
      for await (const model of await models.list()) names.push(model.name);
      return { models: names };
    }
    if (mode === "embed") {
      const { embeddings } = await models.embedContent(ask);
      return { vectors: embeddings.map((item) => item.values) };
    }
    if (mode === "retrieve") return { models: [(await models.get(ask)).name] };
    if (mode === "headers") {
      const { headers } = (await models.generateContent(ask)).sdkHttpResponse;
      return told(new Map(Object.entries(headers)));
    }
    if (mode === "leave") {
      for await (const event of await models.generateContentStream(ask)) return { first: typeof event };
    }
    if (mode === "whole") return joined([await models.generateContent(ask)]);
    if (mode === "helper") {
      const chat = chats.create({ model: ask.model, config: ask.config });
      const saw = await joined(await chat.sendMessageStream({ message: ask.contents.at(-1).parts }));
      const kept = new Parts();
      for (const content of chat.getHistory().slice(1)) add(kept, content.parts);
      assert(JSON.stringify(kept.list) === JSON.stringify(saw.parts), kept.list);
      return saw;
    }
    if (mode === "loop") {
      const chat = chats.create({ model: ask.model, config: ask.config });
      const parts = [];
      for await (const chunk of await chat.sendMessageStream({ message: ask.contents.at(-1).parts })) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      }
      return joined(await chat.sendMessageStream({ message: results(parts) }));
    }
    if (mode === "loop-whole") {
      const { content } = (await models.generateContent(ask)).candidates[0];
      const history = [content, { role: "user", parts: results(content.parts) }];
      return joined([await models.generateContent({ ...ask, contents: [...ask.contents, ...history] })]);
    }
    return joined(await models.generateContentStream(ask));
  },
});

function results(parts) {
  const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
  return calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: "ok" } } }));
}

async function joined(chunks) {
  const saw = { stop: null, usage: null };
  const parts = new Parts();
  for await (const chunk of chunks) {
    Object.assign(saw, { id: chunk.responseId, model: chunk.modelVersion });
    if (chunk.usageMetadata) saw.usage = tokens(chunk.usageMetadata);
    for (const candidate of chunk.candidates ?? []) {
      assert(!candidate.index, candidate);
      add(parts, candidate.content?.parts ?? []);
      if (candidate.finishReason) {
        assert(saw.stop === null, "two finish reasons");
        saw.stop = candidate.finishReason;
      }
    }
  }
  return { ...saw, parts: parts.list };
}

function add(parts, list) {
  for (const part of list) {
    if (part.functionCall) parts.call(part.functionCall.name, part.functionCall.args, part.functionCall.id ?? null);
    else if (part.text && part.thought) parts.add("thinking", part.text);
    else if (part.text) parts.add("text", part.text);
    else if (part.inlineData) parts.list.push({ image: part.inlineData.mimeType, data: part.inlineData.data });
    if (part.thoughtSignature) parts.sign(part.thoughtSignature);
  }
}

function tokens(usage) {
  return {
    input: usage.promptTokenCount ?? null,
    cache_read: usage.cachedContentTokenCount ?? null,
    output: usage.candidatesTokenCount ?? null,
    reasoning: usage.thoughtsTokenCount ?? null,
    total: usage.totalTokenCount ?? null,
  };
}
