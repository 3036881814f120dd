import type { Stats } from "node:fs";
import { basename, join } from "node:path";
import { attempt, errnoOf, refuse, systemError } from "../../../../base/errors";
import { CONTAINER_DIRECTORY, isNodeWide, nodeDirectory } from "../../../../flags/paths";
import { isProbeMode, parseFlags } from "../../../../flags/table";
import { DEFAULT_KUBELET_ROOT } from "../../../../host-path/kubelet-roots";
import { isSameFile } from "../../../../unix/file-identity";
import { mountPlaceOf, parseMountinfo } from "../../../../unix/mounts";
import { parseCsiAddress } from "../../../../unix/socket-path";
import { behindRegistrar } from "../../../recognise/program";
import { lackedIn } from "../../findings/gap";
import { gapsOf, itemsOf } from "../../findings/opened";
import {
  beyond,
  ifYes,
  type Reading,
  type SeenList,
  truth,
  unsoughtIf,
  type Why,
  whyOf,
} from "../../findings/seen";
import type { NodeGap, NodePart } from "./facts";
import {
  errnoIn,
  isThereNone,
  lookAtEach,
  reachBelow,
  readLink,
  readNames,
  readWhole,
  statsOrErrno,
} from "./files";
import { hostsPath, pathHere, pathOfProcess } from "./paths";
import { lookAtSocket } from "./socket";

/** A process' short name, which can be read without waiting for the process. */
const MAY_BE_REGISTRAR = /^(?:csi-|registrar|cli\.js|node|MainThread)/;
/** k3s and RKE2 run kubelet in their own process, with its flags as `--kubelet-arg`; MicroK8s' kubelite has them in a file. */
const MAY_BE_KUBELET = /^(?:kubelet$|kubelite$|k3s|rke2)/;
/** Flags that no other program has. */
const OWN_FLAG = /^--?(?:csi-address|kubelet-registration-path|plugin-registration-path)(?:=|$)/;
/** They may have the flag in a configuration file, which is not read. Unless they watch the directory, theirs may be any. */
const HAS_CONFIG_FILE = /k3s|rke2|kubelite/;
const ROOT_FLAG = /^(?:--kubelet-arg=)?(?:--?)?root-dir=(.*)$/;

export type RunningRegistrar = NonNullable<Awaited<ReturnType<typeof readRegistrar>>>;
export type RunningKubelet = Exclude<Awaited<ReturnType<typeof readKubelet>>, string | undefined>;

/** Of the files of a process that has ended. */
const GONE = ["ENOENT", "ESRCH"];
const ALL_PROCESSES = "the processes of this node";
const OF = { part: "processes" } as const;
const isGone = (why: Why) => why.kind === "errno" && GONE.includes(why.errno);

type ProcessFiles = Awaited<ReturnType<typeof filesOf>>;
type ProcessReader<Found> = (files: ProcessFiles) => Promise<Found | undefined>;

/** What /proc has of a process. */
async function filesOf(procfs: string, pid: string) {
  const linesOf = (name: string) => readWhole(join(procfs, pid, name), "\n");
  const listIn = async (name: string) =>
    (await readWhole(join(procfs, pid, name), "\0")).split("\0").slice(0, -1);
  return {
    pid,
    words: await listIn("cmdline"),
    /** A path of its own file system, as it is reached from here. */
    reach: async (path: string) =>
      path.startsWith("/") ? reachBelow(join(procfs, pid, "root"), path) : join(procfs, pid, "cwd", path),
    /** What it watches by inotify: the inodes, by descriptor. One that was closed meanwhile fails. */
    watched: async () => {
      const fds = await readNames(join(procfs, pid, "fd"));
      const inodesOf = async (fd: string) => {
        if ((await readLink(join(procfs, pid, "fd", fd))) !== "anon_inode:inotify") return [];
        const info = await linesOf(join("fdinfo", fd));
        return Array.from(info.matchAll(/^inotify .*?\bino:([0-9a-f]+)/gm), ([, ino]) => Number(`0x${ino}`));
      };
      return Promise.allSettled(fds.map(inodesOf));
    },
    /** The same path as the host has it, by its mounts. */
    onHost: async (path: string) => {
      const mounts = parseMountinfo(await linesOf("mountinfo"));
      const place = mountPlaceOf(path, mounts);
      if (place === undefined) throw systemError("EIO");
      // What is not in a container has the host's own paths, whatever file system they are on.
      const isHosts = place.isWholeFileSystem && mountPlaceOf("/", mounts)?.fileSystem !== "overlay";
      return isHosts ? path : place.path;
    },
    /** Whether its paths are paths here. */
    hasOurFiles: async () => {
      const looks = ["self", pid].map((of) =>
        Promise.all([readLink(join(procfs, of, "ns", "mnt")), statsOrErrno(join(procfs, of, "root"))]),
      );
      const [ours, its] = await Promise.all(looks).catch(() => []);
      if (!ours || !its) return truth(beyond(OF.part, pid));
      return truth(ours[0] === its[0] && isSame(ours[1], its[1]));
    },
    environment: async () =>
      Object.fromEntries((await listIn("environ")).map((one) => one.split(/=(.*)/s, 2))),
  };
}

/** The processes by their numbers. Rejects for a directory that does not have this process: it is not /proc. */
async function listProcesses(procfs: string): Promise<readonly string[]> {
  const [names, self] = await Promise.all([readNames(procfs), readLink(join(procfs, "self"))]);
  if (!names.includes(basename(self))) throw systemError("ESRCH");
  return names.filter((name) => /^\d+$/.test(name));
}

/** CAP_SYS_PTRACE (linux/capability.h). */
const MAY_TRACE = 1n << 19n;

/** The option by which /proc lists no process of another user (proc(5)); undefined where this one is shown all. */
async function hidingIn(procfs: string): Promise<string | undefined> {
  const mounts = (await readWhole(join(procfs, "self", "mountinfo"), "\n")).split("\n");
  const own = mounts.findLast((line) => line.split(" ")[4] === procfs) ?? "";
  const [option, isTraced] = /hidepid=(?:2|invisible|(4|ptraceable))\b/.exec(own) ?? [];
  if (option === undefined) return undefined;
  const status = await readWhole(join(procfs, "self", "status"), "\n");
  const wordsOf = (name: string) =>
    new RegExp(`^${name}:(.*)`, "m").exec(status)?.[1]?.trim().split(/\s+/) ?? [];
  const [, group = "0"] = /\bgid=(\d+)/.exec(own) ?? [];
  const isShown = !isTraced && [...wordsOf("Gid"), ...wordsOf("Groups")].includes(group);
  const [rights = "0"] = wordsOf("CapEff");
  return isShown || (BigInt(`0x${rights}`) & MAY_TRACE) !== 0n ? undefined : option;
}

/**
 * Finds the processes with a registrar, of any project, and those with kubelet. A container without the host's processes sees its
 * own only. Gaps: processes that may be registrars, which this user may not inspect, or why no process can be seen.
 */
export async function findProcesses(directory: string, procfs: string, reading: Reading<NodePart>) {
  const gapOf = (subject: string, why: Why): NodeGap => ({ ...OF, subject, why });
  const nameOf = async (pid: string) => ({ pid, name: await readWhole(join(procfs, pid, "comm"), "\n") });
  const ours = await statsOrErrno(directory);
  const isOurs = typeof ours !== "string" || ours === "ENOENT";
  const entries = isOurs ? await listProcesses(procfs).catch(errnoIn) : ours;
  const unlessEnded = async (pid: string, gap: NodeGap) =>
    isGone(gap.why) || (await hasEnded(procfs, pid)) ? undefined : gap;
  const named =
    typeof entries === "string"
      ? { items: [], gaps: [gapOf(isOurs ? ALL_PROCESSES : directory, { kind: "errno", errno: entries })] }
      : await lookAtEach(entries, nameOf, (pid, why) => unlessEnded(pid, gapOf(ALL_PROCESSES, why)));
  const hiding = typeof entries === "string" ? undefined : await hidingIn(procfs).catch(whyOf);
  if (typeof hiding === "string")
    named.gaps.push(
      gapOf(`${ALL_PROCESSES} that /proc hides by ${hiding}`, { kind: "errno", errno: "EPERM" }),
    );
  else if (hiding !== undefined) named.gaps.push(gapOf(ALL_PROCESSES, hiding));
  const look = async <Found>(called: RegExp, what: string, read: ProcessReader<Found>) => {
    const pids = named.items.filter(({ name }) => called.test(name.trim())).map(({ pid }) => pid);
    const readOne = async (pid: string) => read(await filesOf(procfs, pid));
    const found = await lookAtEach(pids, readOne, (pid, why) =>
      unlessEnded(pid, gapOf(`${what} (process ${pid})`, why)),
    );
    return reading.list(found.items, [...named.gaps, ...found.gaps]);
  };
  const readOneKubelet = (files: ProcessFiles) => readKubelet(files, ours);
  const seen = (await look(MAY_BE_KUBELET, "kubelet", readOneKubelet)).flatMap((one) =>
    one === "somewhere" ? unsoughtIf(true, OF.part, "kubelet") : one,
  );
  const kubelets = seen.with(beyondOwn(seen));
  const readOne: ProcessReader<RunningRegistrar> = (files) => readRegistrar(files, ours, kubelets, reading);
  const registrars = await look(MAY_BE_REGISTRAR, "a registrar", readOne);
  return { kubelets, registrars: registrars.with(UNNAMED) };
}

/** Without a kubelet among them, the processes are probably a container's own: those of the node are not seen. */
export const beyondOwn = (kubelets: SeenList<RunningKubelet>): SeenList<never> =>
  unsoughtIf(itemsOf(kubelets).length === 0, OF.part, ALL_PROCESSES);
/** A process of any name may be one, such as a driver that registers itself. */
export const UNNAMED = unsoughtIf(true, OF.part, ALL_PROCESSES);

/** Whether a process is gone, or has ended and waits for its parent. Then nothing can be read of it, with errnos of all kinds. */
async function hasEnded(procfs: string, pid: string): Promise<boolean> {
  const there = await statsOrErrno(join(procfs, pid));
  if (typeof there === "string") return isThereNone(there) || there === "ESRCH";
  const text = await readWhole(join(procfs, pid, "stat"), "\n").catch(() => "");
  return /\) [ZXx] /.test(text);
}

type FoundFile = Stats | string;

/** What a process has at a path. Throws where that is unknown, because only a tracer sees a process' files. */
async function lookIn({ reach }: ProcessFiles, path: string): Promise<FoundFile> {
  const found = await statsOrErrno(await reach(path));
  if (typeof found === "string" && found !== "ENOENT") throw systemError(found);
  return found;
}

const isSame = (one: FoundFile, other: FoundFile): boolean =>
  typeof one !== "string" && typeof other !== "string" && isSameFile(one, other);

async function readKubelet(files: ProcessFiles, ours: FoundFile) {
  const { pid, words, onHost } = files;
  const joined = words.map((word, at) =>
    /^--?(?:root-dir|kubelet-arg)$/.test(word) ? `${word}=${words[at + 1]}` : word,
  );
  const root = joined.flatMap((word) => ROOT_FLAG.exec(word)?.[1] || []).at(-1);
  const path = join(root ?? DEFAULT_KUBELET_ROOT, "plugins_registry");
  const found = await lookIn(files, path);
  // Kubelet makes the directory when it starts: a process without one only has kubelet's name, or cannot register a driver.
  if (typeof found === "string") return undefined;
  const reading = readWatches(files, found.ino);
  const mayHaveFile = root === undefined && HAS_CONFIG_FILE.test(words[0] ?? "");
  if (mayHaveFile && !(await reading).includes(found.ino)) return "somewhere";
  const gap = (why: Why) => truth({ ...OF, subject: `kubelet (process ${pid})`, why });
  const isDeaf = await reading.then(
    (inodes) => (inodes.length > 0 ? truth(!inodes.includes(found.ino)) : gap(WATCHES_NOTHING)),
    (error: unknown) => gap(whyOf(error)),
  );
  const is = (other: FoundFile) => isSame(found, other);
  return {
    ...{ pid: Number(pid), directory: await onHost(path) },
    /** Whether this is the directory that it watches. */
    is,
    isHere: is(ours),
    /** Whether it watches other files, and not this directory. Where it watches nothing, that is unknown. */
    isDeaf,
  };
}

const WATCHES_NOTHING: Why = { kind: "object", text: "it has no inotify watch" };
const MOST_TRIES = 5;

/** What it watches, at least this inode if that is among them. Rejects where that is not known. */
async function readWatches({ watched }: ProcessFiles, inode: number): Promise<readonly number[]> {
  for (let tried = 1; ; tried++) {
    const looked = await watched();
    const inodes = looked.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const errors = looked.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    if (errors.length === 0 || inodes.includes(inode)) return inodes;
    const failed = errors.find((error) => !GONE.includes(errnoOf(error) ?? ""));
    if (failed !== undefined) throw failed;
    if (tried === MOST_TRIES) refuse("its file descriptors changed each time that they were read");
  }
}

async function readRegistrar(
  files: ProcessFiles,
  ours: FoundFile,
  kubelets: SeenList<RunningKubelet>,
  reading: Reading<NodePart>,
) {
  const { pid, words, reach, onHost, hasOurFiles } = files;
  const args = behindRegistrar(words);
  const line = args && /^(?:-|$)/.test(args[0] ?? "") ? parseFlags(args) : undefined;
  // Other programs are called cli.js too.
  const isSure = words.some((word) => OWN_FLAG.test(word));
  // Of another version, or one that is about to end.
  if (line?.kind === "error" && isSure) refuse(`its arguments are not understood: ${line.message}`);
  if (line?.kind !== "flags" || line.flags.version || isProbeMode(line.flags.mode)) return undefined;
  const { flags } = line;
  const csiAddress = attempt(() => parseCsiAddress(flags.csiAddress)) ?? flags.csiAddress;
  const paths = flags.given.has("plugin-registration-path")
    ? [flags.pluginRegistrationPath]
    : [CONTAINER_DIRECTORY, nodeDirectory(await files.environment())];
  const directories = await Promise.all(
    paths.map(async (path) => ({ path, found: await lookIn(files, path) })),
  );
  const used = directories.find(({ found }) => typeof found !== "string");
  if (used === undefined) {
    // A process that ended has no root any more.
    const hasEnded = typeof (await lookIn(files, "/")) === "string";
    return hasEnded || !isSure
      ? undefined
      : refuse(`its registration directory is not there: ${paths.join(", ")}`);
  }
  const isHere = directories.some(({ found }) => isSame(found, ours));
  const isWatched = kubelets.contains(({ is }) => is(used.found));
  if (!isHere) for (const gap of lackedIn(gapsOf(isWatched))) reading.unread(gap as NodeGap);
  const socket = await lookAtSocket(csiAddress, { reach });
  if (socket.kind === "unread") throw systemError(`${socket.errno}`);
  return {
    pid: Number(pid),
    isNodeWide: isNodeWide(flags),
    /** Its registration directory, as the host has it. */
    directory: await onHost(used.path),
    isHere,
    /** Whether no kubelet of this machine watches its registration directory. */
    isElsewhere: isWatched.or(isHere).not(),
    /** The driver's socket as kubelet gets it. */
    endpoint: hostsPath(flags.kubeletRegistrationPath || csiAddress),
    /** The driver's socket as the registrar sees it. */
    socket: { ...socket, path: pathOfProcess(csiAddress) },
    /** Its path here, if the registrar has the files that doctor has. */
    csiSocketPath: ifYes(await hasOurFiles(), () => pathHere(csiAddress)),
  };
}
