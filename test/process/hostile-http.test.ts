import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
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
  [
    "a chunk that never ends",
    "POST /metrics HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\nx",
  ],
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

/** What is sent whole, and how the answer begins, if there is one. The parser's own tests have more. */
const BREAKS_RULES: readonly (readonly [what: string, sent: string, answer: RegExp])[] = [
  ["garbage", "\xff\xfe\x00\x01".repeat(1_000), /^$/],
  ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", /^$/],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a header of a megabyte", `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(1_000_000)}\r\n\r\n`, /^$/],
  ["a tunnel", "CONNECT a:443 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", /^HTTP\/1\.1 404 /],
];

/** Paths that lead nowhere but where they say, whatever they look like. */
const ODD_PATHS = [
  "//healthz",
  "/../healthz",
  "/%68ealthz",
  "/..%2f..%2fetc/passwd",
  "/__proto__",
  "/debug/pprof/",
];

nodeTest("what breaks the rules is cut off or answered, and nothing else happens", async (node) => {
  const { registrar, http } = await serve(node);
  for (const [what, sent, answer] of BREAKS_RULES) {
    const socket = await dial(http);
    const said = text(socket).catch(() => "");
    socket.write(sent, "latin1");
    expect([what, (await said).slice(0, 200)]).toEqual([what, expect.stringMatching(answer)]);
  }
  for (const path of ODD_PATHS) expect([path, (await http.get(path)).status]).toEqual([path, 404]);
  const { status, body } = await http.get("/readyz?exclude=%1b[2J%0aforged");
  expect([status, body.includes("\u001b"), /^forged/m.test(body)]).toEqual([200, false, false]);
  await expectUnharmed(registrar, http);
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
