import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invalidOption, messageOf, RegistrarError } from "../../base/errors";

/** Which cluster; undefined: what kubectl takes by itself. */
export interface KubectlOptions {
  readonly context?: string | undefined;
  readonly kubeconfig?: string | undefined;
  /** Called with kubectl's messages to its user, such as where to log in. */
  readonly onMessage: (line: string) => void;
}

/** A connection to the API server with kubectl's credentials. */
export interface KubectlProxy extends AsyncDisposable {
  /** A unix socket in a folder that only this user may enter. */
  readonly socketPath: string;
}

/** kubectl passes nothing on that could change anything, whatever we ask. */
const WRITES = "^(POST|PUT|PATCH|DELETE)$";
const SERVING = /^Starting to serve on /m;
/** kubectl's own log lines: what they say is in the answers, too. */
const KLOG_LINE = /^[IWEF]\d{4} /;
const QUESTION = /^Please enter (Username|Password):/m;
const NO_CREDENTIALS = "the kubeconfig has no credentials for its user: kubectl asks for name and password";
/**
 * kubectl in place of the shell, and beside it a watch that waits for the end of our pipe: the kernel closes that whatever
 * ends us, SIGKILL too. Then kubectl goes, and the folder of its socket ($1). Without stdin kubectl ends where it would ask
 * for a user name, and wait for it.
 */
const SCRIPT = `
exec 3<&0
{ trap "" HUP INT TERM; read -r _ <&3; kill $$; /bin/rm -rf "$1"; } </dev/null >/dev/null 2>&1 &
shift
exec kubectl "$@" </dev/null 3<&-
`;
/** What a shell ends with that finds no such program. */
const NOT_FOUND = 127;

/**
 * Starts `kubectl proxy` and resolves when it serves. Rejects with a line for people where there is no kubectl, no such
 * context, no such file. Leaves no process and no file behind when it is disposed of, when it rejects, or when this process
 * ends.
 */
export async function startKubectlProxy(options: KubectlOptions): Promise<KubectlProxy> {
  const { context, kubeconfig, onMessage } = options;
  const folder = makeFolder();
  const socketPath = join(folder, "api.sock");
  const words = [
    "proxy",
    `--unix-socket=${socketPath}`,
    `--reject-methods=${WRITES}`,
    ...(context === undefined ? [] : [`--context=${context}`]),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
  ];
  const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", folder, ...words]);
  let isServing = false;
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (isServing)
      for (const line of text.split("\n")) if (line !== "" && !KLOG_LINE.test(line)) onMessage(line);
    if (said !== NO_CREDENTIALS) said = `${said}${text}`.slice(-4096);
  });
  const ended = new Promise<Error>((resolve) => {
    child.once("error", resolve).once("close", (code, name) => {
      resolve(code === NOT_FOUND ? noKubectl() : new Error(`it ended with ${name ?? code}`));
    });
  });
  const close = async () => {
    child.stdin.destroy();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const serving = new Promise<undefined>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (SERVING.test(text)) resolve(undefined);
      else if (QUESTION.test(text)) said = NO_CREDENTIALS;
      else onMessage(text.trimEnd());
    });
  });
  const failure = await Promise.race([serving, ended]);
  if (failure !== undefined) {
    await close();
    throw refusal(failure, said);
  }
  isServing = true;
  return { socketPath, [Symbol.asyncDispose]: close };
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "kubectl-"));
  } catch (error) {
    throw invalidOption(`no folder can be made for kubectl's socket: ${messageOf(error)}`);
  }
}

function noKubectl(): RegistrarError {
  return invalidOption(
    "there is no kubectl in PATH: run this where kubectl reaches the cluster, not in a container of it",
  );
}

function refusal(failure: Error, said: string): RegistrarError {
  if (failure instanceof RegistrarError) return failure;
  const [last = messageOf(failure)] = said.trim().split("\n").filter(Boolean).slice(-1);
  return invalidOption(`kubectl proxy: ${last.replace(/^error: /, "")}`, { cause: failure });
}
