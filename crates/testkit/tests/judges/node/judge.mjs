// Plays scenarios with one official SDK and prints, a JSON line each, what the SDK saw.
//
// The scenarios come as a JSON list on standard input, the SDK's name as the argument. Nothing is judged here.
// The SDKs are installed elsewhere; the second argument says where.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [sdk, installed] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${installed}/package.json`));
const { play } = (await import(`./sdk-${sdk}.mjs`)).default(require);

// Class names, the error's own first.
function ancestors(error) {
  const names = [];
  for (let kind = error?.constructor; kind?.name; kind = Object.getPrototypeOf(kind)) names.push(kind.name);
  return names;
}

function raised(error) {
  return {
    class: error?.constructor?.name ?? typeof error,
    ancestors: ancestors(error),
    status: error?.status ?? null,
    message: String(error?.message ?? error),
    retry_after: error?.headers?.get?.("retry-after") ?? null,
  };
}

for (const scenario of JSON.parse(readFileSync(0, "utf8"))) {
  const line = { name: scenario.name };
  try {
    line.saw = await play(scenario);
  } catch (error) {
    line.raised = raised(error);
  }
  console.log(JSON.stringify(line));
}
