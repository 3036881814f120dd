import { isPattern, matchSegments } from "../../../host-path/path-pattern";
import { fitsSocketPath } from "../../../unix/socket-path";
import { type Check, ok, problem, unknown, type Verdict, type Verdicts } from "../../findings/finding";
import { isTemplate } from "../../rules/objects";
import { judgeDriverPlace } from "../../rules/registration-directory";
import { tooLong } from "../../rules/words";
import {
  type Deployment,
  type LiteralVariable,
  type ManifestFacts,
  type MountedFolder,
  mountOf,
  onHost,
} from "../deployment";
import { fillIn } from "../read-program";

export const manifestDriverPath: Check<ManifestFacts> = {
  code: "CSI102",
  name: "manifest-driver-path",
  verdicts: ({ deployments }) => deployments.map(judge),
};

interface Paths {
  readonly csiAddress: string;
  readonly told: string;
  /** What to do where they do not fit. */
  readonly advice: (expected: string) => string;
}

function judge(deployment: Deployment): Verdicts {
  const { place, unseen, settings, literals, mounts } = deployment;
  const { csiAddress, kubeletRegistrationPath: told, refusal } = settings;
  if (unseen !== undefined || refusal !== undefined || told === "") return undefined;
  if (literals.length > 0) return literals.map((variable) => judgeLiteral(place, variable));
  const below = isPattern(csiAddress) ? pathsBelow(csiAddress, told, mounts) : [];
  const whole = { csiAddress, told, advice: (path: string) => `write --kubelet-registration-path=${path}` };
  const all = below.length > 0 && mountOf(csiAddress, mounts) === undefined ? below : [whole, ...below];
  return all.map((paths) => judgePaths(deployment, paths));
}

function judgeLiteral(place: string, variable: LiteralVariable): Verdict {
  const why = variable.isLate
    ? "which is set behind the variable that takes it"
    : "and no variable of the container is called so";
  return problem(place, `takes $(${variable.name}), ${why}: it stays as it is`, fillIn(variable));
}

/** The paths of a pattern in each mount below its folder that fits it: there the first stars are known. */
function pathsBelow(csiAddress: string, told: string, mounts: readonly MountedFolder[]): readonly Paths[] {
  const segments = csiAddress.split("/");
  return mounts.flatMap(({ mountPath, hostPath }): readonly Paths[] => {
    const names = mountPath.split("/");
    const stars = matchSegments(segments, names) ?? [];
    if (stars.length === 0) return [];
    const rest = segments.slice(names.length);
    const fill = (path: string) => stars.reduce((text, star) => text.replace("*", () => star), path);
    const folder = told
      .split("/")
      .slice(0, -rest.length || undefined)
      .join("/");
    return [
      {
        csiAddress: [mountPath, ...rest].join("/"),
        told: fill(told),
        advice: () =>
          hostPath === fill(folder)
            ? `write --kubelet-registration-path=${[folder, ...rest].join("/")}`
            : `mount the hostPath ${fill(folder)} at ${mountPath}`,
      },
    ];
  });
}

function judgePaths({ place, mounts }: Deployment, { csiAddress, told, advice }: Paths): Verdict {
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(
      place,
      `has nothing mounted where --csi-address=${csiAddress} is`,
      isPattern(csiAddress)
        ? `mount the hostPath ${folderOf(told)} at ${folderOf(csiAddress)}`
        : `mount the driver's hostPath volume at ${folderOf(csiAddress)}`,
    );
  if (mount.volumeKind === undefined)
    return problem(
      place,
      `mounts the volume ${mount.volume}, which the pod does not have`,
      "add that volume",
    );
  const expected = onHost(csiAddress, mounts);
  if (expected === undefined)
    return problem(
      place,
      `has the driver's socket in a volume of kind ${mount.volumeKind}, where kubelet cannot reach it`,
      "make it a hostPath: <kubelet root>/plugins/NAME",
    );
  const template = [told, expected].find(isTemplate);
  if (template !== undefined) return unknown(place, `has paths that are to be filled in: ${template}`);
  if (!fitsSocketPath(told))
    return problem(
      place,
      `tells kubelet ${told}, which ${tooLong(Buffer.byteLength(told))}`,
      "use a shorter folder",
    );
  if (plain(told) !== expected)
    return problem(
      place,
      `tells kubelet ${told}, but on the host the driver's socket is ${expected}`,
      advice(expected),
    );
  return (
    (isPattern(told) ? undefined : judgeDriverPlace(told, place, "has the driver's socket")) ??
    ok(place, `tells kubelet where the driver's socket is on the host: ${told}`)
  );
}

/** Of a pattern, the folder in front of its first star. */
function folderOf(path: string): string {
  const [certain = ""] = path.split("*");
  return certain.slice(0, certain.lastIndexOf("/")) || "/";
}

const plain = (path: string) => path.replace(/\/{2,}/g, "/");
