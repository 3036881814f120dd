import { connect } from "node:net";
import { CLIENT_PREFACE } from "../../src/grpc/http2/frames";
import { httpOf } from "./support/http";
import { onNode, registered } from "./support/node";

/** What the registrar says of a long wait; side by side, as these take as long as a user would wait. */
const LONG_MS = 60_000;

test.concurrent(
  "a driver that does not come: a line after 10 s and 20 s, and a liveness probe lets us wait",
  onNode(async (node) => {
    const registrar = node.registrar("--http-endpoint=localhost:0");
    const http = await httpOf(registrar);
    const line = await registrar.line("Still connecting");
    expect(line.fields).toMatchObject({
      address: `unix://${node.csiAddress}`,
      waited: expect.stringMatching(/^1\ds$/),
    });
    expect(line.fields.lastError).toContain("ENOENT");
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect(await http.get("/livez")).toMatchObject({ status: 200 });
    expect(await http.get("/readyz")).toMatchObject({ status: 503 });
    expect((await registrar.line(line.message, { nth: 2 })).fields.waited).toMatch(/^2\ds$/);
  }),
  LONG_MS,
);

test.concurrent(
  "a kubelet that does not call: a warning after 30 s says what to check; registered once it calls",
  onNode(async (node) => {
    await node.driver();
    const registrar = node.registrar("--http-endpoint=localhost:0");
    const warning = await registrar.line("Kubelet has not called");
    expect(warning.severity).toBe("W");
    expect(warning.fields).toMatchObject({ waited: "30s", socketPath: node.socketPath });
    for (const hint of [node.pluginDir, "/var/snap/microk8s", "/var/lib/k0s", "SELinux"])
      expect(warning.fields.check).toContain(hint);
    const http = await httpOf(registrar);
    expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect(await http.get("/readyz")).toMatchObject({ status: 503 });
    await registered(await node.kubelet());
  }),
  LONG_MS,
);

test.concurrent(
  "a kubelet that connects and does not call: the warning says so",
  onNode(async (node) => {
    await node.driver();
    const registrar = node.registrar();
    await registrar.reached("listening");
    connect({ path: node.socketPath })
      .on("error", () => {})
      .end(CLIENT_PREFACE);
    const warning = await registrar.line("Kubelet has not called");
    expect(warning.fields.check).toContain("something connected and left before any call");
  }),
  LONG_MS,
);

test.concurrent(
  "something that does not speak HTTP/2: the warning says so",
  onNode(async (node) => {
    await node.driver();
    const registrar = node.registrar();
    await registrar.reached("listening");
    connect({ path: node.socketPath })
      .on("error", () => {})
      .end("GET / HTTP/1.1\r\n\r\n");
    const warning = await registrar.line("Kubelet has not called");
    expect(warning.fields.check).toContain("breach of HTTP/2");
  }),
  LONG_MS,
);
