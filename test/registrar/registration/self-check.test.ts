import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import {
  checkRegistrationSocket,
  createCachedCheck,
  type SelfCheck,
} from "../../../src/registrar/registration/self-check";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { PATIENCE_MS } from "../../support/history";
import { createTestNode, startListening, type TestNode } from "../../support/registrar-node";
import { expectNothingLeft } from "../../support/resources";

let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const name = "x.csi";
const check = (driverName = name, timeoutMs = PATIENCE_MS) =>
  checkRegistrationSocket(node.socketPath(name), driverName, timeoutMs);

test("a registrar at work answers with its driver's name, and does not take the check for kubelet", async () => {
  await using started = await startListening(node);
  expect(await check()).toEqual({ kind: "ok" });
  expect(await check("y.csi")).toEqual({ kind: "wrong", text: "invalid driver name x.csi" });
  expect(started.registrar.status()).toMatchObject({ state: "listening", tally: { getInfoCalls: 0 } });
  expect(started.log.all("Received GetInfo call")).toEqual([]);
});

test.each<[string, (path: string) => void | Promise<void>, SelfCheck["kind"], RegExp]>([
  ["nothing", () => {}, "missing", /^registration socket does not exist$/],
  ["a regular file", (path) => writeFileSync(path, ""), "wrong", /^file exists in socketPath .+ but .*not a/],
  ["a folder", (path) => mkdirSync(path), "wrong", /but it's not a socket$/],
  ["a dead socket", leaveDeadSocket, "wrong", /^error getting info from node-registrar socket: /],
  [
    "a file in the folder's place",
    () => {
      rmSync(node.pluginRegistrationPath, { recursive: true });
      writeFileSync(node.pluginRegistrationPath, "");
    },
    "wrong",
    /^failed to stat the socket .+ with error: ENOTDIR/,
  ],
])("says that there is %s", async (_what, make, kind, text) => {
  await make(node.socketPath(name));
  expect(await check()).toEqual({ kind, text: expect.stringMatching(text) });
});

test("does not wait longer than it may for who does not answer, and leaves nothing", () =>
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

test("the failure of a cached check is handed on, and does not end it", async () => {
  const check = jest.fn().mockRejectedValueOnce(new Error("broken")).mockResolvedValue({ kind: "ok" });
  const ask = createCachedCheck(check);
  const now = performance.now.bind(performance);
  await expect(ask()).rejects.toThrow("broken");
  jest.spyOn(performance, "now").mockImplementation(() => now() + 1_000);
  expect(await ask()).toEqual({ kind: "ok" });
  jest.restoreAllMocks();
});
