import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { startGrpcAcceptor } from "../grpc/acceptor";
import { protos } from "../grpc/protos";
import { callUnary, createUnixClient } from "../grpc/unary";
import { unaryHandler } from "../grpc/unary-handler";
import { silentLogger } from "../logging/logger";
import type { Registrations } from "../registrar/registrations";

/** By then a driver that was there before us has answered. */
const WAITING_AFTER_MS = 400;

/**
 * Warms up, once, if no driver has answered soon after the start: what Node runs for the first time runs slowly, and
 * then the socket of a driver that comes is published twice as soon. A failure does not matter: there are no abstract
 * sockets on macOS, for one.
 */
export function warmUpWhileWaiting(registrations: Registrations, warm: () => Promise<void> = warmUp): void {
  setTimeout(() => {
    if (registrations.all.every(({ status }) => status().identity === undefined)) warm().catch(() => {});
  }, WAITING_AFTER_MS).unref();
}

/** Asks a stand-in for the CSI driver for its name, over an abstract socket, which leaves nothing in the file system. */
export async function warmUp(): Promise<void> {
  const { GetPluginInfo } = protos.identity;
  const answer = { name: "warm-up", vendorVersion: "", manifest: {} };
  await using acceptor = startGrpcAcceptor({
    log: silentLogger,
    addServices: (server) =>
      server.addService({ GetPluginInfo }, { GetPluginInfo: unaryHandler<object, object>(() => answer) }),
  });
  const path = `\0registrar-${randomUUID()}`;
  const listener = createServer(acceptor.accept).listen({ path });
  const client = createUnixClient(path);
  try {
    await once(listener, "listening");
    await callUnary(client, GetPluginInfo, {}, { timeoutMs: 10_000 });
  } finally {
    client.close();
    listener.close();
  }
}
