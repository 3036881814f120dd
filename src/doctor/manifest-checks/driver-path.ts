import { isPattern } from "../../registrar/node-wide/path-pattern";
import { type Deployment, isTemplate, type ManifestFacts, mountOf, onHost } from "../deployment";
import { type Check, ok, problem, unknown, type Verdict, warning } from "../finding";

export const manifestDriverPath: Check<ManifestFacts> = {
  code: "CSI102",
  name: "manifest-driver-path",
  asks: "Whether `--kubelet-registration-path` is what the host calls the socket that `--csi-address` names, by the volumes.",
  matters:
    "Kubelet dials that path on the host. Given the container's path it finds nothing, and refuses the driver.",
  fix: "Write the flag that is named: the path of the hostPath volume, and behind it the socket's name.",
  verdicts: ({ deployments }) => deployments.map(judge),
};

function judge({ place, unseen, settings, mounts }: Deployment): Verdict | undefined {
  const { csiAddress, kubeletRegistrationPath: told, refusal } = settings;
  if (unseen !== undefined || refusal !== undefined || told === "") return undefined;
  const mount = mountOf(csiAddress, mounts);
  if (mount === undefined)
    return problem(
      place,
      `has nothing mounted where --csi-address=${csiAddress} is`,
      `mount the driver's hostPath volume at ${csiAddress.slice(0, csiAddress.lastIndexOf("/")) || "/"}`,
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
  if (plain(told) !== expected)
    return problem(
      place,
      `tells kubelet ${told}, but on the host the driver's socket is ${expected}`,
      `write --kubelet-registration-path=${expected}`,
    );
  return /\/plugins_registry\//.test(told) && !isPattern(told)
    ? warning(
        place,
        `has the driver's socket in kubelet's registration directory: kubelet takes the driver for a plugin`,
        "move the driver's socket to <kubelet root>/plugins/NAME/",
      )
    : ok(place, `tells kubelet where the driver's socket is on the host: ${told}`);
}

const plain = (path: string) => path.replace(/\/{2,}/g, "/");
