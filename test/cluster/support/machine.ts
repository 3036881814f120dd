import { BUILD_PROGRAMS } from "../../image/support/stand-in-bases";
import { whereIs } from "../../support/sandbox/program-files";
import { whyNoGroups } from "./cgroups";

const PROGRAMS = [
  "go",
  "buildah",
  "containerd",
  "ctr",
  "runc",
  "ip",
  "mount",
  "umount",
  "unshare",
  "nsenter",
  "setpriv",
  "hostname",
];

/** All that this machine lacks for a cluster of its own, with what to install. */
export function missingFromMachine(): readonly string[] {
  if (process.platform !== "linux") return [`Linux (this is ${process.platform})`];
  const missing = [...PROGRAMS, "npm", "tar", ...BUILD_PROGRAMS].filter((program) => !whereIs(program));
  const noGroups = process.geteuid?.() === 0 ? whyNoGroups() : undefined;
  return [
    ...(process.geteuid?.() === 0 ? [] : ["root's rights"]),
    ...(missing.length > 0 ? [`in PATH: ${missing.join(", ")} (apt packages: ${PACKAGES})`] : []),
    ...(whereIs("/usr/lib/cni/bridge")
      ? []
      : ["/usr/lib/cni/bridge (apt package containernetworking-plugins)"]),
    ...(noGroups === undefined ? [] : [`a control group: ${noGroups}`]),
  ];
}

const PACKAGES = "buildah containerd runc containernetworking-plugins iptables iproute2 conntrack";
