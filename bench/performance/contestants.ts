import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place";

/** A program that serves a registration socket, or as much of one as is to be compared. */
export interface Contestant {
  readonly name: string;
  /** The command line that registers the driver of a place. */
  readonly command: (place: Place, flags?: readonly string[]) => readonly string[];
}

/** Who is measured. */
export interface Contestants {
  /** The CLI as `npm run build` makes it. */
  readonly registrar: Contestant;
  /** The CLI as the image has it: with V8's code cache. */
  readonly cached: Contestant;
  /** `bench/naive.mjs`. */
  readonly naive: Contestant;
  /** Undefined where its path was not given. */
  readonly official: Contestant | undefined;
  /** Bare Node, which no registrar that runs on it can beat. */
  readonly net: Contestant;
  readonly http2: Contestant;
  /** The CLI's own files, for what is no registration. */
  readonly cli: string;
  readonly cachedCli: string;
}

const ROOT = join(__dirname, "..", "..");

/**
 * Lays the contestants out in a folder: a copy of the build, as a bench takes long and another build may come
 * meanwhile, and one more with the code cache of this Node.
 */
export function prepareContestants(
  folder: string,
  { node, official }: { readonly node: string; readonly official: string | undefined },
): Contestants {
  const [cli, cachedCli] = ["plain", "cached"].map((name) => {
    cpSync(join(ROOT, "dist"), join(folder, name), { recursive: true });
    return join(folder, name, "cli.js");
  }) as [string, string];
  execFileSync(node, [join(ROOT, "scripts", "code-cache.mjs"), cachedCli], { stdio: "ignore" });
  return {
    registrar: registrar("registrar", [node, cli]),
    cached: registrar("registrar, code cache", [node, cachedCli]),
    naive: registrar("naive grpc-js", [node, join(ROOT, "bench", "naive.mjs")]),
    official: official === undefined ? undefined : registrar("official", [official]),
    net: server("bare net server", [node, join(__dirname, "bare-net.cjs")]),
    http2: server("bare http2 server", [node, join(__dirname, "bare-http2.cjs")]),
    cli,
    cachedCli,
  };
}

/** Those that are there. */
export function present(...contestants: readonly (Contestant | undefined)[]): readonly Contestant[] {
  return contestants.filter((contestant) => contestant !== undefined);
}

/** Why there is no official registrar to compare with, for a line that says so; undefined where there is one. */
export function whyNoOfficial(path: string | undefined): string | undefined {
  if (path === undefined) return "no --official PATH: the official registrar is left out";
  return existsSync(path) ? undefined : `--official ${path} is not there: the official registrar is left out`;
}

function registrar(name: string, program: readonly string[]): Contestant {
  return {
    name,
    command: ({ csiAddress, kubeletRegistrationPath, pluginDir }, flags = []) => [
      ...program,
      `--csi-address=${csiAddress}`,
      `--kubelet-registration-path=${kubeletRegistrationPath}`,
      `--plugin-registration-path=${pluginDir}`,
      ...flags,
    ],
  };
}

function server(name: string, program: readonly string[]): Contestant {
  return { name, command: ({ socketPath }) => [...program, socketPath] };
}
