import { attempt, refuse } from "../../base/errors";
import { type BareConnection, bareCall } from "../../grpc/client/bare-call";
import { registrationMethods } from "../../grpc/methods";
import { boundText, boundTexts } from "../../logging/escape";

/** Request metadata by which a client of GetInfo says that it is not kubelet. */
export const SELF_CHECK_KEY = "x-registrar-self-check";
/** Response metadata of such a call: a RegistrationReport, encoded by `encodeReport`. */
export const REPORT_KEY = "x-registrar-report";

/** What a registrar of this project tells self-checks about its registration. Programs read the fields, people `reason`. */
export interface RegistrationReport {
  readonly state: string;
  /** When it came into this state, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  /** Why, in a few words; undefined if the state says it all. */
  readonly reason?: string | undefined;
  /** Kubelet's words, if its latest registration status was a refusal. */
  readonly kubeletError?: string | undefined;
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

const FIELDS = {
  ...{ state: ["string"], changedAtMs: ["number"], hasKubeletCalled: ["boolean"], standbys: ["number"] },
  ...{ reason: ["string", "undefined"], kubeletError: ["string", "undefined"] },
} as const satisfies Record<keyof RegistrationReport, readonly string[]>;

/** Undefined for a registrar of another project, such as the official one. Throws INVALID_OPTION if it is not a report. */
export function decodeReport(header: string | undefined): RegistrationReport | undefined {
  if (header === undefined) return undefined;
  const read = Object(attempt(() => JSON.parse(Buffer.from(header, "base64url").toString()) as unknown));
  for (const [name, types] of Object.entries<readonly string[]>(FIELDS))
    if (!types.includes(typeof read[name])) refuse(`its registrar's report has no ${name} that can be read`);
  return boundTexts(
    Object.fromEntries(Object.keys(FIELDS).map((name) => [name, read[name]])),
  ) as RegistrationReport;
}

interface AskLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls GetInfo on a registration socket, with the mark by which a registrar of ours tells us from kubelet. */
export const askInfo = (socketPath: string, limits: AskLimits) =>
  getInfo((path, options) => bareCall(socketPath, path, options), limits);

/** The same by `call`. `report` is undefined for a registrar of another project, and for a report that cannot be read. */
export async function getInfo(call: BareConnection["call"], limits: AskLimits) {
  const { path, responseDeserialize } = registrationMethods.GetInfo;
  const fields = { [SELF_CHECK_KEY]: "1" };
  const { headers, grpcStatus, details, message } = await call(path, { ...limits, fields });
  if (grpcStatus !== "0") throw new Error(boundText(`status ${grpcStatus}: ${details}`));
  const report = attempt(() => decodeReport(headers[REPORT_KEY]?.toString()));
  return { ...boundTexts(responseDeserialize(message)), report };
}
