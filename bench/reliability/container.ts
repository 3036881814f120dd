import { setTimeout as delay } from "node:timers/promises";
import { type ChildProcess, startChildProcess } from "../../test/support/child-process";
import { freePort } from "../support/place";

/** How long kubelet waits before it restarts a container for the nth time (0 is the first), in milliseconds. */
function restartDelayMs(restart: number): number {
  // The first restart is at once, see doBackOff in kubelet's kuberuntime_manager.go; then 10 s, doubled up to 5 min.
  return restart === 0 ? 0 : Math.min(10_000 * 2 ** (restart - 1), 300_000);
}

/**
 * The liveness probe that Azure's, NFS' and SMB's charts set on the registrar since April 2026, in milliseconds: kubelet
 * stops the container after two failures in a row.
 */
const PROBE = { initialDelayMs: 20_000, periodMs: 20_000, timeoutMs: 10_000, failures: 2 };

/** A program that is restarted when it ends, whatever its exit code, as a container of a DaemonSet is. */
export interface Container extends AsyncDisposable {
  readonly restarts: number;
  /** Every line of its runs, stderr only. */
  log(): readonly string[];
  /** Resolves when a line has this text; at once if one already has it. */
  says(text: string): Promise<void>;
  /** SIGKILL, as the kernel's out-of-memory killer does: a crash like any other. */
  kill(): void;
  /** Its pod is deleted: SIGTERM, and no restart. Resolves when it ended. */
  delete(): Promise<void>;
}

/**
 * Starts a container. What a real one needs to come up (runtime, mounts) takes no time here. With `isProbed` it serves HTTP,
 * and is stopped when its liveness probe fails.
 */
export async function startContainer(command: readonly string[], isProbed: boolean): Promise<Container> {
  const former: string[] = [];
  let restarts = 0;
  const port = isProbed ? await freePort() : 0;
  const [program = "", ...words] = isProbed ? [...command, `--http-endpoint=127.0.0.1:${port}`] : command;
  let current = await start();
  const deletion = new AbortController();
  const life = keepUp();

  async function start(): Promise<ChildProcess> {
    const one = await startChildProcess(program, words, String);
    if (isProbed) void probe(one);
    return one;
  }
  async function probe(one: ChildProcess): Promise<void> {
    await delay(PROBE.initialDelayMs);
    for (let failures = 0; one.exit() === undefined; await delay(PROBE.periodMs)) {
      const signal = AbortSignal.timeout(PROBE.timeoutMs);
      const isHealthy = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).then(
        ({ ok }) => ok,
        () => false,
      );
      failures = isHealthy ? 0 : failures + 1;
      if (failures === PROBE.failures) return one.signal("SIGTERM");
    }
  }

  async function keepUp(): Promise<void> {
    while (!deletion.signal.aborted) {
      await current.exited;
      await delay(restartDelayMs(restarts), undefined, { signal: deletion.signal }).catch(() => {});
      if (deletion.signal.aborted) return;
      former.push(...current.stderr.all());
      restarts += 1;
      current = await start();
    }
    await current.close();
  }
  async function end(): Promise<void> {
    deletion.abort();
    await current.close();
    await life;
  }
  return {
    get restarts() {
      return restarts;
    },
    log: () => [...former, ...current.stderr.all()],
    says: async (text) => void (await current.stderr.waitFor((line) => line.includes(text))),
    kill: () => current.signal("SIGKILL"),
    delete: end,
    [Symbol.asyncDispose]: end,
  };
}
