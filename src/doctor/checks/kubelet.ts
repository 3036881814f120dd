import { type Check, ok, problem, unknown } from "../finding";
import { downCause } from "../words";

export const kubelet: Check = {
  code: "CSI012",
  name: "kubelet",
  verdicts: ({ directory }) => {
    if (directory.kind !== "folder") return undefined;
    const { kubeletSocket } = directory;
    const { path } = kubeletSocket;
    if (kubeletSocket.kind === "accepting") return ok("kubelet", `runs: it accepts connections on ${path}`);
    if (downCause(kubeletSocket) !== undefined)
      return problem(
        "kubelet",
        `does not seem to run: nobody listens on its socket ${path}`,
        "see: systemctl status kubelet",
        "kubelet-down",
      );
    return unknown("kubelet", "cannot be seen from here: whether it runs is not known");
  },
};
