import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { httpOf } from "./support/http";
import { nodeTest, registered } from "./support/node";

const ENDPOINT = "--http-endpoint=localhost:0";

nodeTest(
  "/readyz is 503 before and 200 after registration, /healthz and /livez are 200 at once",
  async (node) => {
    const registrar = node.registrar(ENDPOINT);
    const http = await httpOf(registrar);
    for (const path of ["/healthz", "/livez"])
      expect(await http.get(path)).toMatchObject({ status: 200, body: "ok" });
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
  },
);

nodeTest("--health-port serves on all interfaces, with a word on what to use instead", async (node) => {
  const port = await freePort();
  const registrar = node.registrar(`--health-port=${port}`);
  const http = await httpOf(registrar);
  expect(http.port).toBe(port);
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
  expect((await registrar.line("Flag is deprecated")).fields.flag).toBe("--health-port");
});

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
