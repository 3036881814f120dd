import { KUBELET_ROOTS } from "../../../host-path/kubelet-roots";
import { isWithin } from "../../../host-path/mounts";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import { MAX_SOCKET_PATH_BYTES } from "../../../unix/socket-path";
import { isTemplate } from "../../rules/objects";
import { directoryFor, isRegistrationDirectory } from "../../rules/registration-directory";
import { tooLong } from "../../rules/words";
import { mountOf, onHost } from "../mounts";
import type { Deployment } from "../read-deployments";
import { eachDeployment, ok, problem, type Statement, unknown } from "./each-deployment";

export const manifestRegistrationDirectory = eachDeployment(
  "CSI103",
  "manifest-registration-directory",
  judge,
);

function judge({ unseen, program, settings, mounts }: Deployment): Statement | undefined {
  if (unseen !== undefined) return undefined;
  const { pluginRegistrationPath: folder, kubeletRegistrationPath: told, csiAddress } = settings;
  const driverPath = onHost(csiAddress, mounts) ?? told;
  const mountIt = `mount the hostPath ${directoryFor(driverPath, told)} there`;
  const mount = mountOf(folder, mounts);
  if (mount === undefined && program.kind === "unknown") return undefined;
  if (mount === undefined) return problem(`has nothing mounted at ${folder}`, mountIt);
  if (mount.hostPath === undefined)
    return problem(
      `has a volume of kind ${mount.volumeKind ?? "none"} at ${folder}, where kubelet does not look`,
      mountIt,
    );
  if (mount.isReadOnly)
    return problem(`mounts ${folder} read-only: no socket can be made there`, "take readOnly off that mount");
  const host = onHost(folder, mounts) ?? "";
  if (isTemplate(host)) return unknown(`has a directory with a placeholder that is not filled in: ${host}`);
  if (!isRegistrationDirectory(host))
    return problem(`mounts ${host} at ${folder}, and kubelet looks in its plugins_registry only`, mountIt);
  const bytes = Buffer.byteLength(registrationSocketPath(host, "x"));
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return problem(
      `makes its socket in ${host}, where the shortest name ${tooLong(bytes)}`,
      "give kubelet a shorter --root-dir",
    );
  const [one, other] = [rootOf(host), rootOf(driverPath)];
  return one !== undefined && other !== undefined && one !== other
    ? problem(
        `registers in ${one} and has the driver's socket in ${other}: a node has one kubelet root`,
        `use one of them everywhere: ${one}, or ${other}`,
      )
    : ok(`makes its socket where kubelet looks: ${host}`);
}

/** The known kubelet root that a path is in. */
function rootOf(path: string): string | undefined {
  return Object.values<string>(KUBELET_ROOTS).find((root) => isWithin(path, root));
}
