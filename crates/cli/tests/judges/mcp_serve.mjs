// The official MCP SDK for TypeScript as a client of `rail mcp serve`. Prints what it saw, one JSON object a line.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [rail, work, folder, where, mark, ...flags] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(`${folder}/node_modules/@modelcontextprotocol/sdk/dist/esm/${file}`));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { ElicitRequestSchema } = await sdk("types.js");

function transport() {
  if (where !== "stdio") return new StreamableHTTPClientTransport(new URL(where));
  return new StdioClientTransport({ command: rail, args: ["mcp", "serve", ...flags], env: process.env, cwd: work });
}

async function connected(capabilities, prepare, use) {
  const client = new Client({ name: "judge", version: "1" }, { capabilities });
  prepare(client);
  const way = transport();
  await client.connect(way);
  await use(client, way);
  if (where !== "stdio") await way.terminateSession();
  await client.close();
}

const tell = (seen) => console.log(JSON.stringify(seen));
const at = (name) => path.join(work, name);
const call = (client, name, given, options) => client.callTool({ name, arguments: given }, undefined, options);
const told = (result) => ({
  error: Boolean(result.isError),
  text: result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n"),
});

function runs(words) {
  for (const entry of fs.readdirSync("/proc")) {
    try {
      if (fs.readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ").includes(words)) return true;
    } catch {}
  }
  return false;
}

async function progress(client) {
  const seen = [];
  const onprogress = ({ message }) => {
    seen.push(message);
    fs.writeFileSync(at("go"), "");
  };
  const command = "echo begun; until [ -e go ]; do sleep 0.05; done; echo over";
  const result = await call(client, "bash", { command }, { onprogress });
  tell({ progress: seen[0], result: told(result).text.split("\n").slice(0, 2) });
}

async function cancel(client) {
  const taken = new AbortController();
  const onprogress = () => {
    tell({ before: runs(`sleep 86401${mark}`) });
    taken.abort("not wanted any more");
  };
  let cancelled = false;
  try {
    await call(client, "bash", { command: `echo begun; sleep 86401${mark}` }, { onprogress, signal: taken.signal });
  } catch {
    cancelled = taken.signal.aborted;
  }
  // What changes something runs alone: when this has run, the other has ended.
  const after = await call(client, "bash", { command: "echo after" });
  tell({ cancelled, after: told(after).text.split("\n")[0], runs: runs(`sleep 86401${mark}`) });
}

await connected({}, () => {}, async (client) => {
  tell({ server: client.getServerVersion().name });
  const tools = Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  tell({ tools: Object.keys(tools).sort() });
  const hints = Object.fromEntries(["bash", "read_file"].map((name) => [name, [tools[name].annotations.readOnlyHint, tools[name].annotations.destructiveHint]]));
  tell({ hints, described: tools.bash.description.length > 300, required: tools.read_file.inputSchema.required });
  tell({ read: told(await call(client, "read_file", { file_path: at("a.txt") })) });
  tell({ refused: told(await call(client, "write_file", { file_path: at("b.txt"), content: "b" })) });
  tell({ allowed: told(await call(client, "write_file", { file_path: at("open/c.txt"), content: "c" })) });
  const image = (await call(client, "read_file", { file_path: at("dot.png") })).content;
  tell({ image: image.filter((block) => block.type === "image").map((block) => [block.mimeType, Buffer.from(block.data, "base64").toString("latin1").slice(1, 4)]) });
  try {
    await call(client, "nonsense", {});
  } catch (error) {
    tell({ unknown: [error.code, error.message.includes("there is no tool `nonsense`")] });
  }
  tell({ bad: told(await call(client, "read_file", { lines: 3 })) });
  const ten = Array.from({ length: 10 }, (_, n) => call(client, "read_file", { file_path: at(`many/${n}.txt`) }));
  tell({ ten: (await Promise.all(ten)).map((result) => told(result).text.split("\n")[0]) });
  await progress(client);
  await cancel(client);
  const background = await call(client, "bash", { command: `sleep 86402${mark}`, run_in_background: true });
  tell({ background: Boolean(background.isError), runs: runs(`sleep 86402${mark}`) });
});

const asked = [];
const answers = [];
const prepare = (client) =>
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push({ message: params.message, choices: params.requestedSchema.properties.answer.enum });
    return answers.shift();
  });
await connected({ elicitation: {} }, prepare, async (client) => {
  const write = async (name, said) => {
    answers.push(said);
    return told(await call(client, "write_file", { file_path: at(name), content: `the text of ${name}\n` }));
  };
  tell({ once: await write("once.txt", { action: "accept", content: { answer: "Allow once" } }) });
  tell({ no: await write("no.txt", { action: "accept", content: { answer: "No", reason: "not that one" } }) });
  tell({ declined: await write("declined.txt", { action: "decline" }) });
  tell({ asked: asked[0], questions: asked.length });
  answers.push({ action: "accept", content: { answer: "Allow for this session: Bash(mkdir:*)" } });
  for (const name of ["one", "two"]) {
    tell({ session: told(await call(client, "bash", { command: `mkdir ${name}` })).error, questions: asked.length });
  }
});
