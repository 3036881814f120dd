import { join } from "node:path";
import { DRIVER_SERVERS } from "../drivers/support/servers";
import { programPath } from "../kubelet/support/build";
import { newestVersion } from "../kubelet/support/versions";
import type { NodeRelease } from "../support/nodes";

type Command = readonly string[];

export interface Driver {
  readonly name: string;
  /** Its flag for the path of its socket. */
  readonly socketFlag: string;
  /** Its HTTP/2 server resets a call whose :authority is a path, against RFC 3986, before the driver sees it. */
  readonly refusesPaths: boolean;
  /** What starts it, to which flags are added; a driver that comes with the registrar runs by its Node and program. */
  readonly command: (node: NodeRelease, cli: string) => Command | Promise<Command>;
  readonly registrar?: readonly string[];
}

const TYPESCRIPT = join(__dirname, "..", "..", "scripts", "typescript.cjs");
const [, python, rust] = DRIVER_SERVERS;

export const DRIVERS: readonly Driver[] = [
  {
    ...{ name: "Go", socketFlag: "--endpoint", refusesPaths: false },
    command: () => [programPath("csidriver", newestVersion)],
  },
  {
    ...{ name: "registrar driver", socketFlag: "--csi-address", refusesPaths: false },
    command: ({ path }, cli) => [path, cli, "driver"],
  },
  {
    ...{ name: "JavaScript", socketFlag: "--socket", refusesPaths: true },
    command: ({ path }) => [path, "--require", TYPESCRIPT, join(__dirname, "driver.ts")],
  },
  { name: "Python", socketFlag: "--socket", refusesPaths: false, command: python.prepare },
  { name: "Rust", socketFlag: "--socket", refusesPaths: true, command: rust.prepare },
];
