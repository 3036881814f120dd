import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type HttpClient, httpOf } from "../end-to-end/support/http";
import { nodeTest, type TestNode } from "../end-to-end/support/node";
import type { CliProcess } from "../end-to-end/support/process";
import { descriptorsOf, MUCH_MEMORY_KB, residentKilobytes } from "../end-to-end/support/resources";
import { eventually } from "../support/eventually";

const PROBE = "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n";

async function serve(node: TestNode, ...flags: readonly string[]) {
  await node.driver();
  await node.kubelet();
  const registrar = node.registrar("--http-endpoint=localhost:0", ...flags);
  await registrar.reached("registered");
  return { registrar, http: await httpOf(registrar) };
}

async function dial({ port }: HttpClient): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" }).on("error", () => {});
  await once(socket, "connect");
  return socket;
}

const dialTimes = (times: number, http: HttpClient) =>
  Promise.all(Array.from({ length: times }, () => dial(http)));

/** Whatever was done to it: it answers, has not grown, and has said little. */
async function expectUnharmed(registrar: CliProcess, http: HttpClient): Promise<void> {
  expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
  expect(await http.get("/healthz")).toMatchObject({ status: 200, body: "ok" });
  expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
  expect(registrar.lines().filter(({ severity }) => severity !== "I").length).toBeLessThan(4);
}

/** What 200 clients send and then leave off: each holds its connection for as long as it is let. */
const HOLDS_ON: readonly (readonly [what: string, sent: string])[] = [
  ["nothing", ""],
  ["half a request line", "GET /hea"],
  ["headers without an end", "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: 1\r\n"],
  ["a body that never comes", "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"],
  ["an endless chunk", "POST /metrics HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\nx"],
  ["a request, and read no answer", PROBE.repeat(50)],
];

nodeTest("clients that hold their connections, 200 of each kind, keep no probe out", async (node) => {
  const { registrar, http } = await serve(node);
  const before = descriptorsOf(registrar);
  const all: Socket[] = [];
  for (const [, sent] of HOLDS_ON) {
    const sockets = await dialTimes(200, http);
    for (const socket of sockets) socket.pause().write(sent);
    all.push(...sockets);
    expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
    expect(descriptorsOf(registrar)).toBeLessThan(before + 64 + 10);
  }
  expect((await registrar.line("Too many HTTP connections, closed one")).fields).toMatchObject({
    limit: "64",
  });
  await expectUnharmed(registrar, http);
  for (const socket of all) socket.destroy();
  await eventually(() => expect(descriptorsOf(registrar)).toBeLessThan(before + 10));
});

nodeTest("profiles are taken one at a time, however many ask and do not read them", async (node) => {
  const { registrar, http } = await serve(node, "--enable-pprof");
  const slow = await dialTimes(1, http);
  for (const socket of slow) socket.pause().write("GET /debug/pprof/heap HTTP/1.1\r\nhost: x\r\n\r\n");
  const others = await Promise.all([1, 2, 3, 4].map(() => http.get("/debug/pprof/heap")));
  expect(others.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  for (const socket of slow) socket.destroy();
  await eventually(async () => expect((await http.get("/debug/pprof/heap")).status).toBe(200));
  expect(await http.get("/readyz")).toMatchObject({ status: 200 });
  expect(registrar.lines().filter(({ severity }) => severity === "E")).toEqual([]);
});
