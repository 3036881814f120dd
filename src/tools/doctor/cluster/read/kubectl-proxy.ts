import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { invalidOption, messageOf } from "../../../../base/errors";
import { printError } from "../../../../runtime/print";
import type { ClusterTarget } from "./cluster";
import { PATIENCE, type Patience, waitFor } from "./patience";

/** The proxy refuses every request that could change the cluster. */
const WRITES = "^(POST|PUT|PATCH|DELETE)$";
const SERVING = "Starting to serve on ";
/** It asks for them in a line without an end. */
const QUESTIONS = ["Please enter Username:", "Please enter Password:"];
/** kubectl's own log lines, which repeat what the answers say, and what may become one. */
const KLOG_LINE = /^[IWEF]\d{4} /;
const KLOG_BEGUN = /^[IWEF](?:\d{0,4}$|\d{4} )/;
const NO_CREDENTIALS = "the kubeconfig has no credentials for its user: kubectl asks for name and password";
/**
 * Replaces the shell with kubectl, beside a watch that waits for the end of our pipe: the kernel closes the pipe however we
 * end, even by SIGKILL. The watch then ends kubectl and removes its socket's directory ($1). Without stdin kubectl ends where it
 * would wait for a user name.
 */
const SCRIPT = `
exec 3<&0
{ trap "" HUP INT TERM; read -r _ <&3; kill $$; /bin/rm -rf "$1"; } </dev/null >/dev/null 2>&1 &
shift
exec kubectl "$@" </dev/null 3<&-
`;
/** A shell's exit code if there is no such program. */
const NOT_FOUND = 127;
/** Kills a kubectl that ignores SIGTERM for so long. */
const ENDS_WITHIN_MS = 2_000;

/**
 * Starts `kubectl proxy` and resolves when it serves. Rejects with INVALID_OPTION if there is no kubectl, or it ends, as
 * without such a context or file, or it is silent. Leaves no process and no file behind, also when this process is killed. What kubectl says to its
 * user meanwhile, such as where to log in, goes to stderr.
 */
export async function startKubectlProxy(
  { context, kubeconfig }: Pick<ClusterTarget, "context" | "kubeconfig">,
  patience: Patience = PATIENCE,
) {
  const directory = makeDirectory();
  const socketPath = join(directory, "api.sock");
  const words = [
    "proxy",
    `--unix-socket=${socketPath}`,
    `--reject-methods=${WRITES}`,
    ...(context === undefined ? [] : [`--context=${context}`]),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
  ];
  const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", directory, ...words], { env: process.env });
  let isServing = false;
  let hasSpoken = false;
  /** Its last words to its user. */
  let said = "";
  let how: string | number | null | undefined;
  const onComplaint = (line: string) => {
    const isLog = KLOG_LINE.test(line);
    if (said !== NO_CREDENTIALS && !(isLog && hasSpoken)) said = line.trim().slice(-4096);
    if (isLog) return;
    hasSpoken = true;
    if (isServing) printError(line);
  };
  readLines(child.stderr, onComplaint, (begun) => KLOG_BEGUN.test(begun));
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, name) => {
      how = name ?? code;
      resolve(`it exited with ${how}`);
    });
  });
  const close = async () => {
    // What a kubectl that is a wrapper started may keep its pipes open.
    for (const pipe of child.stdio) pipe?.destroy();
    const kill = setTimeout(() => child.kill("SIGKILL"), ENDS_WITHIN_MS);
    await ended;
    clearTimeout(kill);
    rmSync(directory, { recursive: true, force: true });
  };
  const serving = new Promise<undefined>((resolve) => {
    const onLine = (line: string) => {
      if (line.startsWith(SERVING)) resolve(undefined);
      else if (QUESTIONS.some((question) => line.startsWith(question))) said = NO_CREDENTIALS;
      else {
        hasSpoken = true;
        printError(line.trimEnd());
      }
    };
    readLines(child.stdout, onLine, (begun) => [SERVING, ...QUESTIONS].some((one) => one.startsWith(begun)));
  });
  const isLoggingIn = () => hasSpoken;
  const start = () => Promise.race([serving, ended]);
  const started = await waitFor("kubectl proxy to start", start, isLoggingIn, patience);
  const silence = "silence" in started ? started.silence : undefined;
  const failure = "value" in started ? started.value : silence;
  if (failure !== undefined) {
    await close();
    const last = silence ?? (said || failure);
    throw invalidOption(
      child.exitCode === NOT_FOUND
        ? "kubectl is not in PATH: run this where kubectl can reach the cluster, not in one of its containers"
        : `kubectl proxy: ${last.replace(/^error: /, "")}`,
    );
  }
  isServing = true;
  /** In kubectl's own words why it has ended; undefined while it runs. */
  const whyEnded = () => (how === undefined ? how : `kubectl proxy exited with ${how}${said && `: ${said}`}`);
  return { socketPath, isLoggingIn, whyEnded, [Symbol.asyncDispose]: close };
}

/** Calls `onLine` with each line, and with one that has only begun unless it is to wait for its end. Blank ones are left out. */
function readLines(stream: Readable, onLine: (line: string) => void, isAwaited: (begun: string) => boolean) {
  let begun = "";
  const tell = (lines: readonly string[]) => lines.filter((line) => line.trim() !== "").forEach(onLine);
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${begun}${text}`.split("\n");
    begun = isAwaited(lines.at(-1) ?? "") ? (lines.pop() ?? "") : "";
    tell(lines);
  });
  stream.once("end", () => tell([begun]));
}

function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), "kubectl-"));
  } catch (cause) {
    throw invalidOption(`cannot create a directory for kubectl's socket: ${messageOf(cause)}`, { cause });
  }
}
