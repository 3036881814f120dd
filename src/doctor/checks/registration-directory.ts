import type { Facts } from "../facts";
import { type Check, ok, problem, unread, type Verdict } from "../finding";
import { ownershipText, RUN_AS_ROOT } from "../words";

export const MOUNT_IT =
  "mount the host's <kubelet root>/plugins_registry there, or name it with --plugin-registration-path";

export const registrationDirectory: Check = {
  code: "CSI008",
  name: "registration-directory",
  verdicts: ({ directory }) => judge(directory),
};

function judge(directory: Facts["directory"]): Verdict {
  const { path } = directory;
  const unreadable = (errno: string) =>
    unread(
      path,
      `may not be read by this user: ${errno}`,
      `${RUN_AS_ROOT}: kubelet's directory is root's, mode 0750`,
    );
  switch (directory.kind) {
    case "folder":
      return directory.unlistable === undefined
        ? ok(path, `is a folder (${ownershipText(directory.ownership)})`)
        : unreadable(directory.unlistable);
    case "missing":
      return problem(path, "is not there", MOUNT_IT);
    case "not-a-folder":
      return problem(path, `is ${directory.fileType}, not a folder`, MOUNT_IT);
    case "out-of-reach":
      return unreadable(directory.errno);
    default:
      return directory satisfies never;
  }
}
