import type { Dirent } from "node:fs";
import { dirname, join, relative } from "node:path";
import { socketsFitting } from "../../../../registrar/node-wide/scan";
import type { Mount } from "../../../../unix/mounts";
import { isRegistrationDirectory } from "../../findings/registration-directory";
import { type Why, whyOf } from "../../findings/seen";
import { type NodeGap, type Target, unreadSocket } from "./facts";
import { walk } from "./files";
import { lookAtSocket, type SocketFacts, type SocketKind } from "./socket";

/** Where drivers have their sockets below kubelet's root; Alibaba's have theirs in the second one. */
export const DRIVER_DIRECTORIES: readonly string[] = ["plugins", "csi-plugins"];

/** Drivers have their socket in a directory of their own, some a directory deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;

/** Where services have their sockets: to connect may start one. */
const OF_SERVICES = ["/", "/run", "/var/run", "/tmp"];

const SILENT: readonly (SocketKind | undefined)[] = ["missing", "dead", "stuck"];
/** On the others a process listens, or may. */
const NOT_LIVING: readonly SocketKind[] = ["dead", "missing", "unseen", "not-a-socket", "broken", "too-long"];

/** The sockets beside a driver's that does not answer: it may listen on one of them. */
async function walkBeside(driver: SocketFacts | undefined) {
  const directory = dirname(driver?.path ?? "/");
  if (!SILENT.includes(driver?.kind) || OF_SERVICES.includes(directory)) return { paths: [], gaps: [] };
  const rules = {
    part: "sockets",
    isWanted: (entry: Dirent) => entry.isSocket(),
    mayEnter: () => false,
  } as const;
  return walk(directory, rules, 1);
}

/** Looks at the sockets below kubelet's root, and at those that fit the pattern. `driver` is looked at already. */
export async function findSockets(target: Target, driver: SocketFacts | undefined) {
  const { pattern, pluginRegistrationPath, hostRoot = "/" } = target;
  const onTheWay: NodeGap[] = [];
  const tell = (subject: string, why: Why) => void onTheWay.push({ part: "sockets", subject, why });
  const unlooked = {
    onRead: (path: string, error: unknown) => (error === undefined ? undefined : tell(path, whyOf(error))),
    onLeftOut: ({ mountPoint, fileSystem }: Pick<Mount, "mountPoint" | "fileSystem">) =>
      tell(mountPoint, { kind: "mount", fileSystem }),
    onCut: (read: number, there: number) => tell(pattern ?? "", { kind: "cut", read, there }),
  };
  const fitting = new Set(pattern === undefined ? [] : await socketsFitting(pattern, unlooked));
  const root = dirname(pluginRegistrationPath);
  const directories = DRIVER_DIRECTORIES.map((name) => join(root, name));
  // Not in kubelet's own directories there, which hold mounted volumes.
  const mayEnter = ({ name }: Dirent) => name !== "kubernetes.io" && name !== "globalmount";
  const rules = { part: "sockets", isWanted: (entry: Dirent) => entry.isSocket(), mayEnter } as const;
  const walks = await Promise.all(directories.map((path) => walk(path, rules, MAX_DEPTH)));
  const beside = await walkBeside(driver);
  const paths = [...walks, beside].flatMap((one) => one.paths);
  const cut: Why = { kind: "cut", read: MAX_SOCKETS, there: paths.length };
  const seen = new Set([...paths.slice(0, MAX_SOCKETS), ...fitting]);
  const sockets = await Promise.all([...seen].map((path) => lookAtSocket(path)));
  const living = sockets.filter(({ kind }) => kind === "accepting" || kind === "stuck");
  const others = new Map(living.map((one) => [one.inode, one]));
  others.delete(driver?.inode);
  const mayLive = sockets.filter(({ kind }) => !NOT_LIVING.includes(kind));
  const mayLiveBeside = (path: string) => mayLive.some((other) => dirname(other.path) === dirname(path));
  return {
    /** One for each inode; their listen queue may be full. */
    living: [...others.values()],
    /** Those on which no process listens, without a living one beside them; all of them that fit the pattern. */
    dead: sockets
      .filter(({ kind }) => kind === "dead")
      .map((socket) => ({ socket, fits: fitting.has(socket.path) }))
      .filter(({ socket, fits }) => fits || !mayLiveBeside(socket.path)),
    /** Their paths as the host has them, by inode. */
    socketsOnHost: isRegistrationDirectory(pluginRegistrationPath)
      ? new Map(sockets.map(({ inode = "", path }) => [inode, join("/", relative(hostRoot, path))]))
      : new Map<string, string>(),
    gaps: [
      ...[...walks, beside].flatMap((one) => one.gaps),
      ...(paths.length > MAX_SOCKETS ? [{ part: "sockets", subject: root, why: cut } as const] : []),
      ...sockets.flatMap((socket) => unreadSocket("sockets", socket)),
      ...onTheWay,
    ],
  };
}
