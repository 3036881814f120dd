import { judgeHostPath } from "../../src/host-path/host-path";
import { parseMountinfo } from "../../src/unix/mounts";

/** A mount as in mountinfo: device, folder of its file system, where it is mounted, and file system if it is not ext4. */
export type Row = string;

export function tableOf(rows: readonly Row[]) {
  const lineOf = (row: Row, index: number) => {
    const [device, root, at, type = "ext4"] = row.split(" ");
    return `${index} 1 ${device} ${root} ${at} rw - ${type} x rw`;
  };
  return parseMountinfo(rows.map(lineOf).join("\n"));
}

export const CONTAINER: Row = "0:50 / / overlay";
export const K = "/var/lib/kubelet";
/** The registration directory of a kubelet with the usual root. */
export const REGISTRATION: Row = `8:1 ${K}/plugins_registry /registration`;
export const podWith = (...rows: readonly Row[]): readonly Row[] => [CONTAINER, ...rows, REGISTRATION];
/** A pod of the driver x, with a kubelet whose root is this folder of this device. */
export const kubeletAt = (root: string, device: string): readonly Row[] => [
  CONTAINER,
  `${device} ${root}/plugins/x /csi`,
  `${device} ${root}/plugins_registry /registration`,
];
export const USUAL = kubeletAt(K, "8:1");

export const judgeByRows = (csiSocketPath: string, endpoint: string, rows: readonly Row[]) =>
  judgeHostPath({
    csiSocketPath,
    endpoint,
    pluginRegistrationPath: "/registration",
    mounts: tableOf(rows),
  });
