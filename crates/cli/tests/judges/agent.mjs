// The Claude Agent SDK for Node with `rail` as its program: two tasks in one session, seen by its callbacks. Prints what it saw.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [rail, work, folder] = process.argv.slice(2);
const from = createRequire(pathToFileURL(`${folder}/package.json`));
const { createSdkMcpServer, query, tool } = await import(pathToFileURL(`${folder}/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs`));
const { z } = from("zod");

const seen = [];
let answered = () => {};
const next = () => new Promise((resolve) => (answered = resolve));

async function* prompts() {
  for (const content of ["Add and write.", "Take it away."]) {
    const done = next();
    yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
    await done;
  }
}

const add = tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async (given) => {
  seen.push({ ran: "add", arguments: given });
  return { content: [{ type: "text", text: String(given.a + given.b) }] };
});

async function may(name, given, { suggestions }) {
  seen.push({ asked: name, input: given, suggestions: suggestions?.length ?? 0 });
  if (given.command?.includes("rm")) return { behavior: "deny", message: "keep it" };
  return { behavior: "allow", updatedInput: name === "Bash" ? { command: "echo two > made.txt" } : given };
}

async function before(given) {
  seen.push({ hook: given.hook_event_name, tool: given.tool_name });
  return {};
}

function block(of) {
  if (of.type === "text") return { text: of.text };
  if (of.type === "tool_use") return { call: of.name, input: of.input };
  if (of.type === "tool_result") return { result: of.content, failed: of.is_error };
  return { block: of.type };
}

function told(message) {
  switch (message.type) {
    case "system":
      return { system: message.subtype, servers: message.mcp_servers, tool: message.tools?.includes("mcp__calc__add") };
    case "assistant":
      return { assistant: message.message.content.map(block), model: message.message.model };
    case "user":
      return { user: message.message.content.map(block) };
    case "result":
      return { done: message.subtype, error: message.is_error, turns: message.num_turns, text: message.result,
        denied: message.permission_denials.map((denial) => denial.tool_name) };
    default:
      return { other: message.type };
  }
}

const session = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: rail,
    cwd: work,
    systemPrompt: "You are tested.",
    mcpServers: { calc: createSdkMcpServer({ name: "calc", tools: [add] }) },
    allowedTools: ["mcp__calc__add"],
    canUseTool: may,
    hooks: { PreToolUse: [{ matcher: "Bash", hooks: [before] }] },
    maxTurns: 10,
  },
});
for await (const message of session) {
  seen.push(told(message));
  if (message.type === "result") answered();
}
for (const line of seen) console.log(JSON.stringify(line));
