import { lstatSync } from "node:fs";
import { errnoOf, messageOf } from "../../base/errors";
import { callUnary, createUnixClient, type UnaryCallOptions } from "../../grpc/client/unary";
import { type PluginInfo, protos } from "../../grpc/protos";

/** Request metadata by which a client of GetInfo says that it is not kubelet. */
export const SELF_CHECK_KEY = "x-registrar-self-check";
/** Response metadata of such a call: the state, since when (milliseconds since the epoch), and, URI-encoded, the rest. */
export const STATE_KEY = "x-registrar-state";
export const SINCE_KEY = "x-registrar-since";
export const REASON_KEY = "x-registrar-reason";
export const ENDPOINT_KEY = "x-registrar-endpoint";

/** How a registration socket was found. The texts are the official registrar's (node_register.go, httpServer). */
export type SelfCheck =
  | { readonly kind: "ok" }
  /** There is no file at its path. */
  | { readonly kind: "missing"; readonly text: string }
  /** It is not a socket, does not answer, or answers for another driver. */
  | { readonly kind: "wrong"; readonly text: string };

/**
 * Walks kubelet's own path: the registration socket exists, accepts a connection, and GetInfo gives `driverName` within
 * `timeoutMs` milliseconds.
 */
export async function checkRegistrationSocket(
  socketPath: string,
  driverName: string,
  timeoutMs: number,
): Promise<SelfCheck> {
  const wrong = (text: string) => ({ kind: "wrong", text }) as const;
  try {
    if (!lstatSync(socketPath).isSocket())
      return wrong(`file exists in socketPath ${socketPath} but it's not a socket`);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { kind: "missing", text: "registration socket does not exist" };
    return wrong(`failed to stat the socket ${socketPath} with error: ${messageOf(error)}`);
  }
  try {
    const { name } = await askInfo(socketPath, { timeoutMs });
    return name === driverName ? { kind: "ok" } : wrong(`invalid driver name ${name}`);
  } catch (error) {
    return wrong(`error getting info from node-registrar socket: ${messageOf(error)}`);
  }
}

/** Calls GetInfo on a registration socket, with the mark by which a registrar of ours tells us from kubelet. */
export async function askInfo(
  socketPath: string,
  limits: Pick<UnaryCallOptions, "timeoutMs" | "signal">,
): Promise<PluginInfo> {
  const client = createUnixClient(socketPath);
  try {
    const metadata = { [SELF_CHECK_KEY]: "1" };
    return await callUnary(client, protos.registration.GetInfo, {}, { ...limits, metadata });
  } finally {
    client.close();
  }
}

/** Makes a check that runs once at a time and whose answer holds for `cacheMs`, whatever the number of callers. */
export function createCachedCheck(
  check: () => Promise<SelfCheck>,
  cacheMs = 1_000,
  now: () => number = () => performance.now(),
): () => Promise<SelfCheck> {
  let running: Promise<SelfCheck> | undefined;
  let validUntil = 0;
  return () => {
    if (running === undefined || now() >= validUntil) {
      validUntil = Number.POSITIVE_INFINITY;
      running = check();
      const keep = () => {
        validUntil = now() + cacheMs;
      };
      running.then(keep, keep);
    }
    return running;
  };
}
