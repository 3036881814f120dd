import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { bareCall } from "../../src/grpc/client/bare-call";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { identityMethods } from "../../src/grpc/methods";
import { callFileSystem } from "../../src/unix/file-calls";
import { connectTo, judgeSocket, tryConnect } from "../../src/unix/unix-socket";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { failLooks } from "../support/failing-looks";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

test.each<[string, (path: string) => unknown, string | undefined]>([
  ["a living socket", startForeignSocket, undefined],
  [
    "a symbolic link to a living socket",
    (path) => {
      symlinkSync("y.sock", path);
      return startForeignSocket(folder.at("y.sock"));
    },
    undefined,
  ],
  ["nothing", () => {}, "ENOENT"],
  ["a dead socket", leaveDeadSocket, "ECONNREFUSED"],
  ["a regular file", (path) => writeFileSync(path, ""), "ENOTSOCK"],
  ["a directory", (path) => mkdirSync(path), "ENOTSOCK"],
])("what is wrong with %s", async (_what, make, code) => {
  const made = await make(folder.at("x.sock"));
  expect((await tryConnect(folder.at("x.sock"))) as { code?: string } | undefined).toEqual(
    code && expect.objectContaining({ code }),
  );
  await (made as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
});

test("a trial ends its connection, and a connection that fails ends nothing else", async () => {
  let ended = 0;
  await using _living = await startForeignSocket(folder.at("x.sock"), (socket) =>
    socket.resume().once("end", () => {
      ended += 1;
    }),
  );
  expect(await tryConnect(folder.at("x.sock"))).toBeUndefined();
  await eventually(() => expect(ended).toBe(1));
  await leaveDeadSocket(folder.at("dead.sock"));
  const socket = await connectTo(folder.at("dead.sock"));
  await new Promise((resolve) => socket.once("close", resolve));
});

test.each([
  ["ENOENT", "gone"],
  ["ETIMEDOUT", "hanging"],
])("a socket at which the second look fails with %s is %s", async (code, found) => {
  await using _living = await startForeignSocket(folder.at("x.sock"));
  using _failing = failLooks(folder.at("x.sock"), code, "stat");
  expect(await judgeSocket(folder.at("x.sock"))).toBe(found);
});

const { GetPluginInfo } = identityMethods;

test.each<[string, (path: string) => Promise<unknown>]>([
  ["a connection", tryConnect],
  ["a call without grpc-js", (path) => bareCall(path, GetPluginInfo.path, { timeoutMs: 60_000 })],
  [
    "a client of grpc-js",
    async (path) => {
      const client = createUnixClient(path);
      return callUnary(client, GetPluginInfo, {}, { timeoutMs: 60_000 }).finally(() => client.close());
    },
  ],
])("%s never dials a socket on a file system that hangs", async (_what, dial) => {
  const path = folder.at("x.sock");
  let connections = 0;
  await using _server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(path);
  const hung = new AbortController();
  const call = callFileSystem(
    path,
    () => new Promise((resolve) => hung.signal.addEventListener("abort", resolve)),
  );
  await expect(call).rejects.toMatchObject({ code: "ETIMEDOUT" });
  const failure = await dial(path).catch((error: unknown) => error);
  expect(String(failure)).toContain(`connect ETIMEDOUT: the file system of ${path} does not answer`);
  expect(connections).toBe(0);
  hung.abort();
});
