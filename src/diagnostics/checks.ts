import type { Registrar } from "../registrar/registrar";

/** One named check; resolves with the reason of a failure, undefined where all is well. */
export interface Check {
  readonly name: string;
  run(): Promise<string | undefined>;
}

/** What a health path answers. */
export interface CheckReport {
  readonly passed: boolean;
  readonly body: string;
}

/** Alive: this process answers. Nothing outside it may fail this, or a liveness probe would restart us for it. */
export function livenessChecks(): readonly Check[] {
  return [{ name: "ping", run: async () => undefined }];
}

/**
 * Ready: kubelet said that the driver is registered, and the socket over which it did is ours and answers. With
 * `requireDriver` the driver must be connected too; without, kubelet reaches the driver by itself.
 */
export function readinessChecks(
  registrar: Registrar,
  { requireDriver }: { readonly requireDriver: boolean },
): readonly Check[] {
  return [
    {
      name: "driver",
      run: async () => {
        const { connected, identity } = registrar.status();
        if (connected || (identity !== undefined && !requireDriver)) return undefined;
        return identity === undefined
          ? "the CSI driver has not answered yet"
          : "the connection to the CSI driver is lost";
      },
    },
    {
      name: "socket",
      run: async () => {
        if (registrar.status().registrationSocketPath === undefined)
          return "there is no registration socket yet";
        const { status, body } = await registrar.selfCheck();
        return status === 200 ? undefined : body;
      },
    },
    {
      name: "registered",
      run: async () => {
        const { state } = registrar.status();
        return state === "registered" ? undefined : `state is ${state}`;
      },
    },
  ];
}

/**
 * Runs checks and reports in the form of Kubernetes' own health paths: `ok`, or with `verbose` or after a failure a
 * line for each check. `exclude` names checks that do not count.
 */
export async function runChecks(
  path: string,
  checks: readonly Check[],
  { verbose, exclude }: { readonly verbose: boolean; readonly exclude: readonly string[] },
): Promise<CheckReport> {
  const lines: string[] = [];
  let passed = true;
  for (const { name, run } of checks) {
    if (exclude.includes(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = await run();
    passed &&= problem === undefined;
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`);
  }
  const unknown = exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(", ")}`);
  if (passed && !verbose) return { passed, body: "ok" };
  return { passed, body: `${lines.join("\n")}\n${path} check ${passed ? "passed" : "failed"}\n` };
}
