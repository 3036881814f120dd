import fs from "node:fs";
import {
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { MAX_MESSAGE_BYTES } from "../../../src/grpc/guard/frames";
import { registrationMethods } from "../../../src/grpc/methods";
import {
  checkRegistrationSocket,
  createCachedCheck,
  createKeptAsk,
  type SelfCheck,
} from "../../../src/registrar/registration/self-check";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { PATIENCE_MS } from "../../support/history";
import { createTestNode, startListening } from "../../support/registrar-node";
import { expectNothingLeft } from "../../support/resources";

const node = eachTest(createTestNode);

const name = "x.csi";
const INFO = { type: "CSIPlugin", name, endpoint: "/csi.sock", supportedVersions: ["1.0.0"] };
const ask = createKeptAsk(() => undefined);
const check = (driverName = name, timeoutMs = PATIENCE_MS) =>
  checkRegistrationSocket(node.socketPath(name), driverName, timeoutMs, ask);

test("the self-check gets the driver's name, and does not count as kubelet", async () => {
  await using started = await startListening(node);
  expect(await check()).toEqual({ kind: "ok" });
  expect(await check("y.csi")).toEqual({ kind: "wrong", text: "invalid driver name x.csi" });
  expect(started.registrar.status()).toMatchObject({ state: "listening", counters: { getInfoCalls: 0 } });
  expect(started.log.all("Received GetInfo call")).toEqual([]);
});

const info = (driverName: string) =>
  registrationMethods.GetInfo.responseSerialize({ ...INFO, name: driverName });
const framed = (message: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
const answering = (body: Buffer, trailers: OutgoingHttpHeaders) => (stream: ServerHttp2Stream) => {
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.respond({}, { waitForTrailers: true });
  stream.end(body);
};
const OK = { "grpc-status": "0" };

test.each<[string, (stream: ServerHttp2Stream) => void, RegExp | undefined]>([
  ["this driver", answering(framed(info(name)), OK), undefined],
  ["another driver", answering(framed(info("y.csi")), OK), /^invalid driver name y.csi$/],
  [
    "an error",
    answering(Buffer.alloc(0), { "grpc-status": "14", "grpc-message": "it%20stops" }),
    /: status 14: it stops$/,
  ],
  ["no status", answering(framed(info(name)), {}), /without a status$/],
  ["garbage", answering(framed(Buffer.from([0x12, 200])), OK), /not protobuf$/],
  ["too much", answering(Buffer.alloc(MAX_MESSAGE_BYTES + 6), OK), /more than 4194304 bytes$/],
  ["a reset", (stream) => stream.close(8), /connection ended before the answer$/],
  ["nothing, and hangs up", (stream) => stream.session?.destroy(), /UNAVAILABLE/],
  [
    "half of an answer",
    (stream) => void stream.respond({}),
    /DEADLINE_EXCEEDED: Deadline exceeded after (?:0\.\d+|1)s$/,
  ],
])("another process answers with %s", async (_what, answer, text) => {
  const server = createServer().on("stream", (stream) => answer(stream.on("error", () => {})));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(node.socketPath(name), resolve));
  const failed = { kind: "wrong", text: text && expect.stringMatching(text) };
  const timeoutMs = text?.source.includes("DEADLINE") ? 1_000 : PATIENCE_MS;
  expect(await check(name, timeoutMs)).toEqual(text === undefined ? { kind: "ok" } : failed);
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test("the self-check of a mute socket ends at its limit, and leaves nothing", () =>
  expectNothingLeft(async () => {
    await using _mute = await startForeignSocket(node.socketPath(name));
    expect(await check(name, 50)).toEqual({ kind: "wrong", text: expect.stringMatching(/DEADLINE_EXC/) });
  }));

test("a cached check runs once at a time, and its answer holds for a second from when it came", async () => {
  let nowMs = 0;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const ends: ((answer: SelfCheck) => void)[] = [];
  const ask = createCachedCheck(() => new Promise((resolve) => ends.push(resolve)));
  const first = ask();
  nowMs = 60_000;
  const second = ask();
  expect(ends).toHaveLength(1);
  ends[0]?.({ kind: "ok" });
  expect(await Promise.all([first, second])).toEqual([{ kind: "ok" }, { kind: "ok" }]);
  nowMs = 60_999;
  expect(await ask()).toEqual({ kind: "ok" });
  nowMs = 61_000;
  const next = ask();
  ends[1]?.({ kind: "missing", text: "gone" });
  expect(await next).toEqual({ kind: "missing", text: "gone" });
  jest.restoreAllMocks();
});

test("a cached check passes a failure on, and works afterwards", async () => {
  const check = jest.fn().mockRejectedValueOnce(new Error("broken")).mockResolvedValue({ kind: "ok" });
  const ask = createCachedCheck(check);
  const now = performance.now.bind(performance);
  await expect(ask()).rejects.toThrow("broken");
  jest.spyOn(performance, "now").mockImplementation(() => now() + 1_000);
  expect(await ask()).toEqual({ kind: "ok" });
  jest.restoreAllMocks();
});

test.each([
  [13, "ok"],
  [14, "wrong"],
])("with a limit of %d file descriptors, 10 of them open, a dead socket is %s", async (limit, kind) => {
  await leaveDeadSocket(node.socketPath(name));
  const { readFileSync, readdirSync } = fs;
  const spy = (of: "readFileSync" | "readdirSync", as: (...given: unknown[]) => unknown) =>
    jest.spyOn(fs, of).mockImplementation(as as never);
  spy("readFileSync", (...given) =>
    given[0] === "/proc/self/limits"
      ? `Max open files ${limit} ${limit} files`
      : readFileSync(...(given as [string])),
  );
  spy("readdirSync", (...given) =>
    given[0] === "/proc/self/fd" ? Array(11).fill("") : readdirSync(...(given as [string])),
  );
  expect((await check()).kind).toBe(kind);
});

test("of several drivers the last one that was asked keeps its connection", async () => {
  const ours = { withdrawn: new AbortController().signal } as never;
  const open = new Map<string, number>();
  const serve = async (driverName: string) => {
    const server = createServer();
    server.on("stream", answering(framed(info(driverName)), OK));
    server.on("session", (session: ServerHttp2Session) => {
      open.set(driverName, (open.get(driverName) ?? 0) + 1);
      session.once("close", () => open.set(driverName, (open.get(driverName) ?? 0) - 1));
    });
    await new Promise<void>((resolve) => server.listen(node.socketPath(driverName), resolve));
    const keptAsk = createKeptAsk(() => ours, { keepMs: 1_000 });
    const found = checkRegistrationSocket(node.socketPath(driverName), driverName, PATIENCE_MS, keptAsk);
    expect(await found).toEqual({ kind: "ok" });
    return server;
  };
  const servers = [await serve("a.csi"), await serve("b.csi")];
  await eventually(() => expect([open.get("a.csi"), open.get("b.csi")]).toEqual([0, 1]));
  await eventually(() => expect(open.get("b.csi")).toBe(0));
  for (const server of servers) server.close();
});
