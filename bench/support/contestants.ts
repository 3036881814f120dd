import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place";

/** A program that serves a registration socket, or a part of one that is compared. */
export interface Contestant {
  readonly name: string;
  /** The program and the words in front of its arguments. */
  readonly program: readonly string[];
  /** The command line that registers the driver of a place. */
  readonly command: (place: Place, flags?: readonly string[]) => readonly string[];
}

const ROOT = join(__dirname, "..", "..");

/**
 * Lays the contestants out in a folder: a copy of the build, because another build may come meanwhile, and one more with
 * the code cache of this Node.
 */
export function prepareContestants(folder: string, node: string, official: string | undefined) {
  const [plain, cached] = ["plain", "cached"].map((name) => {
    cpSync(join(ROOT, "dist"), join(folder, name), { recursive: true });
    return join(folder, name, "cli.js");
  }) as [string, string];
  execFileSync(node, [join(ROOT, "scripts", "code-cache.mjs"), cached], { stdio: "ignore" });
  return {
    cached: registrar("registrar", [node, cached]),
    plain: registrar("registrar, without the image's code cache", [node, plain]),
    official: official === undefined ? undefined : registrar("official", [official]),
  };
}

/** Bare Node, which no registrar that runs on it can beat. */
export function bareServer(node: string, kind: "net" | "http2"): Contestant {
  const program = [node, join(__dirname, `bare-${kind}.cjs`)];
  return { name: `bare ${kind} server`, program, command: ({ socketPath }) => [...program, socketPath] };
}

/** Those that are there. */
export function present(...contestants: readonly (Contestant | undefined)[]): readonly Contestant[] {
  return contestants.filter((contestant) => contestant !== undefined);
}

function registrar(name: string, program: readonly string[]): Contestant {
  return {
    ...{ name, program },
    command: ({ csiAddress, pluginDir }, flags = []) => [
      ...program,
      `--csi-address=${csiAddress}`,
      `--kubelet-registration-path=${csiAddress}`,
      `--plugin-registration-path=${pluginDir}`,
      ...flags,
    ],
  };
}
