import { adviceOnHostPath, judgeByMounts } from "../../src/host-path/advice";
import { CONTAINER, K, REGISTRATION, type Row, tableOf } from "../support/mount-rows";

const PATTERN = "/plugins/*/csi.sock";
const TOLD = `${K}/plugins/*/csi.sock`;
const DISK: Row = ["8:1", `${K}/plugins/disk`, "/plugins/disk"];
const NFS: Row = ["8:1", `${K}/plugins/nfs`, "/plugins/nfs"];
const EACH = [CONTAINER, DISK, NFS, REGISTRATION];
/** A container whose root is a file system of its own, no overlay. */
const OWN_ROOT: Row = ["252:3", "/", "/", "xfs"];

const paths = (csiSocketPath: string, kubeletRegistrationPath: string) => ({
  csiSocketPath,
  kubeletRegistrationPath,
  pluginRegistrationPath: "/registration",
});

// biome-ignore format: a table
test.each<[what: string, pattern: string, path: string, rows: readonly Row[], kind: string]>([
  ["each driver's folder", PATTERN, TOLD, EACH, "fits"],
  ["each driver's folder, in a container without overlay", PATTERN, TOLD, [OWN_ROOT, DISK, REGISTRATION], "fits"],
  ["a folder beside a mount of all", PATTERN, TOLD,
    [CONTAINER, ["8:1", `${K}/plugins`, "/plugins"], NFS, REGISTRATION], "fits"],
  ["a folder of two stars", "/p/*/*/s", `${K}/p/*/*/s`,
    [CONTAINER, ["8:1", `${K}/p/a`, "/p/a"], REGISTRATION], "fits"],
  ["a part of a name", "/p/csi-*/s", `${K}/p/csi-*/s`,
    [CONTAINER, ["8:1", `${K}/p/csi-a`, "/p/csi-a"], REGISTRATION], "fits"],
  ["one that cannot be judged", PATTERN, TOLD, [...EACH, ["0:9", "/", "/plugins/tmp", "tmpfs"]], "unknown"],
  ["one of another folder", PATTERN, TOLD, [...EACH, ["8:1", "/srv/x", "/plugins/x"]], "differs"],
  ["nothing", PATTERN, TOLD, [CONTAINER, REGISTRATION], "not-mounted"],
  ["what does not fit", PATTERN, TOLD,
    [CONTAINER, ["8:1", `${K}/plugins/a/b/c`, "/plugins/a/b/c"], REGISTRATION], "not-mounted"],
  ["a folder, but the path has other stars", PATTERN, `${K}/plugins/disk/csi.sock`, EACH, "not-mounted"],
])("mounted is %s: %s, kubelet gets %s", async (_what, pattern, path, rows, kind) => {
  expect((await judgeByMounts(paths(pattern, path), tableOf(rows)))?.kind).toBe(kind);
});

test("a container's path is told for each driver's folder: the advice is a pattern", async () => {
  expect(await adviceOnHostPath(paths(PATTERN, PATTERN), tableOf(EACH))).toEqual({
    problem: `on the host the driver's socket is ${TOLD}`,
    fix: `--kubelet-registration-path=${TOLD}`,
  });
  const disk: Row = ["8:5", "/kubelet/plugins/disk", "/plugins/disk"];
  const registry: Row = ["8:5", "/kubelet/plugins_registry", "/registration"];
  expect(
    (await adviceOnHostPath(paths(PATTERN, PATTERN), tableOf([CONTAINER, disk, registry])))?.fix,
  ).toContain("--kubelet-registration-path=<kubelet root>/plugins/*/csi.sock");
});
