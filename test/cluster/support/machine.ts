import { BUILD_PROGRAMS } from "../../image/support/stand-in-bases";
import { whereIs } from "../../support/sandbox/program-files";
import { whyNoGroups } from "./cgroups";

const PROGRAMS = [
  ...["go", "npm", "tar", "buildah", "containerd", "ctr", "runc", "ip", "mount", "umount", "unshare"],
  ...["nsenter", "setpriv", "hostname", "/usr/lib/cni/bridge", ...BUILD_PROGRAMS],
];
const PACKAGES = "buildah containerd runc containernetworking-plugins iptables iproute2 conntrack";

export function missingFromMachine(): readonly string[] {
  if (process.platform !== "linux") return [`Linux (this is ${process.platform})`];
  const missing = PROGRAMS.filter((program) => !whereIs(program));
  const isRoot = process.geteuid?.() === 0;
  const noGroups = isRoot ? whyNoGroups() : undefined;
  return [
    ...(isRoot ? [] : ["root's rights"]),
    ...(missing.length > 0 ? [`the programs ${missing.join(", ")} (apt packages: ${PACKAGES})`] : []),
    ...(noGroups === undefined ? [] : [`a control group: ${noGroups}`]),
  ];
}
