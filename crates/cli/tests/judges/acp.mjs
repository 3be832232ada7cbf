// The official ACP client library for TypeScript with `rail acp` as its agent: every method of the protocol, on a scripted model. Prints what it saw.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [rail, work, folder] = process.argv.slice(2);
const acp = await import(pathToFileURL(`${folder}/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js`));
const { methods } = acp;

const seen = [];
const see = (what) => seen.push(what);
const updates = [];
/** What the editor has open and not saved. */
const buffers = new Map();
const terminals = new Map();
const released = new Set();
let cancelOnPermission = null;
let cancelOnTerminal = null;

const app = acp
  .client({ name: "judge" })
  .onNotification(methods.client.session.update, ({ params }) => updates.push(params.update))
  .onRequest(methods.client.session.requestPermission, async ({ params, agent, signal }) => {
    const { toolCall, options } = params;
    see({ permission: toolCall.title, kind: toolCall.kind, options: options.map((each) => [each.kind, each.name]),
      content: toolCall.content?.map((each) => each.type) });
    if (cancelOnPermission) {
      await agent.notify(methods.agent.session.cancel, { sessionId: cancelOnPermission });
      await new Promise((resolve) => signal.aborted ? resolve() : signal.addEventListener("abort", resolve));
      return { outcome: { outcome: "cancelled" } };
    }
    const allow = options.find((each) => each.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: allow.optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, ({ params }) => {
    see({ read: params.path });
    return { content: buffers.get(params.path) ?? readFileSync(params.path, "utf8") };
  })
  .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
    see({ write: params.path, content: params.content });
    buffers.delete(params.path);
    writeFileSync(params.path, params.content);
    return {};
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => {
    see({ form: params.message, fields: Object.keys(params.requestedSchema.properties) });
    return { action: "accept", content: { question_1: "blue" } };
  })
  .onRequest(methods.client.terminal.create, ({ params, agent }) => {
    const id = `terminal-${terminals.size + 1}`;
    const env = Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(params.command, params.args ?? [], { cwd: params.cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    const terminal = { child, output: "", exit: null };
    terminal.over = new Promise((resolve) => child.on("close", (exitCode, signal) => resolve((terminal.exit = { exitCode, signal }))));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (terminal.output += data));
    terminals.set(id, terminal);
    see({ terminal: id, cwd: params.cwd, bytes: typeof params.outputByteLimit });
    if (cancelOnTerminal) agent.notify(methods.agent.session.cancel, { sessionId: cancelOnTerminal });
    return { terminalId: id };
  })
  .onRequest(methods.client.terminal.output, ({ params }) => {
    const { output, exit } = terminals.get(params.terminalId);
    return { output, truncated: false, exitStatus: exit };
  })
  .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).over)
  .onRequest(methods.client.terminal.kill, ({ params }) => {
    see({ kill: params.terminalId });
    terminals.get(params.terminalId).child.kill("SIGKILL");
    return {};
  })
  .onRequest(methods.client.terminal.release, ({ params }) => {
    released.add(params.terminalId);
    return {};
  });

/** What came since the last time, in short. */
function told() {
  const all = updates.splice(0).map((update) => {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return [update.sessionUpdate, update.content.text ?? JSON.stringify(update.content.resource)];
      case "tool_call":
        return ["tool_call", update.title, update.kind, update.status, (update.locations ?? []).map((each) => each.path)];
      case "tool_call_update":
        return ["tool_call_update", update.status ?? null, (update.content ?? []).map((each) => each.type)];
      case "plan":
        return ["plan", update.entries.map((each) => [each.content, each.status])];
      case "available_commands_update":
        return ["available_commands_update", update.availableCommands.some((each) => each.name === "compact")];
      case "current_mode_update":
        return ["current_mode_update", update.currentModeId];
      case "config_option_update":
        return ["config_option_update", update.configOptions.map((each) => [each.id, each.currentValue])];
      case "session_info_update":
        return ["session_info_update", update.title];
      default:
        return [update.sessionUpdate];
    }
  });
  // Pieces of one answer are one.
  const joined = [];
  for (const each of all) {
    const last = joined.at(-1);
    if (last && last[0] === each[0] && each[0].endsWith("_chunk")) last[1] += each[1];
    else joined.push(each);
  }
  return joined;
}

const text = (words) => [{ type: "text", text: words }];
const failure = async (promise) => promise.then(() => null, (error) => ({ code: error.code }));
/** Waits until the agent has said something, which it does in its own time. */
async function until(test) {
  while (!updates.some(test)) await new Promise((resolve) => setImmediate(resolve));
}

const child = spawn(rail, ["acp", "--sandbox", "workspace"], { cwd: work, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

await app.connectWith(stream, async (agent) => {
  const s = methods.agent.session;
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {} },
    auth: { terminal: true }, session: { notices: {} } };
  const hello = await agent.request(methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
  see({ hello: hello.protocolVersion, agent: hello.agentInfo.name, capabilities: hello.agentCapabilities,
    auth: hello.authMethods.map((each) => [each.id, each.type ?? "agent", each.args]) });
  see({ authenticated: await agent.request(methods.agent.authenticate, { methodId: "configuration" }) });
  see({ unknownLogin: await failure(agent.request(methods.agent.authenticate, { methodId: "x" })) });
  see({ logout: await failure(agent.request(methods.agent.logout, {})) });

  const { sessionId, modes, configOptions } = await agent.request(s.new, { cwd: work, mcpServers: [] });
  see({ modes: modes.availableModes.map((each) => each.id), current: modes.currentModeId,
    options: configOptions.map((each) => [each.id, each.category, each.currentValue, each.options.map((value) => value.value)]) });
  await until((update) => update.sessionUpdate === "available_commands_update");
  see({ begun: told() });

  // What is not saved is what is read and changed.
  buffers.set(`${work}/a.txt`, "unsaved one\ntwo\n");
  let turn = await agent.request(s.prompt, { sessionId, prompt: [
    { type: "text", text: "Change it: " },
    { type: "resource", resource: { uri: `file://${work}/b.txt`, text: "embedded" } },
  ] });
  see({ edited: turn.stopReason, updates: told(), file: readFileSync(`${work}/a.txt`, "utf8") });

  turn = await agent.request(s.prompt, { sessionId, prompt: text("Run it.") });
  see({ ran: turn.stopReason, updates: told() });

  cancelOnTerminal = sessionId;
  turn = await agent.request(s.prompt, { sessionId, prompt: text("Sleep.") });
  cancelOnTerminal = null;
  while (!released.has("terminal-2")) await new Promise((resolve) => setImmediate(resolve));
  see({ slept: turn.stopReason, ended: await terminals.get("terminal-2").over.then(() => true), released: [...released] });
  told();

  turn = await agent.request(s.prompt, { sessionId, prompt: text("Ask me.") });
  see({ asked: turn.stopReason, updates: told() });

  turn = await agent.request(s.prompt, { sessionId, prompt: text("/todo") });
  see({ command: turn.stopReason, updates: told() });
  see({ audio: await failure(agent.request(s.prompt, { sessionId, prompt: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] })) });

  see({ mode: await agent.request(s.setMode, { sessionId, modeId: "accept-edits" }) });
  await until((update) => update.sessionUpdate === "config_option_update");
  see({ updates: told() });
  see({ noMode: await failure(agent.request(s.setMode, { sessionId, modeId: "yolo" })) });
  const set = await agent.request(s.setConfigOption, { sessionId, configId: "model", value: "one,big" });
  see({ model: set.configOptions.map((each) => [each.id, each.currentValue]) });
  await until((update) => update.sessionUpdate === "config_option_update");
  told();
  await agent.request(s.setMode, { sessionId, modeId: "default" });
  await until((update) => update.sessionUpdate === "config_option_update");
  told();

  cancelOnPermission = sessionId;
  turn = await agent.request(s.prompt, { sessionId, prompt: text("Do not.") });
  cancelOnPermission = null;
  see({ cancelled: turn.stopReason, updates: told().map((each) => each.slice(0, 2)) });

  see({ listed: (await agent.request(s.list, { cwd: work })).sessions.map((each) => [each.sessionId === sessionId, each.cwd === work, each.title]) });
  see({ closed: await agent.request(s.close, { sessionId }) });
  see({ afterClose: await failure(agent.request(s.prompt, { sessionId, prompt: text("x") })) });
  told();
  const loaded = await agent.request(s.load, { sessionId, cwd: work, mcpServers: [] });
  see({ loaded: loaded.modes.currentModeId, updates: told().map((each) => each.slice(0, 3)) });
  await agent.request(s.close, { sessionId });
  const resumed = await agent.request(s.resume, { sessionId, cwd: work });
  see({ resumed: resumed.modes.currentModeId, replayed: told().filter((each) => each[0] === "user_message_chunk").length });
  turn = await agent.request(s.prompt, { sessionId, prompt: text("Go on.") });
  see({ wentOn: turn.stopReason });
  see({ deleted: await agent.request(s.delete, { sessionId }) });
  see({ gone: (await agent.request(s.list, {})).sessions.length });
  see({ loadGone: await failure(agent.request(s.load, { sessionId, cwd: work, mcpServers: [] })) });
});
child.stdin.end();
see({ exit: await ended });
for (const line of seen) console.log(JSON.stringify(line));
