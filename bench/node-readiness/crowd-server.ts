import { createServer } from "node:https";

// An API server for a crowd: any Node's object and a watch that says nothing. It prints when requests came. A process
// of its own, so that it can be killed with all its connections.

const [, , port = "0", certificate = "", key = "", crowd = "1"] = process.argv;
const node = (name: string) => ({
  kind: "Node",
  apiVersion: "v1",
  metadata: { name, uid: name, resourceVersion: "10" },
  spec: {},
  status: {},
});
let watches = 0;
/** By hundredths of the crowd. */
const reached: number[] = [];
/** By tenth of a second since the start. */
const arrivals = new Map<number, number>();
const startedAt = Date.now();

const server = createServer(
  { key: Buffer.from(key, "base64"), cert: Buffer.from(certificate, "base64") },
  (request, response) => {
    const tenth = Math.floor((Date.now() - startedAt) / 100);
    arrivals.set(tenth, (arrivals.get(tenth) ?? 0) + 1);
    response.writeHead(200, { "content-type": "application/json" });
    const url = request.url ?? "/";
    if (!url.includes("watch=true"))
      return void response.end(JSON.stringify(node(url.split("/").at(-1) ?? "")));
    response.flushHeaders();
    watches += 1;
    for (let share = reached.length; watches >= (Number(crowd) * share) / 100; share += 1)
      reached[share] = (Date.now() - startedAt) / 1000;
    response.once("close", () => {
      watches -= 1;
    });
  },
);
server.listen(Number(port), "127.0.0.1", 4096, () => {
  const address = server.address();
  process.send?.({ kind: "listening", port: typeof address === "object" ? address?.port : 0 });
});
setInterval(() => process.send?.({ kind: "counts", watches, arrivals: [...arrivals], reached }), 100);
