import { isPattern, matchSegments, segmentsOf } from "../../../host-path/path-pattern";
import { fitsSocketPath } from "../../../unix/socket-path";
import { judgeDriverPlace } from "../../rules/registration-directory";
import { isTemplate, tooLong } from "../../rules/words";
import { type MountedDirectory, mountOf, onHost } from "../read/mounts";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

interface Paths {
  readonly csiAddress: string;
  readonly told: string;
  /** What to do if kubelet gets another path than the socket's on the host. */
  readonly advice: string;
}

export const manifestDriverPath = eachDeployment("CSI102", "manifest-driver-path", (deployment) => {
  const { place, unseen, settings, literals, mounts } = deployment;
  const { csiAddress, kubeletRegistrationPath: told, refusal } = settings;
  if (unseen !== undefined || refusal !== undefined || told === "") return undefined;
  if (literals.length > 0)
    return literals.map(({ name, why, advice }) =>
      problem(`takes $(${name}), ${why}: it stays as it is`, advice),
    );
  if (!csiAddress.startsWith("/") && !isTemplate(csiAddress))
    return warning(
      `has --csi-address=${csiAddress}, relative to the directory in which the container starts: where that is on the host is not known`,
      "write an absolute path",
    );
  const advice = `write --kubelet-registration-path=${onHost(csiAddress, mounts)}`;
  const matches = pathsBelow(csiAddress, told, mounts);
  const isOnlyBelow = matches.length > 0 && mountOf(csiAddress, mounts) === undefined;
  const all = isOnlyBelow ? matches : [{ csiAddress, told, advice }, ...matches];
  return all.map((paths) => judgePaths(paths, mounts, place));
});

/** The paths in each mount that fits a pattern up to one of its stars. */
function pathsBelow(csiAddress: string, told: string, mounts: readonly MountedDirectory[]): readonly Paths[] {
  const segments = segmentsOf(csiAddress);
  return mounts.flatMap(({ mountPath, hostPath }) => {
    const names = segmentsOf(mountPath);
    const stars = matchSegments(segments, names) ?? [];
    if (stars.length === 0) return [];
    const rest = segments.slice(names.length);
    const toldNames = told.split("/");
    const directory = toldNames.slice(0, toldNames.length - rest.length).join("/");
    const fill = (path: string) => stars.reduce((text, star) => text.replace("*", () => star), path);
    const advice =
      hostPath === fill(directory)
        ? `write --kubelet-registration-path=${[directory, ...rest].join("/")}`
        : `mount the hostPath ${fill(directory)} at ${mountPath}`;
    return { csiAddress: [mountPath, ...rest].join("/"), told: fill(told), advice };
  });
}

function judgePaths(
  { csiAddress, told, advice }: Paths,
  mounts: readonly MountedDirectory[],
  place: string,
): Statement {
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(
      `has nothing mounted where --csi-address=${csiAddress} is`,
      isPattern(csiAddress)
        ? `mount the hostPath ${directoryOf(told)} at ${directoryOf(csiAddress)}`
        : `mount the driver's hostPath volume at ${directoryOf(csiAddress)}`,
    );
  if (mount.volumeKind === undefined)
    return problem(`mounts the volume ${mount.volume}, which the pod does not have`, "add that volume");
  const expected = onHost(csiAddress, mounts);
  if (expected === undefined)
    return problem(
      `has the driver's socket in a volume of kind ${mount.volumeKind}, where kubelet cannot reach it`,
      "make it a hostPath: <kubelet root>/plugins/NAME",
    );
  const template = [told, expected].find(isTemplate);
  if (template !== undefined)
    return unknown(`has paths with placeholders that are not filled in: ${template}`);
  if (!fitsSocketPath(told))
    return problem(
      `tells kubelet ${told}, which ${tooLong(Buffer.byteLength(told))}`,
      "use a shorter directory",
    );
  if (told.replace(/\/{2,}/g, "/") !== expected)
    return problem(`tells kubelet ${told}, but on the host the driver's socket is ${expected}`, advice);
  return (
    (isPattern(told) ? undefined : judgeDriverPlace(told, place, "has the driver's socket")) ??
    ok(`tells kubelet where the driver's socket is on the host: ${told}`)
  );
}

/** Of a pattern, the directory in front of its first star. */
function directoryOf(path: string): string {
  const [certain = ""] = path.split("*");
  return certain.slice(0, certain.lastIndexOf("/")) || "/";
}
