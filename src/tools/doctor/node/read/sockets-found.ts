import type { Dirent } from "node:fs";
import { dirname, join, relative } from "node:path";
import { socketsFitting } from "../../../../registrar/node-wide/scan";
import { isWithin } from "../../../../unix/mounts";
import { isRegistrationDirectory } from "../../findings/registration-directory";
import { isDead, isStuck, isUnread, type SocketFacts, type Target } from "./facts";
import { errnoIn, lookAtSocket, walk } from "./files";

/** Where drivers have their sockets below kubelet's root; Alibaba's have theirs in the second one. */
export const DRIVER_DIRECTORIES: readonly string[] = ["plugins", "csi-plugins"];

/** Drivers have their socket in a directory of their own, some a directory deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;

/** Looks at the sockets below kubelet's root, and at those that fit the pattern. `driver` is looked at already. */
export async function findSockets(target: Target, driver: SocketFacts | undefined) {
  const { pattern, pluginRegistrationPath, hostRoot = "/" } = target;
  const onTheWay: { readonly path: string; readonly errno: string }[] = [];
  const onRead = (path: string, error: unknown) => {
    if (error !== undefined) onTheWay.push({ path, errno: errnoIn(error) });
  };
  const fitting = new Set(pattern === undefined ? [] : await socketsFitting(pattern, onRead));
  const root = dirname(pluginRegistrationPath);
  const directories = DRIVER_DIRECTORIES.map((name) => join(root, name));
  // Not in kubelet's own directories there, which hold mounted volumes.
  const mayEnter = ({ name }: Dirent) => name !== "kubernetes.io" && name !== "globalmount";
  const isSocket = (entry: Dirent) => entry.isSocket();
  const walks = await Promise.all(directories.map((path) => walk(path, isSocket, mayEnter, MAX_DEPTH)));
  const paths = walks.flatMap((one) => one.paths);
  const seen = new Set([...paths.slice(0, MAX_SOCKETS), ...fitting]);
  const sockets = await Promise.all([...seen].map((path) => lookAtSocket(path)));
  const living = sockets.filter((one) => one.kind === "accepting" || isStuck(one));
  const others = new Map(living.map((one) => [one.inode, one]));
  others.delete(driver?.inode);
  const isLivingBeside = (path: string) => living.some((other) => dirname(other.path) === dirname(path));
  return {
    /** One for each inode; their listen queue may be full. */
    living: [...others.values()],
    /** Those on which no process listens, without a living one beside them; all of them that fit the pattern. */
    deadSockets: sockets
      .filter(isDead)
      .map((socket) => ({ socket, fits: fitting.has(socket.path) }))
      .filter(({ socket, fits }) => fits || !isLivingBeside(socket.path)),
    /** Their paths as the host has them, by inode. */
    socketsOnHost: isRegistrationDirectory(pluginRegistrationPath)
      ? new Map(sockets.map(({ inode = "", path }) => [inode, join("/", relative(hostRoot, path))]))
      : new Map<string, string>(),
    leftOut: walks.flatMap((one) => one.leftOut),
    unreadPaths: [
      ...walks.flatMap(({ unread, errno }, at) =>
        errno === undefined || errno === "ENOENT"
          ? unread
          : [...unread, { path: directories[at] ?? root, errno }],
      ),
      ...sockets.filter(isUnread).map(({ path, errno = "" }) => ({ path, errno })),
      ...onTheWay.filter(({ path }) => !directories.some((one) => isWithin(path, one))),
    ],
  };
}
