import { judgeDriverName } from "../../../registrar/driver/driver-name";
import { registrationSocketPath } from "../../../registrar/socket/socket-name";
import { MAX_SOCKET_PATH_BYTES } from "../../../unix/socket-path";
import { check, ok, problem, unknown, unread, warning } from "../../findings/finding";
import { kubeletDirectoryOf, MOUNT_IT } from "../../findings/registration-directory";
import { tooLong } from "../../findings/words";
import { isDead } from "../read/facts";
import { ownershipText, RUN_AS_ROOT, remedyForErrno } from "./sockets";
import type { View } from "./view";

const commandLine = check("CSI001", "command-line", ({ target: { startProblem } }: View) =>
  startProblem === undefined
    ? undefined
    : problem(
        "the registrar",
        `does not start with these arguments: ${startProblem}`,
        "correct that argument in the DaemonSet",
      ),
);

const kubelet = check("CSI012", "kubelet", ({ directory }: View) => {
  if (directory.kind !== "folder") return undefined;
  const { kubeletSocket } = directory;
  const { path } = kubeletSocket;
  if (kubeletSocket.kind === "accepting") return ok("kubelet", `runs: it accepts connections on ${path}`);
  if (isDead(kubeletSocket))
    return problem(
      "kubelet",
      `does not seem to run: no process listens on its socket ${path}`,
      "see: systemctl status kubelet",
      "kubelet-down",
    );
  return unknown("kubelet", "cannot be seen from here: whether it runs is not known");
});

const inotify = check("CSI013", "inotify", ({ directory, host }: View) => {
  if (directory.kind !== "folder") return undefined;
  const { unwatchable } = directory;
  if (host.uid !== 0)
    return unknown("inotify", "limits are per user: only root can try whether kubelet's suffice");
  if (unwatchable === undefined)
    return ok("inotify", "has room for root's watches, so kubelet can see new sockets");
  const limits = new Map([
    ["EMFILE", "max_user_instances"],
    ["ENOSPC", "max_user_watches"],
  ]);
  const limit = limits.get(unwatchable);
  return limit === undefined
    ? unknown("inotify", `could not be tried: ${unwatchable}`)
    : problem(
        "inotify",
        `has no room for root's watches, so kubelet sees no new socket: fs.inotify.${limit} is used up`,
        `raise it: sysctl fs.inotify.${limit}=8192, or more if it is 8192 already`,
      );
});

const selinux = check("CSI014", "selinux", ({ host: { selinux: facts } }: View) => {
  if (facts.kind === "off") return ok("SELinux", "is off");
  if (facts.kind !== "on") return unknown("SELinux", "cannot be seen from here");
  const { mode = "on", label = "an unknown label" } = facts;
  if (mode === "permissive") return ok("SELinux", "is permissive: it forbids nothing");
  const isConfined = /^(container(_\w+)?|svirt_\w+)_t$/.test(label.split(":")[2] ?? "");
  return isConfined
    ? warning(
        "SELinux",
        `is ${mode} and confines us (${label}): the sockets of a privileged driver may be out of our reach`,
        "if a call fails with EACCES, set seLinuxOptions.type: spc_t on the registrar's container",
      )
    : ok("SELinux", `is ${mode}; we run as ${label}; labels of files cannot be seen from here`);
});

const registrationDirectory = check("CSI008", "registration-directory", ({ directory, host }: View) => {
  const { path, kind } = directory;
  switch (kind) {
    case "folder":
      return ok(path, `is a folder (${ownershipText(directory.ownership)})`);
    case "missing":
      return problem(path, "is not there", MOUNT_IT);
    case "not-a-folder":
      return problem(path, `is ${directory.fileType}, not a folder`, MOUNT_IT);
    case "out-of-reach":
      return unread(path, `cannot be read: ${directory.errno}`, remedyForErrno(directory.errno, { host }));
  }
});

const directoryWritable = check("CSI009", "directory-writable", ({ directory, host }: View) => {
  if (directory.kind !== "folder") return undefined;
  const { uid = "unknown" } = host;
  const { path, unwritable, ownership } = directory;
  if (unwritable === undefined) return ok(path, `may be written to by us (user ID ${uid})`);
  if (unwritable === "EROFS")
    return problem(path, "is mounted read-only", "take readOnly off the volume mount");
  if (unwritable === "ENOSPC")
    return problem(
      path,
      "has no room for a socket, ENOSPC: its file system has no inode left",
      "remove files: df -i shows the file system's inodes, a directory with very many files is the usual cause",
    );
  const text = `may not be written to by this user: ${unwritable} (user ID ${uid}; ${ownershipText(ownership)})`;
  // A mount of its own means that this is the registrar's container, with the registrar's user.
  return uid === 0 || directory.place?.isMountPoint
    ? problem(path, text, "run the registrar as root: runAsUser 0, with root's capabilities")
    : unknown(path, text, RUN_AS_ROOT);
});

const directoryKubelets = check("CSI010", "directory-kubelets", (view: View) => {
  const { directory, registrations, host } = view;
  if (directory.kind !== "folder") return undefined;
  const { path, place } = directory;
  const unsure = (text: string) =>
    unknown(path, text, "compare with plugins_registry in kubelet's --root-dir");
  const proof = registrations.find(
    ({ report }) => report?.hasKubeletCalled || report?.state === "registered",
  );
  if (proof) {
    const did = proof.report?.state === "registered" ? "registered what is" : "called";
    return ok(path, `is kubelet's: it ${did} on ${proof.socket.path}`);
  }
  if (place === undefined)
    return unsure("may be kubelet's or not: this system does not show what is mounted");
  if (place.path.includes("/kubernetes.io~empty-dir/"))
    return problem(path, "is an emptyDir volume, where kubelet does not look", MOUNT_IT);
  // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
  const isNamedSo = /^\/plugins_registry$|\/kubelet\/plugins_registry$/.test(place.path);
  const others = host.otherDirectories;
  if (isNamedSo && others.length > 0)
    return unsure(
      `is ${place.path}; this node has ${others.join(", ")} too, and it cannot be seen which one kubelet uses`,
    );
  if (isNamedSo) return ok(path, `has a path of kubelet's: ${place.path}`);
  if (place.fileSystem === "overlay")
    return problem(path, "belongs to the container: nothing is mounted there", MOUNT_IT, "not-kubelets");
  const where = place.path === path ? "is" : `is ${place.path} on its file system, which is`;
  return unsure(`${where} no known kubelet's registration directory`);
});

const socketPath = check("CSI011", "socket-path", ({ targetName: name, directory, target }: View) => {
  if (name === undefined || judgeDriverName(name).kind === "unsafe") return undefined;
  const place = directory.kind === "folder" ? directory.place : undefined;
  const onHost = place ? [kubeletDirectoryOf(place, target.kubeletRegistrationPath)] : [];
  const paths = [directory.path, ...onHost].map((folder) => registrationSocketPath(folder, name));
  const [longest = ""] = paths.sort((one, other) => Buffer.byteLength(other) - Buffer.byteLength(one));
  const bytes = Buffer.byteLength(longest);
  return bytes > MAX_SOCKET_PATH_BYTES
    ? problem(longest, tooLong(bytes), "give the driver a shorter name, or kubelet a shorter --root-dir")
    : ok(longest, `is short enough for a socket: ${bytes} of ${MAX_SOCKET_PATH_BYTES} bytes`);
});

export const machineChecks = [
  commandLine,
  kubelet,
  inotify,
  selinux,
  registrationDirectory,
  directoryWritable,
  directoryKubelets,
  socketPath,
];
