import { readdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors";
import { bareCall } from "../../grpc/bare-call";
import { parseCsiAddress } from "../../registrar/driver/csi-address";
import { isPattern } from "../../registrar/node-wide/path-pattern";
import { ENDPOINT_KEY, SELF_CHECK_KEY, STATE_KEY } from "../../registrar/registration/self-check-protocol";
import { SOCKET_TAIL } from "../../registrar/registration/socket-name";
import { isFolder } from "../../sockets/files";
import type { Flags } from "../flags";
import { nodeDirectory, resolvePaths } from "../paths";

/** What a registrar answers about itself. */
interface SelfReport {
  readonly endpoint: string;
  /** Undefined where it is another one than ours, such as the official: it does not tell. */
  readonly state: string | undefined;
}

/** A driver that takes longer to tell its name is slow: a probe itself has one second by default. */
const QUICK_DRIVER_MS = 300;

/**
 * `--mode=health-probe` and `--mode=ready-probe`: ask the registrar that runs in this container over its registration
 * socket, with the flags that it was started with. For exec probes without an HTTP endpoint. An exec probe has one
 * second, perhaps with a tenth of a CPU, so this uses bare HTTP/2 without the gRPC library.
 *
 * Healthy: a registrar answers for the driver, ours or one for which ours stands by; or there can be no socket yet, as
 * the driver is missing, slow or failing. Ready: the driver is registered.
 */
export async function runProbe(flags: Flags, wanted: "health" | "ready"): Promise<number> {
  const paths = resolvePaths(flags, nodeDirectory(process.env), isFolder);
  if (paths.kind === "missing") return fail(paths.message);
  const folder = paths.pluginRegistrationPath;
  const { sockets, problem } = socketsIn(folder);
  try {
    const reports = sockets.map((name) =>
      askAbout(join(folder, name), flags.timeoutMs).catch(() => undefined),
    );
    const mine = (await Promise.all(reports)).filter(
      (report) => report !== undefined && fits(report.endpoint, paths.kubeletRegistrationPath),
    );
    if (mine.length > 0 && wanted === "health") return 0;
    const notReady = mine.find((report) => report?.state !== "registered");
    if (notReady)
      return fail(
        notReady.state === undefined
          ? "another registrar holds the driver's registration socket, and does not tell whether it is registered"
          : `not registered: state is ${notReady.state}`,
      );
    if (mine.length > 0) return 0;
    if (wanted === "health" && !(await tellsItsName(parseCsiAddress(flags.csiAddress)))) return 0;
    return fail(
      problem ?? `no registrar for ${paths.kubeletRegistrationPath} answers on a socket in ${folder}`,
    );
  } catch (error) {
    return fail(messageOf(error));
  }
}

/** Whether there is a driver, and it tells its name at once. */
async function tellsItsName(csiSocketPath: string): Promise<boolean> {
  const asking = bareCall(csiSocketPath, "/csi.v1.Identity/GetPluginInfo", { timeoutMs: QUICK_DRIVER_MS });
  return asking.then(
    ({ grpcStatus }) => grpcStatus === "0",
    () => false,
  );
}

/** The registration sockets there; or why nobody can tell, which does not matter as long as the driver is waited for. */
function socketsIn(folder: string): { readonly sockets: readonly string[]; readonly problem?: string } {
  try {
    return { sockets: readdirSync(folder).filter((name) => name.endsWith(SOCKET_TAIL)) };
  } catch (error) {
    const problem = `cannot look into the plugin registration directory ${folder}: ${messageOf(error)}`;
    return { sockets: [], problem: `${problem}; is it mounted, and --plugin-registration-path right?` };
  }
}

/** Whether a registrar's endpoint is the one that the flags name; with a `*`, whether it matches. */
function fits(endpoint: string, path: string): boolean {
  return endpoint !== "" && (isPattern(path) || endpoint === encodeURI(path));
}

function fail(reason: string): number {
  process.stderr.write(`${reason}\n`);
  return 1;
}

/** GetInfo marked as a self-check: our registrars answer it with headers about themselves, all with an endpoint. */
async function askAbout(socketPath: string, timeoutMs: number): Promise<SelfReport> {
  const { headers, message } = await bareCall(socketPath, "/pluginregistration.Registration/GetInfo", {
    timeoutMs,
    fields: { [SELF_CHECK_KEY]: "1" },
  });
  const endpoint = headers[ENDPOINT_KEY];
  return endpoint === undefined
    ? { endpoint: encodeURI(textIn(message, ENDPOINT_FIELD)), state: undefined }
    : { endpoint: String(endpoint), state: String(headers[STATE_KEY] ?? "") };
}

/** PluginInfo.endpoint (pluginregistration/v1/api.proto). */
const ENDPOINT_FIELD = 3;

/** A field of a protobuf message that has texts only; empty where it has none of that number. */
function textIn(message: Buffer, wanted: number): string {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; at < message.length; shift += 7) {
      const byte = message.readUInt8(at++);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const field = varint() >>> 3;
    const length = varint();
    if (field === wanted) return message.toString("utf8", at, at + length);
    at += length;
  }
  return "";
}
