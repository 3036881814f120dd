import { explainHostPath, judgeHostPath } from "../../host-path";
import { readMounts, realPathOf } from "../../sockets/mount-table";
import { hintForRefusal } from "./hints";

/** The names of the driver's socket, and the folder whose mount shows where kubelet's root is. */
export interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
}

/**
 * What the mounts of this container say against the path that kubelet is told, and what to write instead; undefined
 * where they say nothing.
 */
export function adviceOnHostPath(
  { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }: DriverPaths,
  mounts = readMounts(),
): { readonly problem: string; readonly fix: string } | undefined {
  if (!csiSocketPath?.startsWith("/") || mounts === undefined) return undefined;
  const verdict = judgeHostPath({
    csiSocketPath: realPathOf(csiSocketPath),
    kubeletRegistrationPath,
    pluginRegistrationPath: realPathOf(pluginRegistrationPath),
    mounts,
  });
  return explainHostPath(verdict);
}

/** One line on the likely cause of kubelet's refusal; undefined where kubelet's text must speak for itself. */
export function explainRefusal(text: string, paths: DriverPaths): string | undefined {
  const cannotReach = /dial unix |code = Unimplemented/.test(text);
  const advice = cannotReach ? adviceOnHostPath(paths) : undefined;
  if (advice) return `${advice.problem}: write ${advice.fix}`;
  return hintForRefusal(text, paths.kubeletRegistrationPath, paths.csiSocketPath === undefined);
}
