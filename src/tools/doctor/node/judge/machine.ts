import { onFileSystem } from "../../../../unix/mounts";
import { check, ok, problem, skipped, unknown, type Verdict } from "../../findings/finding";
import { KNOWN_DIRECTORIES, MOUNT_IT } from "../../findings/registration-directory";
import type { Gap, Truth } from "../../findings/seen";
import { sayWhy } from "../../findings/why";
import type { DirectoryFacts } from "../read/directory";
import { LIMITS, ownershipText, remedyForErrno } from "./trouble";
import type { View } from "./view";

const commandLine = check("CSI001", "command-line", ({ target: { startProblem } }: View) => {
  if (startProblem === undefined) return undefined;
  const text = `does not start with these arguments: ${startProblem}`;
  return problem("the registrar", text, "correct that argument in the DaemonSet");
});

/** A kubelet that does not run, or gets no events, makes no call and logs nothing. */
const kubelet = check("CSI012", "kubelet", (view: View) => {
  const { folder, processes } = view;
  if (folder === undefined) return undefined;
  const { kubeletSocket, path } = folder;
  const running = processes.kubelets
    .filter(({ isHere }) => isHere)
    .each(({ pid, isDeaf }) => {
      const who = `(process ${pid})`;
      const text = `${who} does not watch ${path}: its inotify watches are on other files`;
      const fix = `restart kubelet: the directory was made anew, or ${LIMITS} were reached, which kubelet's log says`;
      return isDeaf<Verdict | undefined>({
        yes: () => problem("kubelet", text, fix, KUBELET_DOWN),
        no: () => undefined,
        unknown: ([gap]) => gap && unsureOfKubelet(`${who} may not watch ${path}`, gap, view),
      });
    });
  if (kubeletSocket.kind !== "dead") return [...running];
  const text = `does not seem to run: no process listens on its socket ${kubeletSocket.path}`;
  return [...running, problem("kubelet", text, SEE_SERVICE, KUBELET_DOWN)];
});

const KUBELET_DOWN = { kind: "kubelet-down" } as const;
const SEE_SERVICE = {
  fix: "see the service of kubelet, k3s, RKE2, k0s or microk8s",
  command: "systemctl status kubelet",
};

function unsureOfKubelet(text: string, { why }: Gap, view: View): Verdict {
  const fix =
    why.kind === "errno"
      ? remedyForErrno(why.errno, view)
      : `see kubelet's log: it says whether ${LIMITS} were reached`;
  return unknown("kubelet", `${text}: ${sayWhy(why).text}`, fix);
}

const directoryCheck = check("CSI008", "registration-directory", (view: View) =>
  view.directory.kind === "seen" ? judgeDirectory(view.directory.value, view) : undefined,
);

function judgeDirectory(directory: DirectoryFacts, { target, isWhole }: View): Verdict {
  const { path, kind } = directory;
  if (kind === "directory") return ok(path, `is a directory (${ownershipText(directory.ownership)})`);
  if (kind === "not-a-directory") return problem(path, `is ${directory.fileType}, not a directory`, MOUNT_IT);
  return target.isGuess && isWhole
    ? unknown(path, "is not there, nor is that of another usual kubelet root", NO_NODE)
    : problem(path, "is not there", MOUNT_IT);
}

const NO_NODE =
  "on a node, name kubelet's root with KUBELET_ROOT_DIR; from elsewhere, registrar doctor --cluster looks at every node through kubectl";

/** What else keeps a registrar from writing there, it says itself. */
const directoryWritable = check("CSI009", "directory-writable", ({ folder }: View) =>
  folder?.unwritable === "EROFS"
    ? problem(folder.path, "is mounted read-only", "remove readOnly from the volume mount")
    : undefined,
);

const directoryKubelets = check("CSI010", "directory-kubelets", (view: View) => {
  const { folder, registrations, host, processes } = view;
  if (folder === undefined) return undefined;
  const { path, place } = folder;
  const unseen = (text: string) => skipped(path, text, COMPARE);
  const proof = registrations.known(
    ({ plugin }) => plugin?.report?.hasKubeletCalled === true || plugin?.report?.state === "registered",
  );
  if (proof) return ok(path, `is kubelet's: it has called on ${proof.path}`);
  const { kubelets } = processes;
  if (kubelets.known(({ isHere }) => isHere)) return ok(path, "is what kubelet watches, by its --root-dir");
  const other = kubelets.contains(({ isHere }) => isHere).ifNo(() => kubelets.known(() => true));
  if (other !== undefined) {
    const text = `is not what kubelet (process ${other.pid}) watches: that is ${other.directory}`;
    return unknown(path, text, `look there: --plugin-registration-path=${other.directory}`);
  }
  if (place === undefined)
    return unknown(path, "cannot be recognised as kubelet's: the mounts cannot be read", COMPARE);
  if (place.path.includes("/kubernetes.io~empty-dir/"))
    return problem(path, "is an emptyDir volume, where kubelet does not look", MOUNT_IT);
  // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
  const isUsual = KNOWN_DIRECTORIES.some((known) => known.endsWith(place.path) || place.path.endsWith(known));
  // A root of another name is kubelet's only if kubelet calls.
  const isCalled = registrations
    .contains(({ plugin }) => plugin?.report?.state === "listening")
    .ifNo(() => true);
  const isNamedSo = isUsual || (isCalled && place.path.endsWith("/kubelet/plugins_registry"));
  const { otherDirectories } = host;
  const there = otherDirectories.map((one) => one.isThere.ifYes(() => one.path));
  const others = there.filter((one) => one !== undefined).join(", ");
  const hidden = otherDirectories.flatMap(({ isThere }) => unreadIn(isThere)).join(", ");
  const where = onFileSystem(path, place.path);
  const usual = `is at a usual path of kubelet's directory${where}`;
  if (isNamedSo && others !== "")
    return unseen(`${usual}, and this node has ${others} too: kubelet watches one of them`);
  if (isNamedSo && hidden !== "")
    return unknown(path, `${usual}; whether this node has another one cannot be read: ${hidden}`, COMPARE);
  if (isNamedSo) {
    const say = () => ok(path, usual);
    // Another finding says which processes could not be read.
    return kubelets.contains(({ isHere }) => isHere)<Verdict | undefined>({
      ...{ yes: say, no: say, unknown: () => undefined },
    });
  }
  if (place.fileSystem === "overlay")
    return problem(path, "belongs to the container: nothing is mounted there", MOUNT_IT, NOT_KUBELETS);
  return unseen(`is not the registration directory of a known kubelet${where}`);
});

const COMPARE = "compare with plugins_registry in kubelet's --root-dir";
const NOT_KUBELETS = { kind: "not-kubelets" } as const;

const unreadIn = (isThere: Truth): readonly string[] =>
  isThere<readonly string[]>({
    yes: () => [],
    no: () => [],
    unknown: (gaps) => gaps.map(({ subject, why }) => `${subject}: ${sayWhy(why).text}`),
  });

export const machineChecks = [commandLine, kubelet, directoryCheck, directoryWritable, directoryKubelets];
