import { once } from "node:events";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { startFakeRegistrar } from "../simulator/fake-registrar";
import { eventually } from "../support/eventually";
import { removeFolder } from "../support/remove-folder";
import { httpOf } from "./support/http";
import { DRIVER, nodeTest, onNode, registered } from "./support/node";

const ENDPOINT = "--http-endpoint=localhost:0";

nodeTest("/healthz is 200 from the first moment on, and while kubelet is away", async (node) => {
  const registrar = node.registrar(ENDPOINT);
  const http = await httpOf(registrar);
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
  await node.driver();
  await registrar.reached("listening");
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
});

nodeTest("/healthz is 404 while the socket is gone, and 200 when it is back", async (node) => {
  await node.driver();
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("listening");
  removeFolder(node.pluginDir);
  await registrar.line("Failed to listen on socket");
  const http = await httpOf(registrar);
  const { status, body } = await http.get("/healthz");
  expect([status, body]).toEqual([404, "registration socket does not exist"]);
  mkdirSync(node.pluginDir);
  await registrar.reached("listening", 2);
  await eventually(async () => expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" }));
});

nodeTest("/healthz is 500 while something else stands in the socket's place", async (node) => {
  await node.driver();
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("listening");
  writeFileSync(`${node.pluginDir}/.mine`, "");
  renameSync(`${node.pluginDir}/.mine`, node.socketPath);
  await registrar.line("Failed to listen on socket");
  const http = await httpOf(registrar);
  const { status, body } = await http.get("/healthz");
  expect([status, body]).toEqual([500, `file exists in socketPath ${node.socketPath} but it's not a socket`]);
});

nodeTest("/readyz is 503 before and 200 after registration", async (node) => {
  const registrar = node.registrar(ENDPOINT);
  const http = await httpOf(registrar);
  expect(await http.get("/readyz")).toMatchObject({
    status: 503,
    body: [
      "[-]driver failed: the CSI driver has not answered yet",
      "[-]socket failed: there is no registration socket yet",
      "[-]registered failed: state is waiting: the CSI driver has not told its name",
      "readyz check failed",
      "",
    ].join("\n"),
  });
  await node.driver();
  await registrar.reached("listening");
  expect(await http.get("/readyz?exclude=registered")).toMatchObject({ status: 200, body: "ok" });
  expect(await http.get("/readyz")).toMatchObject({
    status: 503,
    body: expect.stringMatching(
      /^\[\+\]driver ok\n\[\+\]socket ok\n\[-\]registered failed: state is listening since \S+Z: kubelet has not called\nreadyz check failed\n$/,
    ),
  });
  await node.kubelet();
  await registrar.reached("registered");
  expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
  expect(await http.get("/readyz?verbose")).toMatchObject({
    status: 200,
    body: "[+]driver ok\n[+]socket ok\n[+]registered ok\nreadyz check passed\n",
  });
  expect((await http.get("/readyz?verbose&exclude=socket&exclude=driver")).body).toContain(
    "[+]driver excluded: ok\n[+]socket excluded: ok\n[+]registered ok\n",
  );
  expect((await http.get("/readyz?verbose&exclude=nope")).body).toContain("no matches for nope");
});

nodeTest("/livez is 200 whatever is away", async (node) => {
  const http = await httpOf(node.registrar(ENDPOINT));
  expect(await http.get("/livez")).toMatchObject({ status: 200, body: "ok" });
  expect(await http.get("/livez?verbose")).toMatchObject({ body: "[+]ping ok\nlivez check passed\n" });
});

nodeTest("HEAD answers without a body, other methods are refused, other paths unknown", async (node) => {
  const http = await httpOf(node.registrar(ENDPOINT));
  const head = await http.get("/livez", { method: "HEAD" });
  expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, "", "2"]);
  expect((await http.get("/readyz", { method: "HEAD" })).status).toBe(503);
  const posted = await http.get("/readyz", { method: "POST" });
  expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
  expect((await http.get("/nope")).status).toBe(404);
  expect((await http.get("/debug/pprof/")).status).toBe(404);
});

nodeTest("not ready while another registrar holds the registration", async (node) => {
  await node.driver();
  const registrar = node.registrar(ENDPOINT);
  await registrar.reached("listening");
  const info = { name: DRIVER, endpoint: node.csiAddress };
  const other = await startFakeRegistrar({ socketPath: node.socketPath, info });
  await registrar.reached("standby");
  const http = await httpOf(registrar);
  const { status, body } = await http.get("/readyz");
  expect([status, body]).toEqual([503, expect.stringContaining("[-]registered failed: state is standby")]);
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
  await other.close();
});

nodeTest("--health-port serves on all interfaces, with a word on what to use instead", async (node) => {
  const port = await freePort();
  const registrar = node.registrar(`--health-port=${port}`);
  const http = await httpOf(registrar);
  expect(http.port).toBe(port);
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
  expect((await registrar.line("Flag is deprecated")).fields.flag).toBe("--health-port");
});

test.each([":0", "0.0.0.0:0", "127.0.0.1:0", ":"])(
  "--http-endpoint=%s is reached over IPv4",
  onNode(async (node, endpoint) => {
    const http = await httpOf(node.registrar(`--http-endpoint=${endpoint}`));
    expect(await http.get("/healthz")).toMatchObject({ status: 200 });
  }),
);

nodeTest("a busy port is warned of and tried again; registration goes on meanwhile", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const occupant = createServer().listen(0, "127.0.0.1");
  await once(occupant, "listening");
  const { port } = occupant.address() as AddressInfo;
  const registrar = node.registrar(`--http-endpoint=localhost:${port}`);
  const { severity, fields } = await registrar.line("HTTP server cannot listen, trying again");
  expect([severity, fields.err]).toEqual(["W", expect.stringContaining("EADDRINUSE")]);
  await registered(kubelet);
  occupant.close();
  expect(await (await httpOf(registrar)).get("/readyz")).toMatchObject({ status: 200 });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
