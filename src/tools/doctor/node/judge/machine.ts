import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import { registrationSocketPath } from "../../../../registrar/model/socket-name";
import { onFileSystem } from "../../../../unix/mounts";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { check, ok, problem, unknown, unread } from "../../findings/finding";
import { KNOWN_DIRECTORIES, kubeletDirectoryOf, MOUNT_IT } from "../../findings/registration-directory";
import { tooLong } from "../../findings/words";
import { isDead } from "../read/facts";
import { ownershipText, RUN_AS_ROOT, remedyForErrno } from "./sockets";
import type { View } from "./view";

const commandLine = check("CSI001", "command-line", ({ target: { startProblem } }: View) => {
  if (startProblem === undefined) return undefined;
  const text = `does not start with these arguments: ${startProblem}`;
  return problem("the registrar", text, "correct that argument in the DaemonSet");
});

const kubelet = check("CSI012", "kubelet", ({ directory }: View) => {
  if (directory.kind !== "directory") return undefined;
  const { kubeletSocket: socket } = directory;
  if (socket.kind === "accepting") return ok("kubelet", `runs: it accepts connections on ${socket.path}`);
  if (!isDead(socket)) return unknown("kubelet", "cannot be seen from here");
  const text = `does not seem to run: no process listens on its socket ${socket.path}`;
  const fix = {
    fix: "see the service of kubelet, k3s, RKE2, k0s or microk8s",
    command: "systemctl status kubelet",
  };
  return problem("kubelet", text, fix, { kind: "kubelet-down" });
});

const registrationDirectory = check("CSI008", "registration-directory", (view: View) => {
  const { directory, target, isWhole } = view;
  const { path, kind } = directory;
  if (kind === "directory") return ok(path, `is a directory (${ownershipText(directory.ownership)})`);
  if (kind === "not-a-directory") return problem(path, `is ${directory.fileType}, not a directory`, MOUNT_IT);
  if (kind === "out-of-reach")
    return unread(path, `cannot be read: ${directory.errno}`, remedyForErrno(directory.errno, view));
  return target.isGuess && isWhole
    ? unread(path, "is not there, nor is that of another usual kubelet root", NO_NODE)
    : problem(path, "is not there", MOUNT_IT);
});

const NO_NODE =
  "on a node, name kubelet's root with KUBELET_ROOT_DIR; from elsewhere, registrar doctor --cluster looks at every node through kubectl";

const directoryWritable = check("CSI009", "directory-writable", ({ directory, host }: View) => {
  if (directory.kind !== "directory") return undefined;
  const { uid = "unknown" } = host;
  const { path, unwritable, ownership } = directory;
  if (unwritable === undefined) return ok(path, `is writable by user ${uid}`);
  if (unwritable === "EROFS")
    return problem(path, "is mounted read-only", "remove readOnly from the volume mount");
  const text = `is not writable by user ${uid}: ${unwritable} (${ownershipText(ownership)})`;
  // A mount of its own means that this is the registrar's container, with the registrar's user.
  return uid === 0 || directory.place?.isMountPoint
    ? problem(path, text, "run the registrar as root: runAsUser 0, with root's capabilities")
    : unknown(path, text, RUN_AS_ROOT);
});

const directoryKubelets = check("CSI010", "directory-kubelets", (view: View) => {
  const { directory, registrations, host, processes } = view;
  if (directory.kind !== "directory") return undefined;
  const { path, place } = directory;
  const unsure = (text: string) =>
    unknown(path, text, "compare with plugins_registry in kubelet's --root-dir");
  const proof = registrations.find(
    ({ report }) => report?.hasKubeletCalled || report?.state === "registered",
  );
  if (proof) return ok(path, `is kubelet's: it has called on ${proof.path}`);
  const { kubelets } = processes;
  const [other] = kubelets.some(({ isHere }) => isHere) ? [] : kubelets;
  if (other !== undefined) {
    const text = `is not what kubelet (process ${other.pid}) watches: that is ${other.directory}`;
    return unread(path, text, `look there: --plugin-registration-path=${other.directory}`);
  }
  if (kubelets.length > 0) return ok(path, "is what kubelet watches, by its --root-dir");
  if (place === undefined) return unsure("cannot be recognised as kubelet's: the mounts cannot be read");
  if (place.path.includes("/kubernetes.io~empty-dir/"))
    return problem(path, "is an emptyDir volume, where kubelet does not look", MOUNT_IT);
  // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
  const isUsual = KNOWN_DIRECTORIES.some((known) => known.endsWith(place.path) || place.path.endsWith(known));
  // A root of another name is kubelet's only if kubelet calls.
  const isSilent = registrations.some(({ report }) => report?.state === "listening");
  const isNamedSo = isUsual || (!isSilent && place.path.endsWith("/kubelet/plugins_registry"));
  const others = host.otherDirectories.join(", ");
  const where = onFileSystem(path, place.path);
  if (isNamedSo && others !== "")
    return unsure(
      `is at a usual path of kubelet's directory${where}, and this node has ${others} too: kubelet watches one of them`,
    );
  if (isNamedSo) return ok(path, `is at a usual path of kubelet's directory${where}`);
  if (place.fileSystem === "overlay")
    return problem(path, "belongs to the container: nothing is mounted there", MOUNT_IT, {
      kind: "not-kubelets",
    });
  return unsure(`is not the registration directory of a known kubelet${where}`);
});

const socketPath = check("CSI011", "socket-path", ({ targetName: name, directory, target }: View) => {
  if (name === undefined || judgeDriverName(name).kind === "unsafe") return undefined;
  const place = directory.kind === "directory" ? directory.place : undefined;
  const onHost = place ? [kubeletDirectoryOf(place, target.kubeletRegistrationPath)] : [];
  const paths = [directory.path, ...onHost].map((directory) => registrationSocketPath(directory, name));
  const [longest = ""] = paths.sort((one, other) => Buffer.byteLength(other) - Buffer.byteLength(one));
  const bytes = Buffer.byteLength(longest);
  return bytes > MAX_SOCKET_PATH_BYTES
    ? problem(longest, tooLong(bytes), "give the driver a shorter name, or kubelet a shorter --root-dir")
    : ok(longest, `is short enough for a socket: ${bytes} of ${MAX_SOCKET_PATH_BYTES} bytes`);
});

export const machineChecks = [
  commandLine,
  kubelet,
  registrationDirectory,
  directoryWritable,
  directoryKubelets,
  socketPath,
];
