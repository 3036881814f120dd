import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DRIVER_SERVERS, type DriverServer } from "../drivers/support/servers";
import { programPath } from "../kubelet/support/build";
import { newestVersion, programFolder } from "../kubelet/support/versions";
import type { NodeRelease } from "../matrix/nodes";
import { ROOT } from "../package/support/packed-package";

/** Where a driver is to be, and what it is to say of itself. */
export interface DriverPlace {
  readonly socketPath: string;
  readonly name: string;
  readonly nodeId: string;
  /** The registrar's Node and program, for a driver that comes with it. */
  readonly node: NodeRelease;
  readonly cli: string;
}

/** A driver that can be started. */
export interface Driver {
  /** Its language, for most. */
  readonly name: string;
  /** Which program it is, and the exact versions of what it is made of. */
  readonly description: string;
  /** Its HTTP/2 server resets a call whose :authority is a path, against RFC 3986, before the driver sees it. */
  readonly refusesPaths: boolean;
  command(place: DriverPlace): readonly string[];
}

/** The drivers by name, each with a way to build it; that rejects with what is missing. */
export const DRIVERS: readonly { readonly name: string; prepare(): Promise<Omit<Driver, "name">> }[] = [
  {
    name: "Go",
    prepare: async () => ({
      description: `Kubernetes' CSI mock driver, of ${newestVersion}: grpc-go ${grpcGoOf(newestVersion)}`,
      refusesPaths: false,
      command: ({ socketPath, name, nodeId }) => [
        programPath("csidriver", newestVersion),
        ...[`--endpoint=${socketPath}`, `--name=${name}`, `--node-id=${nodeId}`],
      ],
    }),
  },
  {
    name: "registrar driver",
    prepare: async () => ({
      description: `this package's simulated driver, on the registrar's Node: grpc-js ${grpcJs()}, which it helps with paths`,
      refusesPaths: false,
      command: ({ socketPath, name, nodeId, node, cli }) => [
        ...[node.path, cli, "driver"],
        ...[`--csi-address=${socketPath}`, `--name=${name}`, `--node-id=${nodeId}`],
      ],
    }),
  },
  {
    name: "JavaScript",
    prepare: async () => {
      const [, ...server] = await prepareServer("JavaScript");
      return {
        description: `\`test/drivers/node\`, on the registrar's Node: grpc-js ${grpcJs()} by itself`,
        refusesPaths: true,
        command: (place) => [place.node.path, ...server, ...serverFlags(place)],
      };
    },
  },
  {
    name: "Python",
    prepare: async () => {
      const server = await prepareServer("Python");
      const grpcio = firstMatch("test/drivers/python/requirements.txt", /^grpcio==(\S+)$/m);
      return {
        description: `\`test/drivers/python\`: grpcio ${grpcio}, ${versionOf(server[0] ?? "")}`,
        refusesPaths: false,
        command: (place) => [...server, ...serverFlags(place)],
      };
    },
  },
  {
    name: "Rust",
    prepare: async () => {
      const server = await prepareServer("Rust");
      const tonic = firstMatch("test/drivers/rust/Cargo.lock", /^name = "tonic"\nversion = "(\S+)"$/m);
      return {
        description: `\`test/drivers/rust\`: tonic ${tonic}, ${versionOf("rustc")}`,
        refusesPaths: true,
        command: (place) => [...server, ...serverFlags(place)],
      };
    },
  },
];

/** The release of grpc-go that a kubelet is built with, here as by Kubernetes: go.mod's replacement counts, if there is one. */
export function grpcGoOf(kubelet: string): string {
  const text = readFileSync(join(programFolder, "versions", `${kubelet}.mod`), "utf8");
  const replaced = /^\s*google\.golang\.org\/grpc(?: v\S+)? => google\.golang\.org\/grpc v(\S+)$/m.exec(text);
  const required = /^\s*google\.golang\.org\/grpc v(\S+)(?: \/\/ indirect)?$/m.exec(text);
  const version = (replaced ?? required)?.[1];
  if (version === undefined) throw new Error(`the go.mod of kubelet ${kubelet} has no grpc-go`);
  return version;
}

/** The command of one of test/drivers. */
async function prepareServer(language: DriverServer["language"]): Promise<readonly string[]> {
  const server = DRIVER_SERVERS.find((one) => one.language === language);
  if (!server) throw new Error(`there is no driver in ${language} among test/drivers`);
  return server.prepare();
}

const serverFlags = ({ socketPath, name, nodeId }: DriverPlace) =>
  ["--socket", socketPath, "--name", name, "--node-id", nodeId] as const;

const grpcJs = () => firstMatch("node_modules/@grpc/grpc-js/package.json", /"version": "(\S+)"/);

function firstMatch(file: string, pattern: RegExp): string {
  const [, match] = pattern.exec(readFileSync(join(ROOT, file), "utf8")) ?? [];
  if (match === undefined) throw new Error(`${file} has no ${pattern}`);
  return match;
}

/** `Python 3.11.7`, `rustc 1.95.0`: what a program calls itself, in two words. */
function versionOf(program: string): string {
  return execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ").slice(0, 2).join(" ");
}
