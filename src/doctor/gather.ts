import { loadProtos } from "../grpc/protos";
import { createQuestioner } from "./calls";
import { lookAtDirectory } from "./directory-facts";
import type { Facts, Target } from "./facts";
import { KNOWN_DIRECTORIES, lookAtSelinux, otherDirectories } from "./host-facts";
import { listRegistrations, lookAtRegistration } from "./registration-facts";
import { lookAtSocket } from "./socket-facts";

/** How to look. */
export interface GatherOptions {
  /** Bounds each call, in milliseconds; NodeGetInfo takes up to ten times as long. Default 1,000. */
  readonly timeoutMs?: number;
  /** Our own user ID, which is told and not used; undefined where there are none. */
  readonly uid: number | undefined;
  /** Where the kernel tells of itself. Default `/proc` and `/sys`. */
  readonly procfs?: string;
  readonly sysfs?: string;
  /** Registration directories of kubelets to know of. Default `KNOWN_DIRECTORIES`. */
  readonly knownDirectories?: readonly string[];
}

/**
 * Sees what there is to see, and changes nothing: no file is made, no right tried, and our own registrars do not take
 * its calls for kubelet's. Whatever cannot be seen is a fact too; it rejects only for a bug.
 */
export async function gatherFacts(target: Target, options: GatherOptions): Promise<Facts> {
  const {
    timeoutMs = 1_000,
    procfs = "/proc",
    sysfs = "/sys",
    knownDirectories = KNOWN_DIRECTORIES,
  } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath } = target;
  const questioner = createQuestioner(loadProtos(), timeoutMs);
  const lookAtDriver = async (path: string) => questioner.askDriver(await lookAtSocket(path));
  const registrationPaths = listRegistrations(pluginRegistrationPath).paths;
  const [driver, kubeletPath, directory, registrations] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtDriver(csiSocketPath),
    kubeletRegistrationPath === undefined ? undefined : lookAtSocket(kubeletRegistrationPath),
    lookAtDirectory(pluginRegistrationPath, procfs),
    Promise.all(registrationPaths.map((path) => lookAtRegistration(path, questioner))),
  ]);
  const host = {
    uid: options.uid,
    selinux: lookAtSelinux(procfs, sysfs),
    otherDirectories: otherDirectories(pluginRegistrationPath, knownDirectories),
  };
  return { target, driver, kubeletPath, directory, registrations, host };
}
