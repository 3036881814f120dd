import { lstatSync } from "node:fs";
import { errnoOf, messageOf } from "../../errors";
import type { PluginInfo, Protos } from "../../grpc/protos";
import { callUnary, createUnixClient, type UnaryCallOptions } from "../../grpc/unary";
import { SELF_CHECK_KEY } from "./self-check-protocol";

/** What a registration socket is checked for. */
export interface SocketCheckOptions {
  readonly socketPath: string;
  /** The name that GetInfo must answer. */
  readonly driverName: string;
  /** Bounds the call, in milliseconds. */
  readonly timeoutMs: number;
}

/** The outcome of a self-check, as the HTTP status and body by which `/healthz` tells it. */
export interface SelfCheckAnswer {
  readonly status: 200 | 404 | 500;
  readonly body: string;
}

/**
 * Walks kubelet's own path: the registration socket exists, accepts a connection, and GetInfo gives the driver's name.
 * Statuses and the bodies `ok` and `registration socket does not exist` are the official registrar's
 * (node_register.go, httpServer).
 */
export async function checkRegistrationSocket(
  options: SocketCheckOptions,
  protos: Protos,
): Promise<SelfCheckAnswer> {
  const { socketPath, driverName, timeoutMs } = options;
  try {
    if (!lstatSync(socketPath).isSocket())
      return { status: 500, body: `file exists in socketPath ${socketPath} but it's not a socket` };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { status: 404, body: "registration socket does not exist" };
    return { status: 500, body: `failed to stat the socket ${socketPath} with error: ${messageOf(error)}` };
  }
  try {
    const info = await askInfo(socketPath, { timeoutMs }, protos);
    if (info.name === driverName) return { status: 200, body: "ok" };
    return { status: 500, body: `invalid driver name ${info.name}` };
  } catch (error) {
    return { status: 500, body: `error getting info from node-registrar socket: ${messageOf(error)}` };
  }
}

/** What whoever listens on a registration socket says of itself; asked so that a registrar knows we are not kubelet. */
export async function askInfo(
  socketPath: string,
  limits: Pick<UnaryCallOptions, "timeoutMs" | "signal">,
  protos: Protos,
): Promise<PluginInfo> {
  const client = createUnixClient(socketPath);
  try {
    const metadata = { [SELF_CHECK_KEY]: "1" };
    return await callUnary(client, protos.registration.GetInfo, {}, { ...limits, metadata });
  } finally {
    client.close();
  }
}

/** Makes a check that is run once at a time and whose answer holds for `cacheMs`, however many ask. */
export function createCachedCheck(
  check: () => Promise<SelfCheckAnswer>,
  cacheMs = 1_000,
  now: () => number = () => performance.now(),
): () => Promise<SelfCheckAnswer> {
  let running: Promise<SelfCheckAnswer> | undefined;
  let validUntil = 0;
  return () => {
    if (running === undefined || now() >= validUntil) {
      validUntil = Number.POSITIVE_INFINITY;
      running = check();
      const done = () => {
        validUntil = now() + cacheMs;
      };
      running.then(done, done);
    }
    return running;
  };
}
