import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { callUnary, createUnixClient } from "../../../src/grpc/client/unary";
import { protos } from "../../../src/grpc/protos";
import { statusCodeOf } from "../../../src/grpc/status";
import { eventually } from "../../support/eventually";
import { createTempFolder } from "../../support/temp-folder";
import { openDescriptors } from "../served-grpc";
import { frame, SETTINGS } from "../wire";

const { GetPluginInfo } = protos.identity;
const EMPTY_SETTINGS = frame(SETTINGS, 0, 0);
const CLIENTS = 10;

test.each<[what: string, behave: (socket: Socket) => void]>([
  ["never speaks", (socket) => socket.resume()],
  ["stops after its first words, and never hangs up", (socket) => socket.pause().write(EMPTY_SETTINGS)],
  ["sends a frame by halves", (socket) => socket.resume().write(EMPTY_SETTINGS.subarray(0, 4))],
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
  const before = openDescriptors();
  const allConnected = new AbortController();
  const calls = Array.from({ length: CLIENTS }, async () => {
    const client = createUnixClient(path);
    const bounds = { timeoutMs: 60_000, signal: allConnected.signal };
    const call = callUnary(client, GetPluginInfo, {}, bounds);
    await expect(call.catch(statusCodeOf)).resolves.toBe(status.CANCELLED);
    client.close();
  });
  await eventually(() => expect(held.size).toBe(CLIENTS));
  allConnected.abort();
  await Promise.all(calls);
  // The server's own ends are this process' too.
  await eventually(() => expect(openDescriptors() - before).toBeLessThanOrEqual(CLIENTS));
  for (const socket of held) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await eventually(() => expect(openDescriptors()).toBeLessThan(before));
});

test("a closed client does not dial again a server that closes each connection", async () => {
  await using folder = await createTempFolder();
  const path = folder.at("x.sock");
  let connections = 0;
  await using _server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).destroy();
  }).listen(path);
  const backoffMs = 400;
  const client = createUnixClient(path, { "grpc.initial_reconnect_backoff_ms": backoffMs });
  const call = callUnary(client, GetPluginInfo, {}, { timeoutMs: 60_000 });
  await expect(call.catch(statusCodeOf)).resolves.toBe(status.UNAVAILABLE);
  client.close();
  await delay(3 * backoffMs); // Shows that nothing happens.
  expect(connections).toBe(1);
});
