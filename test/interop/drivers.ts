import { join } from "node:path";
import { DRIVER_SERVERS } from "../drivers/support/servers";
import { programPath } from "../kubelet/support/build";
import { newestVersion } from "../kubelet/support/versions";
import type { NodeRelease } from "../matrix/nodes";

/** Where a driver is to be, what it is to say of itself, and the registrar's Node and program, for one that comes with it. */
interface DriverPlace {
  readonly socketPath: string;
  readonly name: string;
  readonly nodeId: string;
  readonly node: NodeRelease;
  readonly cli: string;
}

type CommandOf = (place: DriverPlace) => readonly string[];

export interface Driver {
  readonly name: string;
  /** Its HTTP/2 server resets a call whose :authority is a path, against RFC 3986, before the driver sees it. */
  readonly refusesPaths: boolean;
  readonly command: CommandOf;
  readonly registrar?: readonly string[];
}

const ofGo: CommandOf = (place) => [programPath("csidriver", newestVersion), ...ourFlags(place, "endpoint")];
const ofOurs: CommandOf = (place) => [
  place.node.path,
  place.cli,
  "driver",
  ...ourFlags(place, "csi-address"),
];

const ofJavaScript: CommandOf = (place) => [
  ...[place.node.path, "--require", join(__dirname, "..", "..", "scripts", "typescript.cjs")],
  ...[join(__dirname, "driver.ts"), ...ourFlags(place, "socket")],
];

export const DRIVERS: readonly (Omit<Driver, "command"> & { prepare(): Promise<CommandOf> })[] = [
  { name: "Go", refusesPaths: false, prepare: async () => ofGo },
  { name: "registrar driver", refusesPaths: false, prepare: async () => ofOurs },
  { name: "JavaScript", refusesPaths: true, prepare: async () => ofJavaScript },
  { name: "Python", refusesPaths: false, prepare: () => prepareServer("Python") },
  { name: "Rust", refusesPaths: true, prepare: () => prepareServer("Rust") },
];

const ourFlags = ({ socketPath, name, nodeId }: DriverPlace, socketFlag: string) =>
  [`--${socketFlag}=${socketPath}`, `--name=${name}`, `--node-id=${nodeId}`] as const;

async function prepareServer(language: string): Promise<CommandOf> {
  const server = DRIVER_SERVERS.find((one) => one.language === language);
  if (!server) throw new Error(`there is no driver in ${language} among test/drivers`);
  const [program = "", ...words] = await server.prepare();
  return ({ socketPath, name, nodeId }) => [
    ...[program, ...words, "--socket", socketPath, "--name", name, "--node-id", nodeId],
  ];
}
