import { explainHostPath, fixText, type HostPathVerdict, judgeHostPath } from "../../host-path";
import { readMounts, realPathOf } from "../../sockets/mount-table";
import { hintForRefusal } from "./hints";

/** The names of the driver's socket, and the folder whose mount shows where kubelet's root is. */
export interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
}

/** What the mounts of this container say of the path that kubelet is told; undefined where they say nothing. */
export function judgeByMounts(
  { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }: DriverPaths,
  mounts: ReturnType<typeof readMounts>,
): HostPathVerdict | undefined {
  if (!csiSocketPath?.startsWith("/") || mounts === undefined) return undefined;
  return judgeHostPath({
    csiSocketPath: realPathOf(csiSocketPath),
    kubeletRegistrationPath,
    pluginRegistrationPath: realPathOf(pluginRegistrationPath),
    mounts,
  });
}

/** What is wrong with that path, and what to write instead; undefined where nothing is known to be. */
export function adviceOnHostPath(paths: DriverPaths, mounts = readMounts()) {
  const verdict = judgeByMounts(paths, mounts);
  return verdict && explainHostPath(verdict);
}

/** One line on the likely cause of kubelet's refusal; undefined where kubelet's text must speak for itself. */
export function explainRefusal(text: string, paths: DriverPaths, mounts = readMounts()): string | undefined {
  const cannotReach = /dial unix |code = Unimplemented/.test(text);
  const advice = cannotReach ? adviceOnHostPath(paths, mounts) : undefined;
  if (advice) return `${advice.problem}: ${fixText(advice)}`;
  return hintForRefusal(text, paths.kubeletRegistrationPath, paths.csiSocketPath === undefined);
}
