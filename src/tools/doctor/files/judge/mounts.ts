import { basename, dirname } from "node:path/posix";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../../host-path/kubelet-roots";
import type { Verdicts } from "../../findings/finding";
import { type Gap, type Text, words } from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import { type MountedDirectory, onHosts } from "../read/pod";
import { problem, unknown } from "./each-registrar";
import { placeholderIn, variableIn } from "./gaps";

export const unfilled = (what: string, gap: Gap) =>
  unknown(`has ${what} not filled in: ${placeholderIn(gap)}`, adviceOn(variableIn(gap)));
const adviceOn = (variable: string | undefined) =>
  variable === undefined ? RENDER_FIRST : `see where its env takes ${variable} from, and compare the paths`;
export const unfilledPath = (gap: Gap) => unfilled("paths with placeholders that are", gap);
export const unfilledDirectory = (gap: Gap) => unfilled("a directory with a placeholder that is", gap);

const inMicroK8s = (path: string) =>
  onHosts(path).replace(new RegExp(`^${DEFAULT_KUBELET_ROOT}(?=/|$)`), KUBELET_ROOTS.microk8s);
/** On most nodes with MicroK8s the default root is a link to its own. */
export const mayBeLinked = (one: string, other: string) => inMicroK8s(one) === inMicroK8s(other);
export const LINKED = "with MicroK8s one may be a link to the other";

/** Whether the driver's socket itself is mounted in the place of its directory. */
export const isSocket = (host: string, csiAddress: string, mountPath: string) =>
  dirname(csiAddress) === mountPath && basename(csiAddress) === basename(host);
export const mountDirectoryOf = (socket: string) => `write path: ${dirname(socket)}, type: Directory`;

/** Kubelet checks the type of a hostPath before it starts the pod. */
export const judgeMount = (
  { type, hostPath, mountPath }: MountedDirectory,
  csiAddress: string,
  judge: () => Verdicts,
): Verdicts => {
  const fixOf = (host = "") =>
    isSocket(host, csiAddress, mountPath) ? mountDirectoryOf(host) : `write type: Directory for ${host}`;
  const wrong = (is: string) =>
    problem(
      `has a hostPath of type ${is} at ${mountPath}, where a directory must be: kubelet starts no such pod, or makes a file there`,
      hostPath.map(fixOf).told("write type: Directory"),
    );
  return type({
    seen: (is) => (["", "Directory", "DirectoryOrCreate"].includes(is) ? judge() : wrong(is)),
    unread: (gap) => unfilled(`a hostPath at ${mountPath} whose type is`, gap),
  });
};

/** Of a mount that has no path on the host. */
export function undeclared({ volume, volumeKind, mountPath }: MountedDirectory): Text | undefined {
  if (volumeKind === undefined)
    return words`mounts the volume ${volume}, and its pod has no volume of that name: the API server refuses it`;
  return volumeKind === "hostPath"
    ? `has a hostPath without a path at ${mountPath}: the API server refuses it`
    : undefined;
}

export const isReadOnly = (text: Text) =>
  problem(words`${text} read-only: no socket can be made there`, "remove readOnly from that mount");
