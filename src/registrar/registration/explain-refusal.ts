import { explainHostPath, fixText, type HostPathVerdict, judgeHostPath } from "../../host-path/host-path";
import { readMounts, realPathOf } from "../../host-path/mount-table";
import { mountedMatches } from "../../host-path/mounted-matches";
import { placeOf } from "../../host-path/mounts";
import { isPattern } from "../../host-path/path-pattern";
import { type HintedUser, hintForRefusal } from "./hints";

/** The names of the driver's socket, and the folder whose mount shows where kubelet's root is. */
export interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
}

/** Judges the path that kubelet gets by the mounts of this container; undefined if they do not show it. */
export function judgeByMounts(
  { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }: DriverPaths,
  mounts: ReturnType<typeof readMounts>,
): HostPathVerdict | undefined {
  if (!csiSocketPath?.startsWith("/") || mounts === undefined) return undefined;
  const paths = { csiSocketPath: realPathOf(csiSocketPath), kubeletRegistrationPath };
  const common = { pluginRegistrationPath: realPathOf(pluginRegistrationPath), mounts };
  const judge = (one: typeof paths) => judgeHostPath({ ...one, ...common });
  const matches = isPattern(csiSocketPath) ? mountedMatches(paths, mounts) : [];
  if (matches.length === 0) return judge(paths);
  const verdicts = matches.map((match) => match.inPattern(judge(match)));
  const beside = judge(paths);
  // What no mount was made for is the container's own: no driver is there.
  const isMounted = beside.kind !== "not-mounted" && placeOf(paths.csiSocketPath, mounts)?.mountPoint !== "/";
  if (isMounted) verdicts.push(beside);
  const leastSure = LEAST_SURE.map((kind) => verdicts.find((verdict) => verdict.kind === kind)).find(Boolean);
  return verdicts.find(explainHostPath) ?? leastSure;
}

const LEAST_SURE: readonly HostPathVerdict["kind"][] = ["unknown", "ends-alike", "fits"];

/** What is wrong with that path, and what to write instead; undefined where nothing is known to be. */
export function adviceOnHostPath(paths: DriverPaths, mounts = readMounts()) {
  const verdict = judgeByMounts(paths, mounts);
  return verdict && explainHostPath(verdict);
}

/** One line on the likely cause of kubelet's refusal; undefined where kubelet's text must speak for itself. */
export function explainRefusal(
  text: string,
  paths: DriverPaths,
  user: Pick<HintedUser, "foundByPattern"> = {},
  mounts = readMounts(),
): string | undefined {
  const cannotReach = /dial unix |code = Unimplemented/.test(text);
  const advice = cannotReach ? adviceOnHostPath(paths, mounts) : undefined;
  if (advice) return `${advice.problem}: ${fixText(advice)}`;
  const isInProcess = paths.csiSocketPath === undefined;
  return hintForRefusal(text, paths.kubeletRegistrationPath, { ...user, isInProcess });
}
