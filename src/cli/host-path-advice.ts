import { dirname } from "node:path";
import { attempt } from "../base/errors";
import { adviceOnHostPath } from "../host-path/advice";
import type { Mount } from "../host-path/mounts";
import { isPattern } from "../host-path/path-pattern";
import { parseCsiAddress } from "../unix/csi-address";
import { isFolder, statsOf } from "../unix/files";
import type { Flags } from "./flags";
import { isNodeWide } from "./pattern-warnings";

/** A path that kubelet is told and under which it will not find the driver. */
export interface HostPathAdvice {
  readonly told: string;
  readonly advice: { readonly problem: string; readonly fix: string };
}

/**
 * Goes by the mounts of this container: whether the paths that kubelet is told are where the drivers' sockets are on the
 * host. The usual mistake is a path of the container. Nothing where that cannot be seen, as outside of Linux, and where
 * the address itself is wrong: the socket may come later, but not in a folder that is not there.
 */
export function adviceOnHostPaths(
  flags: Pick<Flags, "csiAddress" | "every">,
  paths: { readonly kubeletRegistrationPath: string; readonly pluginRegistrationPath: string },
  mounts?: readonly Mount[],
): readonly HostPathAdvice[] {
  const { pluginRegistrationPath } = paths;
  const every = isNodeWide(flags) ? flags.every.csiAddress : [flags.csiAddress];
  const told = isNodeWide(flags) ? flags.every.kubeletRegistrationPath : [paths.kubeletRegistrationPath];
  return every.flatMap((csiAddress, index) => {
    const kubeletRegistrationPath = told[index];
    if (kubeletRegistrationPath === undefined) return [];
    // An address that is none is told of by another line.
    const csiSocketPath = attempt(() => parseCsiAddress(csiAddress));
    if (csiSocketPath !== undefined && !isPattern(csiSocketPath) && !mayBeSocket(csiSocketPath)) return [];
    const advice = adviceOnHostPath(
      { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath },
      mounts,
    );
    return advice === undefined ? [] : [{ told: kubeletRegistrationPath, advice }];
  });
}

function mayBeSocket(path: string): boolean {
  const stats = statsOf(path);
  return stats === undefined ? isFolder(dirname(path)) : stats.isSocket();
}
