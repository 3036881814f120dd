import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { attempt, errnoOf, messageOf } from "../../base/errors";
import { startTimer, stopTimer } from "../../base/pause";
import { type BareConnection, bareCall, connectBare } from "../../grpc/client/bare-call";
import { registrationMethods } from "../../grpc/methods";
import type { PluginInfo } from "../../grpc/protos";
import { boundText, boundTexts } from "../../logging/escape";
import { countDescriptors, descriptorLimit } from "../../unix/descriptors";
import { callFileSystem } from "../../unix/file-calls";
import { isSameSocket } from "../../unix/files";
import type { Publication } from "../../unix/socket-file";

/** Request metadata by which a client of GetInfo says that it is not kubelet. */
export const SELF_CHECK_KEY = "x-registrar-self-check";
/** Response metadata of such a call: a RegistrationReport, encoded by `encodeReport`. */
export const REPORT_KEY = "x-registrar-report";

/** What a registrar of this project tells self-checks about its registration. Programs read the fields, people `reason`. */
export interface RegistrationReport {
  readonly state: string;
  /** Since when it is in this state, in milliseconds since the epoch; NaN if another registrar reports no number. */
  readonly since: number;
  /** Why, in a few words; undefined if the state says it all. */
  readonly reason?: string | undefined;
  /** Kubelet's words, if its latest registration status was a refusal. */
  readonly refusal?: string | undefined;
  /** Kubelet has called GetInfo since the registrar started. */
  readonly hasKubeletCalled: boolean;
  /** The number of other registrars of the driver that stand by. */
  readonly standbys: number;
}

const MAX_REPORT_TEXT_LENGTH = 1_000;

/** A header holds short ASCII only. */
export function encodeReport(report: RegistrationReport): string {
  return Buffer.from(JSON.stringify(boundTexts(report, MAX_REPORT_TEXT_LENGTH))).toString("base64url");
}

/** Undefined for a registrar of another project, such as the official one. */
export function decodeReport(header: string | undefined): RegistrationReport | undefined {
  const report = attempt(() => JSON.parse(Buffer.from(header ?? "", "base64url").toString()) as unknown);
  const { state, since, reason, refusal, hasKubeletCalled, standbys } = Object(report);
  const textOf = (value: unknown) => (typeof value === "string" ? boundText(value) : undefined);
  const known = textOf(state);
  if (known === undefined) return undefined;
  return {
    state: known,
    since: Number(since),
    reason: textOf(reason),
    refusal: textOf(refusal),
    hasKubeletCalled: hasKubeletCalled === true,
    standbys: Number(standbys) || 0,
  };
}

/** How a registration socket was found. The texts are the official registrar's (node_register.go, httpServer). */
export type SelfCheck =
  | { readonly kind: "ok" }
  | { readonly kind: "missing"; readonly text: string }
  /** It is not a socket, does not answer, or answers for another driver. */
  | { readonly kind: "wrong"; readonly text: string };

/** With fewer left, a check that fails proves nothing: it takes two, its connection and the accepted one. */
const CHECK_DESCRIPTORS = 4;

/**
 * Walks kubelet's own path: whether GetInfo gives `driverName` within `timeoutMs`. `ok` if there are no descriptors for it.
 * `ask` calls it; by default on a new connection.
 */
export async function checkRegistrationSocket(
  socketPath: string,
  driverName: string,
  timeoutMs: number,
  ask: (socketPath: string, file: Stats, timeoutMs: number) => Promise<PluginInfo> = (path) =>
    askInfo(path, { timeoutMs }),
): Promise<SelfCheck> {
  const wrong = (text: string) => ({ kind: "wrong", text }) as const;
  let file: Stats;
  try {
    file = await callFileSystem(socketPath, () => lstat(socketPath));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { kind: "missing", text: "registration socket does not exist" };
    return wrong(`failed to stat the socket ${socketPath} with error: ${messageOf(error)}`);
  }
  if (!file.isSocket()) return wrong(`file exists in socketPath ${socketPath} but it's not a socket`);
  try {
    const { name } = await ask(socketPath, file, timeoutMs);
    return name === driverName ? { kind: "ok" } : wrong(`invalid driver name ${name}`);
  } catch (error) {
    if (descriptorLimit() - countDescriptors() < CHECK_DESCRIPTORS) return { kind: "ok" };
    return wrong(`error getting info from node-registrar socket: ${messageOf(error)}`);
  }
}

/** So long after its last check a kept connection is closed: probes come every 10 s by default, some every 20 s. */
const KEEP_MS = 30_000;

/**
 * Makes the `ask` of a registration's own socket. Most of a check is its connection, so that one is kept, and a PING repeats
 * what GetInfo proved over it: while we listen on the file at the path, and it is, unchanged, the one that was connected to.
 * `publicationOf` gives the publication of a file; undefined if we do not listen on it.
 */
export function createKeptAsk(
  publicationOf: (file: Stats) => Publication | undefined,
  { keepMs = KEEP_MS } = {},
) {
  let kept:
    | { readonly connection: BareConnection; readonly file: Stats; readonly info: PluginInfo }
    | undefined;
  let idle: NodeJS.Timeout | undefined;
  const drop = () => {
    stopTimer(idle);
    kept?.connection.close();
    kept = undefined;
  };
  return async (socketPath: string, file: Stats, timeoutMs: number): Promise<PluginInfo> => {
    const until = performance.now() + timeoutMs;
    const ours = publicationOf(file);
    const isSame = kept && isSameSocket(kept.file, file) && kept.file.ctimeMs === file.ctimeMs;
    if (kept && isSame) {
      const { connection, info } = kept;
      idle?.refresh();
      if (await connection.ping(timeoutMs)) return info;
    }
    drop();
    const connection = connectBare(socketPath);
    try {
      const info = await getInfo(connection.call, { timeoutMs: until - performance.now() });
      if (ours && !ours.withdrawn.aborted) {
        drop(); // Of a check that ran beside this one.
        ours.withdrawn.addEventListener("abort", drop, { once: true });
        idle = startTimer(drop, keepMs).unref();
        kept = { connection, file, info };
      }
      return info;
    } finally {
      if (kept?.connection !== connection) connection.close();
    }
  };
}

interface AskLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls GetInfo on a registration socket, with the mark by which a registrar of ours tells us from kubelet. */
export const askInfo = (socketPath: string, limits: AskLimits): Promise<PluginInfo> =>
  getInfo((path, options) => bareCall(socketPath, path, options), limits);

async function getInfo(call: BareConnection["call"], limits: AskLimits): Promise<PluginInfo> {
  const { path, responseDeserialize } = registrationMethods.GetInfo;
  const fields = { [SELF_CHECK_KEY]: "1" };
  const { grpcStatus, details, message } = await call(path, { ...limits, fields });
  if (grpcStatus !== "0") throw new Error(boundText(`status ${grpcStatus}: ${details}`));
  return boundTexts(responseDeserialize(message));
}

const ANSWER_HOLDS_MS = 1_000;

/** Makes a check that runs once at a time and whose answer holds for a second, whatever the number of callers. */
export function createCachedCheck(check: () => Promise<SelfCheck>): () => Promise<SelfCheck> {
  let running: Promise<SelfCheck> | undefined;
  let validUntil = 0;
  return () => {
    if (running === undefined || performance.now() >= validUntil) {
      validUntil = Number.POSITIVE_INFINITY;
      running = check();
      const keep = () => {
        validUntil = performance.now() + ANSWER_HOLDS_MS;
      };
      running.then(keep, keep);
    }
    return running;
  };
}
