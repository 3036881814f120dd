import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { attempt } from "../../../../base/errors";
import { CONTAINER_DIRECTORY, isNodeWide, nodeDirectory } from "../../../../flags/paths";
import { isProbeMode, parseFlags } from "../../../../flags/table";
import { callFileSystem } from "../../../../unix/file-calls";
import { isSameFile } from "../../../../unix/files";
import { parseCsiAddress } from "../../../../unix/socket-path";
import { behindRegistrar } from "../../../images/program";
import { statsOrErrno } from "./files";
import { lookAtSocket } from "./socket";

/** A process' short name, which can be read without waiting for the process. */
const MAY_BE_REGISTRAR = /^(?:csi-|registrar|cli\.js|node|MainThread)/;

/**
 * Finds the processes with a registrar, of any project, for this registration directory, if this user may see their files. A
 * container without the host's processes sees its own only.
 */
export async function findRegistrars(directory: string, procfs: string) {
  const ours = await statsOrErrno(directory);
  if (typeof ours === "string") return [];
  const listIn = async (pid: string, name: string) => {
    const path = join(procfs, pid, name);
    const text = await callFileSystem(path, () => readFile(path, "utf8")).catch(() => "");
    return text.split("\0").slice(0, -1);
  };
  const environmentOf = async (pid: string) =>
    Object.fromEntries((await listIn(pid, "environ")).map((one) => one.split(/=(.*)/s, 2)));
  const readOne = async (pid: string) => {
    const args = behindRegistrar(await listIn(pid, "cmdline"));
    const line = args && /^(?:-|$)/.test(args[0] ?? "") ? parseFlags(args) : undefined;
    if (line?.kind !== "flags" || isProbeMode(line.flags.mode)) return [];
    const { flags } = line;
    const csiAddress = attempt(() => parseCsiAddress(flags.csiAddress)) ?? flags.csiAddress;
    const root = (path: string) => join(procfs, pid, path.startsWith("/") ? "root" : "cwd", path);
    const isGiven = flags.given.has("plugin-registration-path");
    const directories = isGiven
      ? [flags.pluginRegistrationPath]
      : [CONTAINER_DIRECTORY, nodeDirectory(await environmentOf(pid))];
    const there = await Promise.all(directories.map((one) => statsOrErrno(root(one))));
    if (!there.some((one) => typeof one !== "string" && isSameFile(one, ours))) return [];
    return [
      {
        pid: Number(pid),
        isNodeWide: isNodeWide(flags),
        /** The driver's socket as kubelet gets it. */
        endpoint: flags.kubeletRegistrationPath || csiAddress,
        /** The driver's socket as the registrar sees it; its path is of the registrar's own file system. */
        socket: { ...(await lookAtSocket(root(csiAddress))), path: csiAddress },
      },
    ];
  };
  const pids = attempt(() => readdirSync(procfs)) ?? [];
  const isCandidate = (pid: string) =>
    /^\d+$/.test(pid) &&
    MAY_BE_REGISTRAR.test(attempt(() => readFileSync(join(procfs, pid, "comm"), "utf8")) ?? "");
  return (await Promise.all(pids.filter(isCandidate).map(readOne))).flat();
}
