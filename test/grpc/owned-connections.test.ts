import { readdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { status } from "@grpc/grpc-js";
import { loadProtos } from "../../src/grpc/protos";
import { callUnary, createUnixClient, statusCodeOf } from "../../src/grpc/unary";
import { eventually } from "../support/eventually";
import { createTempFolder } from "../support/temp-folder";

const { GetPluginInfo } = loadProtos().identity;
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const CLIENTS = 10;
/** All of them at once, on a machine with other work. */
const LONG_ENOUGH_TO_CONNECT_MS = 1_500;

const descriptors = () => readdirSync("/proc/self/fd").length;

test.each<[what: string, behave: (socket: Socket) => void]>([
  ["never speaks", (socket) => socket.resume()],
  ["stops after its first words, and never hangs up", (socket) => socket.pause().write(SETTINGS)],
  ["sends a frame by halves", (socket) => socket.resume().write(SETTINGS.subarray(0, 4))],
])("closed clients leave nothing behind at a server that %s", async (_what, behave) => {
  await using folder = await createTempFolder();
  const path = folder.at("x.sock");
  const held = new Set<Socket>();
  // As one that hangs: it does not even close what its client has ended.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    held.add(socket.on("error", () => {}));
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const before = descriptors();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = createUnixClient(path);
      const call = callUnary(client, GetPluginInfo, {}, { timeoutMs: LONG_ENOUGH_TO_CONNECT_MS });
      await expect(call.catch(statusCodeOf)).resolves.toBe(status.DEADLINE_EXCEEDED);
      client.close();
    }),
  );
  // The server's own ends are this process' too.
  expect(held.size).toBe(CLIENTS);
  await eventually(() => expect(descriptors() - before).toBeLessThanOrEqual(CLIENTS));
  for (const socket of held) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await eventually(() => expect(descriptors()).toBeLessThan(before));
});
