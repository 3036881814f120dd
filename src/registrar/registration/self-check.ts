import { lstat } from "node:fs/promises";
import { attempt, errnoOf, messageOf } from "../../base/errors";
import { bareCall } from "../../grpc/client/bare-call";
import { registrationMethods } from "../../grpc/methods";
import type { PluginInfo } from "../../grpc/protos";
import { boundText, boundTexts } from "../../logging/escape";
import { countDescriptors, descriptorLimit } from "../../unix/descriptors";
import { callFileSystem } from "../../unix/file-calls";

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

/** Walks kubelet's own path: whether GetInfo gives `driverName` within `timeoutMs`. `ok` if there are no descriptors for it. */
export async function checkRegistrationSocket(
  socketPath: string,
  driverName: string,
  timeoutMs: number,
): Promise<SelfCheck> {
  const wrong = (text: string) => ({ kind: "wrong", text }) as const;
  try {
    if (!(await callFileSystem(socketPath, () => lstat(socketPath))).isSocket())
      return wrong(`file exists in socketPath ${socketPath} but it's not a socket`);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { kind: "missing", text: "registration socket does not exist" };
    return wrong(`failed to stat the socket ${socketPath} with error: ${messageOf(error)}`);
  }
  try {
    const { name } = await askInfo(socketPath, { timeoutMs });
    return name === driverName ? { kind: "ok" } : wrong(`invalid driver name ${name}`);
  } catch (error) {
    if (descriptorLimit() - countDescriptors() < CHECK_DESCRIPTORS) return { kind: "ok" };
    return wrong(`error getting info from node-registrar socket: ${messageOf(error)}`);
  }
}

/** Calls GetInfo on a registration socket, with the mark by which a registrar of ours tells us from kubelet. */
export async function askInfo(
  socketPath: string,
  limits: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<PluginInfo> {
  const { path, responseDeserialize } = registrationMethods.GetInfo;
  const fields = { [SELF_CHECK_KEY]: "1" };
  const { grpcStatus, details, message } = await bareCall(socketPath, path, { ...limits, fields });
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
