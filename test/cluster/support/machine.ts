import { BUILD_PROGRAMS } from "../../image/support/stand-in-bases";
import { whereIs } from "../../support/sandbox/program-files";
import { whyNoGroups } from "./cgroups";

const PROGRAMS = [
  ...["go", "npm", "tar", "buildah", "containerd", "ctr", "runc", "ip", "mount", "umount", "unshare"],
  ...["nsenter", "setpriv", "hostname", "/usr/lib/cni/bridge", ...BUILD_PROGRAMS],
];
const PACKAGES =
  "buildah containerd runc containernetworking-plugins iptables iproute2 conntrack busybox-static";

/** Throws an error with all that this machine lacks for a cluster, and for what else a suite needs. */
export function checkMachine(...more: readonly string[]): void {
  if (process.platform !== "linux") throw new Error(`it needs Linux (this is ${process.platform})`);
  const programs = [...PROGRAMS, ...more].filter((program) => !whereIs(program));
  const isRoot = process.geteuid?.() === 0;
  const noGroups = isRoot ? whyNoGroups() : undefined;
  const missing = [
    ...(isRoot ? [] : ["root's rights"]),
    ...(programs.length > 0 ? [`the programs ${programs.join(", ")} (apt packages: ${PACKAGES})`] : []),
    ...(noGroups === undefined ? [] : [`a control group: ${noGroups}`]),
  ];
  if (missing.length > 0) throw new Error(`it needs what this machine lacks: ${missing.join("; ")}`);
}
