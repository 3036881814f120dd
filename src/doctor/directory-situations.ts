import { judgeDriverName } from "../registrar/driver/driver-name";
import { registrationSocketPath } from "../registrar/registration/registration-socket";
import { MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";
import type { DirectoryFacts, Facts, SelinuxFacts } from "./facts";
import { kubeletDirectoryOf } from "./kubelet-directory";
import { patientOf } from "./registration-situations";

/** The directory, where it is a folder. */
export function folder({
  directory,
}: Facts): readonly Extract<DirectoryFacts, { readonly kind: "folder" }>[] {
  return directory.kind === "folder" ? [directory] : [];
}

/** What is at the path of the directory. */
export function directory({ directory: found }: Facts) {
  if (found.kind !== "folder" || found.unlistable === undefined) return [found];
  return [{ kind: "out-of-reach", path: found.path, errno: found.unlistable } as const];
}

export function writing(facts: Facts) {
  return folder(facts).map(({ path, unwritable, ownership }) => {
    const about = { path, ownership, uid: facts.host.uid };
    if (unwritable === undefined) return { kind: "allowed", ...about } as const;
    if (unwritable === "EROFS") return { kind: "read-only", path } as const;
    return { kind: "forbidden", errno: unwritable, ...about } as const;
  });
}

/** Whether kubelet watches this very directory, as far as can be told. */
export function kubelets(facts: Facts) {
  return folder(facts).map(({ path, place }) => {
    const proof = facts.registrations.find(({ state }) => state === "registered");
    if (proof) return { kind: "proven", path, socketPath: proof.socket.path } as const;
    if (place === undefined) return { kind: "unseen", path } as const;
    const about = { path, hostPath: place.path, others: facts.host.otherDirectories };
    if (place.path.includes("/kubernetes.io~empty-dir/")) return { kind: "empty-dir", ...about } as const;
    // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
    const isNamedSo = /^\/plugins_registry$|\/kubelet\/plugins_registry$/.test(place.path);
    if (isNamedSo)
      return { kind: about.others.length > 0 ? "one-of-several" : "named-so", ...about } as const;
    return { kind: place.fileSystem === "overlay" ? "container-layer" : "elsewhere", ...about } as const;
  });
}

export function kubelet(facts: Facts) {
  return folder(facts).map(({ kubeletSocket }) => {
    const { kind, path } = kubeletSocket;
    if (kind === "accepting") return { kind: "running", path } as const;
    const isDead = kind === "not-accepting" && kubeletSocket.errno === "ECONNREFUSED";
    return { kind: isDead ? "dead" : "out-of-sight", path } as const;
  });
}

/** Room for kubelet's inotify watches: the limits are per user, so what root cannot watch, kubelet cannot either. */
export function inotify(facts: Facts) {
  return folder(facts).map(({ unwatchable }) => {
    if (facts.host.uid !== 0) return { kind: "other-user" } as const;
    if (unwatchable === undefined) return { kind: "room" } as const;
    if (unwatchable === "EMFILE") return { kind: "full", limit: "max_user_instances" } as const;
    if (unwatchable === "ENOSPC") return { kind: "full", limit: "max_user_watches" } as const;
    return { kind: "failed", errno: unwatchable } as const;
  });
}

export function selinux({ host }: Facts) {
  return [confinement(host.selinux)];
}

function confinement(facts: SelinuxFacts) {
  if (facts.kind !== "on") return facts;
  const { mode, label = "an unknown label" } = facts;
  if (mode === "permissive") return { kind: "permissive" } as const;
  const type = label.split(":")[2] ?? "";
  const about = { label, mode: mode ?? "on" };
  return { kind: /^(container(_\w+)?|svirt_\w+)_t$/.test(type) ? "confined" : "free", ...about } as const;
}

/** The path that kubelet is told, looked at from here. */
export function kubeletPath({ target, driver, kubeletPath: found }: Facts) {
  const { csiSocketPath, kubeletRegistrationPath: path } = target;
  if (path === undefined || found === undefined) return [{ kind: "not-told" } as const];
  if (!path.startsWith("/")) return [{ kind: "relative", path } as const];
  if (found.kind === "too-long") return [found];
  if (/\/plugins_registry\//.test(path)) return [{ kind: "in-registry", path } as const];
  if (path === csiSocketPath) return [{ kind: "same-path", path } as const];
  if (found.kind !== "accepting") return [found];
  const inode = driver && "inode" in driver.socket ? driver.socket.inode : undefined;
  if (inode === undefined) return [found];
  return [{ kind: inode === found.inode ? "same-socket" : "other-socket", path } as const];
}

/** The path that the registration socket has or is to have, here and on the host. */
export function socketPath(facts: Facts) {
  const patient = patientOf(facts);
  if (patient.kind !== "driver" || judgeDriverName(patient.name).kind === "unsafe") return [];
  const asKubeletCallsThem = folder(facts).flatMap(({ place }) =>
    place ? [kubeletDirectoryOf(place, facts.target.kubeletRegistrationPath)] : [],
  );
  const folders = [facts.directory.path, ...asKubeletCallsThem];
  const paths = folders.map((one) => registrationSocketPath(one, patient.name));
  const longest = paths.reduce((one, other) =>
    Buffer.byteLength(other) > Buffer.byteLength(one) ? other : one,
  );
  const bytes = Buffer.byteLength(longest);
  return [{ kind: bytes > MAX_SOCKET_PATH_BYTES ? "too-long" : "fits", path: longest, bytes } as const];
}
