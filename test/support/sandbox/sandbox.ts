import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readText } from "../../docs/markdown";
import { parseAll } from "../yaml";
import { copyPortable, whereIs } from "./program-files";

const ENTER = join(__dirname, "enter.sh");
/** Where the sandbox has setpriv, which drops what is left of root's rights after the root was changed. */
const SETPRIV_AT = "/dev/sandbox";
const TERMINATION_LOG = "/dev/termination-log";
/** The security context of examples/daemonset.yaml; a seccomp filter comes with a runtime (npm run test:image). */
const CONFINED = ["--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"];

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
}

export const REGISTRAR: Container = parseAll(readText("examples/daemonset.yaml"))
  .find(({ kind }: { readonly kind: string }) => kind === "DaemonSet")
  .spec.template.spec.containers.find(({ name }: Container) => name === "registrar");

interface SandboxMounts {
  /** What the pod's volumes are, by the path at which the container has them; the DaemonSet says which may be written. */
  readonly volumes: Readonly<Record<string, string>>;
  readonly terminationLog: string;
}

const enter = (rootFolder: string, root: "ro" | "rw", mounts: readonly string[]): readonly string[] => [
  ...["unshare", ...asRoot("--user", "--map-root-user"), "--mount", "--pid", "--fork", "--kill-child"],
  ...["sh", ENTER, rootFolder, root, ...mounts, "--"],
];

/** A container without a runtime, confined as examples/daemonset.yaml says. `tools` is an empty folder for its own needs. */
export function createSandbox(
  rootFolder: string,
  { volumes, terminationLog }: SandboxMounts,
  { tools, root = "ro" }: { readonly tools: string; readonly root?: "ro" | "rw" },
) {
  const setpriv = copyPortable(whereIs("setpriv") ?? "setpriv", tools, SETPRIV_AT);
  const confined = [...setpriv, ...CONFINED];
  const mounts = REGISTRAR.volumeMounts.flatMap(({ mountPath, readOnly }) => {
    const source = volumes[mountPath];
    if (source === undefined) throw new Error(`nothing is said to be mounted at ${mountPath}`);
    return [readOnly ? "ro" : "rw", source, mountPath];
  });
  mounts.push("ro", tools, SETPRIV_AT, "rw", terminationLog, TERMINATION_LOG);
  return {
    run: (...program: readonly string[]): readonly string[] => [
      ...[...enter(rootFolder, root, mounts), ...confined, ...program],
    ],
    /** The command that runs one more program beside the one that `run` started as this process, as an exec probe is. */
    exec: (spawned: number, ...program: readonly string[]): readonly string[] => [
      ...["env", "-i", `PATH=${process.env.PATH}`, "nsenter", `--target=${pidInside(spawned)}`],
      ...asRoot("--user", "--preserve-credentials"),
      ...["--mount", "--pid", "--root", "--wd", "--", ...confined, ...program],
    ],
  };
}

/** Makes in a root folder, as a container runtime does, what the sandbox mounts something over. */
export function makeMountPoints(rootFolder: string): void {
  const folders = ["/proc", SETPRIV_AT, ...REGISTRAR.volumeMounts.map(({ mountPath }) => mountPath)];
  for (const path of folders) mkdirSync(join(rootFolder, path), { recursive: true });
  mkdirSync(dirname(join(rootFolder, TERMINATION_LOG)), { recursive: true });
  writeFileSync(join(rootFolder, TERMINATION_LOG), "");
}

/** The program in a sandbox, as this machine counts processes; `spawned` is what the command of `run` was started as. */
export function pidInside(spawned: number): number {
  const children = readFileSync(`/proc/${spawned}/task/${spawned}/children`, "utf8");
  const [pid] = /^\d+/.exec(children) ?? [];
  if (pid === undefined) throw new Error(`process ${spawned} has nothing in a sandbox`);
  return Number(pid);
}

export function whyNoSandbox(): string | undefined {
  if (process.platform !== "linux") return "namespaces are Linux's";
  for (const tool of ["unshare", "nsenter", "setpriv", "ldd"])
    if (whereIs(tool) === undefined) return `${tool} is not in PATH`;
  const flags = [...asRoot("--user", "--map-root-user"), "--mount", "--pid", "--fork"];
  const { status, stderr } = spawnSync("unshare", [...flags, "true"], { encoding: "utf8" });
  return status === 0 ? undefined : stderr.trim().split("\n", 1)[0];
}

/** Root makes namespaces by right; anybody else in a user namespace, as whose root. */
function asRoot(...flags: readonly string[]): readonly string[] {
  return process.geteuid?.() === 0 ? [] : flags;
}

/** A `describe` that is skipped, with the reason in its name, where this user gets no namespaces; not where CI is set. */
export function describeWithNamespaces(name: string, tests: () => void): void {
  const refusal = whyNoSandbox();
  const isCi = !/^(?:false|0)?$/.test(process.env.CI ?? "");
  if (refusal === undefined || isCi) describe(name, tests);
  else describe.skip(`${name}, which needs namespaces: ${refusal}`, tests);
}
