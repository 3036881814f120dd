import { readdirSync } from "node:fs";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import { messageOf } from "../../errors";
import { parseCsiAddress } from "../../registrar/driver/csi-address";
import { isPattern } from "../../registrar/node-wide/path-pattern";
import { ENDPOINT_KEY, SELF_CHECK_KEY, STATE_KEY } from "../../registrar/registration/self-check-protocol";
import { SOCKET_TAIL } from "../../registrar/registration/socket-name";
import { isFolder } from "../../sockets/files";
import { tryConnect } from "../../sockets/unix-socket";
import type { Flags } from "../flags";
import { nodeDirectory, resolvePaths } from "../paths";

/** What a registrar answers about itself. */
interface SelfReport {
  readonly endpoint: string;
  readonly state: string;
}

/**
 * `--mode=health-probe` and `--mode=ready-probe`: ask the registrar that runs in this container over its registration
 * socket, with the flags that it was started with. For exec probes without an HTTP endpoint. An exec probe has one
 * second, perhaps with a tenth of a CPU, so this uses bare HTTP/2 without the gRPC library.
 *
 * Healthy: the registrar answers, or has no socket yet because the driver is missing. Ready: the driver is registered.
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
    if (notReady) return fail(`not registered: state is ${notReady.state}`);
    if (mine.length > 0) return 0;
    const csiSocketPath = parseCsiAddress(flags.csiAddress);
    if (wanted === "health" && (await tryConnect(csiSocketPath)) !== undefined) return 0;
    return fail(
      problem ?? `no registrar for ${paths.kubeletRegistrationPath} answers on a socket in ${folder}`,
    );
  } catch (error) {
    return fail(messageOf(error));
  }
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

/** GetInfo marked as a self-check: our registrars answer it with headers about themselves. */
function askAbout(socketPath: string, timeoutMs: number): Promise<SelfReport> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2("http://localhost", {
      createConnection: () => connect({ path: socketPath }),
    });
    const end = () => session.destroy();
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${timeoutMs} ms`));
      end();
    }, timeoutMs);
    session.on("error", reject);
    session.on("close", () => {
      clearTimeout(timer);
      reject(new Error("the connection was closed"));
    });
    const request = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: "/pluginregistration.Registration/GetInfo",
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
      [SELF_CHECK_KEY]: "1",
    });
    request.on("error", reject);
    request.on("response", (headers) => {
      resolve({ endpoint: String(headers[ENDPOINT_KEY] ?? ""), state: String(headers[STATE_KEY] ?? "") });
      end();
    });
    // One gRPC frame: not compressed, an empty message.
    request.end(Buffer.alloc(5));
  });
}
