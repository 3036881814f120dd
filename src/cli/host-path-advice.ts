import type { Mount } from "../mounts";
import { parseCsiAddress } from "../registrar/driver/csi-address";
import { adviceOnHostPath } from "../registrar/registration/explain-refusal";
import type { Flags } from "./flags";
import { isNodeWide } from "./pattern-warnings";

/** A path that kubelet is told and under which it will not find the driver. */
export interface HostPathAdvice {
  readonly told: string;
  readonly advice: { readonly problem: string; readonly fix: string };
}

/**
 * Goes by the mounts of this container: whether the paths that kubelet is told are where the drivers' sockets are on the
 * host. The usual mistake is a path of the container. Nothing where that cannot be seen, as outside of Linux.
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
    const csiSocketPath = pathIn(csiAddress);
    const advice = adviceOnHostPath(
      { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath },
      mounts,
    );
    return advice === undefined ? [] : [{ told: kubeletRegistrationPath, advice }];
  });
}

/** Undefined for an address that is none: another line tells of that. */
function pathIn(csiAddress: string): string | undefined {
  try {
    return parseCsiAddress(csiAddress);
  } catch {
    return undefined;
  }
}
