import { check, ok, problem, unknown, warning } from "../../findings/finding";
import { isDead } from "../read/facts";
import type { Facts } from "../read/gather";

export const commandLine = check("CSI001", "command-line", ({ target: { startProblem } }: Facts) =>
  startProblem === undefined
    ? undefined
    : problem(
        "the registrar",
        `does not start with these arguments: ${startProblem}`,
        "correct that argument in the DaemonSet",
      ),
);

export const kubelet = check("CSI012", "kubelet", ({ directory }: Facts) => {
  if (directory.kind !== "folder") return undefined;
  const { kubeletSocket } = directory;
  const { path } = kubeletSocket;
  if (kubeletSocket.kind === "accepting") return ok("kubelet", `runs: it accepts connections on ${path}`);
  if (isDead(kubeletSocket))
    return problem(
      "kubelet",
      `does not seem to run: no process listens on its socket ${path}`,
      "see: systemctl status kubelet",
      "kubelet-down",
    );
  return unknown("kubelet", "cannot be seen from here: whether it runs is not known");
});

export const inotify = check("CSI013", "inotify", ({ directory, host }: Facts) => {
  if (directory.kind !== "folder") return undefined;
  const { unwatchable } = directory;
  if (host.uid !== 0)
    return unknown("inotify", "limits are per user: only root can try whether kubelet's suffice");
  if (unwatchable === undefined)
    return ok("inotify", "has room for root's watches, so kubelet can see new sockets");
  const limits = new Map([
    ["EMFILE", "max_user_instances"],
    ["ENOSPC", "max_user_watches"],
  ]);
  const limit = limits.get(unwatchable);
  return limit === undefined
    ? unknown("inotify", `could not be tried: ${unwatchable}`)
    : problem(
        "inotify",
        `has no room for root's watches, so kubelet sees no new socket: fs.inotify.${limit} is used up`,
        `raise it: sysctl fs.inotify.${limit}=8192, or more if it is 8192 already`,
      );
});

export const selinux = check("CSI014", "selinux", ({ host: { selinux: facts } }: Facts) => {
  if (facts.kind === "off") return ok("SELinux", "is off");
  if (facts.kind !== "on") return unknown("SELinux", "cannot be seen from here");
  const { mode = "on", label = "an unknown label" } = facts;
  if (mode === "permissive") return ok("SELinux", "is permissive: it forbids nothing");
  const isConfined = /^(container(_\w+)?|svirt_\w+)_t$/.test(label.split(":")[2] ?? "");
  return isConfined
    ? warning(
        "SELinux",
        `is ${mode} and confines us (${label}): the sockets of a privileged driver may be out of our reach`,
        "if a call fails with EACCES, set seLinuxOptions.type: spc_t on the registrar's container",
      )
    : ok("SELinux", `is ${mode}; we run as ${label}; labels of files cannot be seen from here`);
});
