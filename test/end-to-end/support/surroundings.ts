import { join } from "node:path";
import { registrarCommand } from "../../support/registrar-command";
import { registrarArguments, type TestNode } from "./node";
import type { CliProcess, Launch } from "./process";

/** What is made of a registrar's surroundings before it starts. */
export interface Surroundings {
  /** Shell commands that are run in its process; `$1` is the plugin registration directory. */
  readonly script?: string;
  /** Runs in a mount namespace of its own, so that the script may mount; see `insideOf`. */
  readonly mounts?: boolean;
  /** Without root's right to write everywhere, where the tests run as root. */
  readonly asOrdinaryUser?: boolean;
}

const isRoot = process.geteuid?.() === 0;
const MOUNT_NAMESPACE = ["unshare", "--mount", ...(isRoot ? [] : ["--user", "--map-root-user"])];
const NO_CAPABILITIES = isRoot
  ? ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"]
  : [];

/** Starts the registrar as `node.registrar` does, in these surroundings. */
export function registrarIn(
  node: TestNode,
  { script = "", mounts = false, asOrdinaryUser = false }: Surroundings,
  ...flags: readonly string[]
): CliProcess {
  const shell = ["sh", "-euc", `${script}\nshift\nexec "$@"`, "sh", node.pluginDir];
  const command = [
    ...(mounts ? MOUNT_NAMESPACE : []),
    ...shell,
    ...(asOrdinaryUser ? NO_CAPABILITIES : []),
    ...registrarCommand(),
  ];
  return node.cli([...registrarArguments(node), ...flags], {}, { command });
}

/** Starts the registrar as on a machine without a /registration, which may have one for reasons of its own. */
export function outsideContainer(): Launch {
  const [program, ...words] = registrarCommand();
  return { command: [program, "--require", join(__dirname, "without-container-directory.cjs"), ...words] };
}

/** Where a path is to be found that means something else in the mount namespace of a process. */
export const insideOf = ({ pid }: CliProcess, path: string) => `/proc/${pid}/root${path}`;
