import type { Socket } from "node:net";
import { type HttpClient, httpOf } from "../end-to-end/support/http";
import { nodeTest } from "../end-to-end/support/node";
import { descriptorsOf, MUCH_MEMORY_KB, residentKilobytes } from "../end-to-end/support/resources";
import { eventually } from "../support/eventually";
import { connectOften } from "../support/http";

const dial = ({ port }: HttpClient, times: number) => connectOften({ port, host: "127.0.0.1" }, times);

/** What 200 clients send and then leave off: each holds its connection for as long as it is let. */
const HELD = {
  nothing: "",
  halfARequestLine: "GET /hea",
  headersWithoutEnd: "GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: 1\r\n",
  noBody: "POST /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n",
  endlessChunk: "POST /metrics HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\nx",
  unreadAnswers: "GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(50),
};

nodeTest("clients that hold their connections, 200 of each kind, keep no probe out", async (node) => {
  await node.driver();
  await node.kubelet();
  const registrar = node.registrar("--http-endpoint=localhost:0");
  await registrar.reached("registered");
  const http = await httpOf(registrar);
  const before = descriptorsOf(registrar);
  const all: Socket[] = [];
  for (const sent of Object.values(HELD)) {
    const sockets = await dial(http, 200);
    for (const socket of sockets) socket.pause().write(sent);
    all.push(...sockets);
    expect(await http.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
    expect(descriptorsOf(registrar)).toBeLessThan(before + 64 + 10);
  }
  const { fields } = await registrar.line("Too many HTTP connections, closed one");
  expect(fields).toMatchObject({ limit: "64" });
  for (const path of ["/readyz", "/healthz"])
    expect(await http.get(path)).toMatchObject({ status: 200, body: "ok" });
  expect(residentKilobytes(registrar, "VmHWM")).toBeLessThan(MUCH_MEMORY_KB);
  expect(registrar.lines().filter(({ severity }) => severity !== "I").length).toBeLessThan(4);
  for (const socket of all) socket.destroy();
  await eventually(() => expect(descriptorsOf(registrar)).toBeLessThan(before + 10));
});

nodeTest("profiles are taken one at a time, however many ask and do not read them", async (node) => {
  const registrar = await node.published("--http-endpoint=localhost:0", "--enable-pprof");
  const http = await httpOf(registrar);
  const [slow] = await dial(http, 1);
  slow?.pause().write("GET /debug/pprof/heap HTTP/1.1\r\nhost: x\r\n\r\n");
  const others = await Promise.all([1, 2, 3, 4].map(() => http.get("/debug/pprof/heap")));
  expect(others.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  slow?.destroy();
  await eventually(async () => expect((await http.get("/debug/pprof/heap")).status).toBe(200));
});
