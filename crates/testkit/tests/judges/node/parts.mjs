// Collects the parts of an answer; pieces of the same kind in a row become one part.
export class Parts {
  list = [];

  add(kind, piece) {
    const last = this.list.at(-1);
    if (last && kind in last) last[kind] += piece;
    else this.list.push({ [kind]: piece });
  }

  sign(signature) {
    this.list.at(-1).signature = signature;
  }

  call(name, args, id) {
    this.list.push({ call: name, id, arguments: args });
  }
}

// What a gateway says of an answer beside it.
export function told(headers) {
  const names = ["x-request-id", "request-id", "x-switchrail-target", "x-switchrail-losses"];
  return { headers: Object.fromEntries(names.map((name) => [name, headers.get(name) ?? null])) };
}

export function assert(holds, said) {
  if (!holds) throw new Error(`assertion: ${typeof said === "string" ? said : JSON.stringify(said)}`);
}

// The Python SDKs take fields that they do not know apart from the others; the Node SDKs do not.
export function body({ extra_body, ...known }) {
  return { ...known, ...extra_body };
}
