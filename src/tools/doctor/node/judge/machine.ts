import { type MountPlace, onFileSystem } from "../../../../unix/mounts";
import type { Cause } from "../../findings/causes";
import {
  check,
  ok,
  problem,
  skipped,
  unknown,
  unsure,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { atLeast, mayBeSo } from "../../findings/least";
import { KNOWN_DIRECTORIES, MOUNT_IT } from "../../findings/registration-directory";
import {
  doubted,
  firstSeen,
  type Gap,
  ifYes,
  nothing,
  type Truth,
  withheld,
  words,
} from "../../findings/seen";
import { sayWhy } from "../../findings/why";
import type { Folder } from "../read/looks";
import type { SeenSocket } from "../read/socket";
import { belowRoot, LIMITS, ownershipText, remedyForErrno, socketText } from "./trouble";
import type { Answering, View } from "./view";

const commandLine = check("CSI001", "command-line", ({ target: { startProblem } }: View) => {
  if (startProblem === undefined) return undefined;
  const text = `does not start with these arguments: ${startProblem}`;
  return problem("the registrar", text, "correct that argument in the DaemonSet");
});

/** A check of the registration directory, where there is one. */
export const folderCheck = (code: string, name: string, judge: (folder: Folder, view: View) => Verdicts) =>
  check(code, name, (view: View) => view.folder.map((one) => judge(one, view)));

/** A kubelet that does not run, or gets no events, makes no call and logs nothing. */
const kubelet = folderCheck("CSI012", "kubelet", ({ kubeletSocket, path }, view) => [
  kubeletSocket.isHidden({
    yes: () => judgeNoKubelet(kubeletSocket.path, "is not there, nor is its directory", view),
    no: () => kubeletSocket.at.items((there) => judgeKubeletSocket(there, view)),
    unknown: withheld,
  }),
  view.processes.kubelets
    .filter(({ isHere }) => isHere)
    .map(({ pid, isDeaf }) => {
      const who = `(process ${pid})`;
      const text = `${who} does not watch ${path}: its inotify watches are on other files`;
      const fix = `restart kubelet: the directory was made anew, or ${LIMITS} were reached, which kubelet's log says`;
      return isDeaf({
        yes: () => problem("kubelet", text, fix, KUBELET_DOWN),
        no: () => undefined,
        unknown: ([gap]) => unsureOfKubelet(`${who} may not watch ${path}`, gap, view),
      });
    }),
]);

function judgeKubeletSocket(socket: SeenSocket, view: View): Verdicts {
  const { kind, path } = socket;
  if (kind === "accepting") return undefined;
  const dead = `does not seem to run: no process listens on its socket ${path}`;
  if (kind === "dead") return problem("kubelet", dead, SEE_SERVICE, KUBELET_DOWN);
  if (kind === "stuck")
    return unknown("kubelet", `may hang: its socket ${path} ${socketText(socket)}`, SEE_SERVICE);
  return judgeNoKubelet(path, socketText(socket), view);
}

function judgeNoKubelet(path: string, how: string, { processes, reporting }: View): Verdicts {
  const text = `is not seen from here, neither its process nor its socket: ${path} ${how}`;
  const isSeen = processes.kubelets.contains().or(reporting.contains(hasBeenCalled));
  const say = () => skipped("kubelet", text, SEE_HOST);
  return atLeast(isSeen, { yes: nothing, least: say, unknown: withheld });
}
/** By kubelet. */
const hasBeenCalled = ({ plugin }: Answering): Truth =>
  plugin.report.is(({ hasKubeletCalled, state }) => hasKubeletCalled || state === "registered");

const SEE_HOST =
  "see whether it runs; from a container, only kubectl debug node with --host-root=/host shows it";

const KUBELET_DOWN = { kind: "kubelet-down" } as const;
const SEE_SERVICE = {
  fix: "see the service of kubelet, k3s, RKE2, k0s or microk8s",
  command: "systemctl status kubelet",
};

function unsureOfKubelet(text: string, { why }: Gap, view: View) {
  const fix =
    why.kind === "errno"
      ? remedyForErrno(why.errno, view)
      : `see kubelet's log: it says whether ${LIMITS} were reached`;
  return unknown("kubelet", `${text}: ${sayWhy(why).text}`, fix);
}

const directoryCheck = check("CSI008", "registration-directory", ({ directory, target, isForAll }: View) =>
  directory.items((found): Verdict => {
    const { path, kind } = found;
    if (kind === "directory") return ok(path, `is a directory (${ownershipText(found.ownership)})`);
    if (kind === "not-a-directory") return problem(path, `is ${found.fileType}, not a directory`, MOUNT_IT);
    return target.isGuess && isForAll
      ? unknown(path, "is not there, nor is that of another usual kubelet root", NO_NODE)
      : problem(path, "is not there", belowRoot("plugin-registration-path", path, target, MOUNT_IT));
  }),
);

const NO_NODE =
  "on a node, name kubelet's root with KUBELET_ROOT_DIR; from elsewhere, registrar doctor --cluster looks at every node through kubectl";

/** What else keeps a registrar from writing there, it says itself. */
const directoryWritable = folderCheck("CSI009", "directory-writable", ({ path, isReadOnly, isFull }) => [
  ifYes(isReadOnly, () => problem(path, "is mounted read-only", "remove readOnly from the volume mount")),
  ifYes(isFull, () =>
    warning(path, "is on a file system without a free inode: no socket can be made there", FREE_INODES),
  ),
]);

const FREE_INODES = {
  fix: "delete what is not needed on that file system; see how many it has",
  command: "df -i",
};

const directoryKubelets = folderCheck("CSI010", "directory-kubelets", (directory, view) => {
  const { reporting, processes } = view;
  const { path, place } = directory;
  const { kubelets } = processes;
  const isWatched = kubelets.contains(({ isHere }) => isHere);
  const called = reporting
    .filter(hasBeenCalled)
    .map((proof): Verdicts => ok(path, `is kubelet's: it has called on ${proof.path}`));
  const others = kubelets
    .filter(() => isWatched.not())
    .map((other) => {
      const text = `is not what kubelet (process ${other.pid}) watches: that is ${other.directory}`;
      return unknown(path, text, `look there: --plugin-registration-path=${other.directory}`);
    });
  return firstSeen(
    called,
    ifYes(isWatched, () => ok(path, "is what kubelet watches, by its --root-dir")),
    others,
    place.map((one) => judgeMount(path, one, view)),
  ).some({
    yes: ({ first }) => first,
    no: nothing,
    unknown: () => unknown(path, "cannot be recognised as kubelet's: the mounts cannot be read", COMPARE),
  });
});

function judgeMount(path: string, place: MountPlace, view: View): Verdicts {
  const { reporting, processes } = view;
  const isKubelets = processes.kubelets
    .contains(({ isHere }) => isHere)
    .or(reporting.contains(hasBeenCalled));
  const bad = (text: string, cause?: Cause) => {
    const say = () => problem(path, text, MOUNT_IT, cause);
    return atLeast(isKubelets, { yes: say, least: say, unknown: () => unsure(say()) });
  };
  if (place.path.includes("/kubernetes.io~empty-dir/"))
    return bad("is an emptyDir volume, where kubelet does not look");
  // Seen from its own file system, /var/lib/kubelet/plugins_registry may have lost the head of its path.
  const isUsual = KNOWN_DIRECTORIES.some((known) => known.endsWith(place.path) || place.path.endsWith(known));
  // A root of another name is kubelet's only if kubelet calls.
  const isAwaited = reporting.contains(({ plugin }) =>
    plugin.report.is(({ state }) => state === "listening"),
  );
  const isNamedSo = mayBeSo(isAwaited.not())
    .and(place.path.endsWith("/kubelet/plugins_registry"))
    .or(isUsual);
  const where = onFileSystem(path, place.path);
  const other = () => skipped(path, `is not the registration directory of a known kubelet${where}`, COMPARE);
  const inContainer = "belongs to the container: nothing is mounted there";
  return isNamedSo({
    yes: () => judgeUsual(path, `is at a usual path of kubelet's directory${where}`, view),
    no: () => (place.fileSystem === "overlay" ? bad(inContainer, NOT_KUBELETS) : other()),
    unknown: () => doubted(other()),
  });
}

function judgeUsual(path: string, usual: string, { host, processes }: View): Verdicts {
  const say = () => ok(path, usual);
  const byProcesses = () =>
    // Another finding says which processes could not be read.
    atLeast(
      processes.kubelets.contains(({ isHere }) => isHere),
      { yes: say, least: say, unknown: withheld },
    );
  const beside = "; whether this node has another one cannot be read: ";
  return host.otherDirectories
    .filter(({ isThere }) => isThere)
    .some({
      yes: (others) => {
        const names = others.joined((one) => one.path);
        return skipped(
          path,
          words`${usual}, and this node has ${names} too: a kubelet watches that of its own root only`,
          COMPARE,
        );
      },
      no: byProcesses,
      unknown: (gaps) => {
        const hidden = gaps.map(({ subject, why }) => `${subject}: ${sayWhy(why).text}`).join(", ");
        return unknown(path, usual + beside + hidden, COMPARE);
      },
    });
}

const COMPARE = "compare with plugins_registry in kubelet's --root-dir";
const NOT_KUBELETS = { kind: "not-kubelets" } as const;

export const machineChecks = [commandLine, kubelet, directoryCheck, directoryWritable, directoryKubelets];
