import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { OURS, objectsIn } from "./objects";

export function writtenManifest(...flags: readonly string[]): readonly { readonly kind: string }[] {
  const words = [join(ROOT, "dist", "cli.js"), "manifest", `--image=${OURS.image}`, ...flags];
  return objectsIn(execFileSync(process.execPath, words, { encoding: "utf8" }));
}

/** The two arguments that each driver has, and what the suite's driver is to be called. */
export const driverArgs = (name: string): readonly string[] => [
  "--driver-arg=--endpoint=unix:///csi/csi.sock",
  "--driver-arg=--nodeid=$(NODE_NAME)",
  `--driver-arg=--drivername=${name}`,
];
