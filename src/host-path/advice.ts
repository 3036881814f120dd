import { realPathOf } from "../unix/files";
import { type Mount, mountPlaceOf, readMounts } from "../unix/mounts";
import {
  type DriverPaths,
  explainHostPath,
  type HostPathQuestion,
  type HostPathVerdict,
  judgeHostPath,
} from "./host-path";
import { fillPattern, isPattern, matchSegments, segmentsOf } from "./path-pattern";

type Paths = Pick<HostPathQuestion, "csiSocketPath" | "kubeletRegistrationPath">;

/** Of several verdicts that find no fault, the one that is least sure of it. */
const LEAST_SURE: readonly HostPathVerdict["kind"][] = ["unknown", "ends-alike", "fits"];

/** What is wrong with the path that kubelet gets, and the fix; undefined if no fault is known. */
export async function adviceOnHostPath(paths: DriverPaths, mounts = readMounts()) {
  const verdict = await judgeByMounts(paths, mounts);
  return verdict && explainHostPath(verdict);
}

/** Judges the path that kubelet gets by the mounts of this container; undefined if they do not show it. */
export async function judgeByMounts(
  { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }: DriverPaths,
  mounts: readonly Mount[] | undefined,
): Promise<HostPathVerdict | undefined> {
  if (!csiSocketPath?.startsWith("/") || mounts === undefined) return undefined;
  const registry = await realPathOf(pluginRegistrationPath);
  const judge = (one: Paths) => judgeHostPath({ ...one, pluginRegistrationPath: registry, mounts });
  const paths = { csiSocketPath: await realPathOf(csiSocketPath), kubeletRegistrationPath };
  const matches = isPattern(csiSocketPath) ? mountedMatches(paths, mounts) : [];
  const verdicts = matches.map((match) => backToPattern(judge(match), match, paths.csiSocketPath));
  const ofPattern = judge(paths);
  if (verdicts.length === 0) return ofPattern;
  // Only the container's own layer holds what no mount was made for: no driver is there.
  const isMounted =
    ofPattern.kind !== "not-mounted" && mountPlaceOf(paths.csiSocketPath, mounts)?.mountPoint !== "/";
  if (isMounted) verdicts.push(ofPattern);
  const leastSure = LEAST_SURE.map((kind) => verdicts.find((verdict) => verdict.kind === kind)).find(Boolean);
  return verdicts.find(explainHostPath) ?? leastSure;
}

/** The paths for each mount that fits a pattern up to one of its stars: a container may mount each driver's directory. */
function mountedMatches(
  { csiSocketPath: pattern, kubeletRegistrationPath }: Paths,
  mounts: readonly Mount[],
): readonly Paths[] {
  const segments = segmentsOf(pattern);
  const stars = segments.filter(isPattern).length;
  const hostSegments = segmentsOf(kubeletRegistrationPath);
  if (hostSegments.filter(isPattern).length !== stars) return [];
  return mounts.flatMap(({ mountPoint }) => {
    const captures = matchSegments(segments, segmentsOf(mountPoint)) ?? [];
    if (captures.length === 0) return [];
    const filled = [...captures, ...Array<string>(stars - captures.length).fill("*")];
    return {
      csiSocketPath: fillPattern({ segments }, filled),
      kubeletRegistrationPath: fillPattern({ segments: hostSegments }, filled),
    };
  });
}

/** The verdict on a match in the words of its pattern: each path has its stars again, from its end on. */
function backToPattern(verdict: HostPathVerdict, match: Paths, pattern: string): HostPathVerdict {
  const segments = segmentsOf(pattern);
  const filled = segmentsOf(match.csiSocketPath);
  const change = (path: string) => {
    const names = path.split("/");
    for (let back = 1; back <= segments.length && names.at(-back) === filled.at(-back); back++)
      names[names.length - back] = segments.at(-back) ?? "";
    return names.join("/");
  };
  switch (verdict.kind) {
    case "differs":
      return { ...verdict, hostPath: change(verdict.hostPath) };
    case "ends-alike":
      return { ...verdict, path: change(verdict.path) };
    case "differs-on-disk": {
      const { path, inKubeletRoot } = verdict;
      return { ...verdict, path: change(path), inKubeletRoot: inKubeletRoot && change(inKubeletRoot) };
    }
    default:
      return verdict;
  }
}
