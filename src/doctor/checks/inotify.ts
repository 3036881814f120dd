import { type Check, ok, problem, unknown } from "../finding";

export const inotify: Check = {
  code: "CSI013",
  name: "inotify",
  verdicts: ({ directory, host }) => {
    if (directory.kind !== "folder") return undefined;
    const { unwatchable } = directory;
    if (host.uid !== 0)
      return unknown("inotify", "limits are per user: whether kubelet's suffice only root can try");
    if (unwatchable === undefined)
      return ok("inotify", "has room for root's watches, so kubelet can see new sockets");
    const limits: Readonly<Record<string, string>> = {
      EMFILE: "max_user_instances",
      ENOSPC: "max_user_watches",
    };
    const limit = limits[unwatchable];
    return limit === undefined
      ? unknown("inotify", `could not be tried: ${unwatchable}`)
      : problem(
          "inotify",
          `has no room for root's watches, so kubelet sees no new socket: fs.inotify.${limit} is used up`,
          `raise it: sysctl fs.inotify.${limit}=8192, or more if that is what it is`,
        );
  },
};
