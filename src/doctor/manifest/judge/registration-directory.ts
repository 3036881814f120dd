import { dirname } from "node:path/posix";
import { list, text, tree } from "../../../kube-api/objects";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import { MAX_SOCKET_PATH_BYTES } from "../../../unix/socket-path";
import { directoryFor, isRegistrationDirectory, rootIn } from "../../rules/registration-directory";
import { isTemplate, tooLong } from "../../rules/words";
import type { Deployment } from "../read/deployments";
import { mountOf, onHost } from "../read/mounts";
import { eachDeployment, ok, problem, type Statement, unknown } from "./each-deployment";

export const manifestRegistrationDirectory = eachDeployment(
  "CSI103",
  "manifest-registration-directory",
  judgeDirectory,
);

function judgeDirectory({
  unseen,
  program,
  settings,
  mounts,
  pod,
  source,
}: Deployment): Statement | undefined {
  if (unseen !== undefined) return undefined;
  const { pluginRegistrationPath: directory, kubeletRegistrationPath: told, csiAddress } = settings;
  const kubeletPaths = list(source.pod.volumes)
    .map((volume) => text(tree(tree(volume).hostPath).path).replace(/(?<=[^/])\/+$/, ""))
    .filter((path) => rootIn(path) !== undefined);
  const driverPath = onHost(csiAddress, mounts) ?? told;
  const mountIt = `mount the hostPath ${directoryFor(driverPath, told, ...kubeletPaths)} there`;
  const mount = mountOf(directory, mounts);
  if (mount === undefined && program.kind === "unknown") return undefined;
  if (mount === undefined) return problem(`has nothing mounted at ${directory}`, mountIt);
  if (mount.hostPath === undefined)
    return problem(
      `has a volume of kind ${mount.volumeKind ?? "none"} at ${directory}, where kubelet does not look`,
      mountIt,
    );
  if (mount.isReadOnly)
    return problem(
      `mounts ${directory} read-only: no socket can be made there`,
      "take readOnly off that mount",
    );
  const host = onHost(directory, mounts) ?? "";
  if (isTemplate(host)) return unknown(`has a directory with a placeholder that is not filled in: ${host}`);
  if (!isRegistrationDirectory(host))
    return problem(`mounts ${host} at ${directory}, and kubelet looks in its plugins_registry only`, mountIt);
  const [name] = pod.driverNames;
  const bytes = Buffer.byteLength(registrationSocketPath(host, name ?? "x"));
  if (bytes > MAX_SOCKET_PATH_BYTES)
    return problem(
      `makes its socket in ${host}, where ${name === undefined ? "the shortest name" : `${name}-reg.sock`} ${tooLong(bytes)}`,
      `give kubelet a shorter --root-dir${name === undefined ? "" : ", or the driver a shorter name"}`,
    );
  return judgeRoots(host, rootIn(driverPath), kubeletPaths);
}

/** A node has one kubelet root. */
function judgeRoots(host: string, ofDriver: string | undefined, paths: readonly string[]): Statement {
  const root = dirname(host);
  const ofPods = paths.filter((path) => /\/pods$/.test(path));
  const oneOf = (other: string) => {
    const rest = ofPods.find((path) => rootIn(path) === root) ?? ofPods[0];
    return rest === undefined
      ? `use one of them everywhere: ${root}, or ${other}`
      : `use one everywhere: the pod mounts ${rest}`;
  };
  if (ofDriver !== undefined && ofDriver !== root)
    return problem(
      `registers in ${root} and has the driver's socket in ${ofDriver}: a node has one kubelet root`,
      oneOf(ofDriver),
    );
  const [other] = ofPods.some((path) => rootIn(path) === root) ? [] : ofPods;
  return other === undefined
    ? ok(`makes its socket where kubelet looks: ${host}`)
    : problem(
        `registers in ${root}, and its pod mounts ${other}: a node has one kubelet root`,
        `use one of them everywhere: ${root}, or ${dirname(other)}`,
      );
}
