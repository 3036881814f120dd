import { judgeDriverName } from "../../registrar/driver/driver-name";
import { registrationSocketPath } from "../../registrar/registration/socket-name";
import { MAX_SOCKET_PATH_BYTES } from "../../sockets/socket-path";
import { type Check, ok, problem } from "../finding";
import { kubeletDirectoryOf } from "../kubelet-directory";
import { whoseIn } from "../whose";
import { tooLong } from "../words";

export const socketPath: Check = {
  code: "CSI011",
  name: "socket-path",
  verdicts: (facts) => {
    const whose = whoseIn(facts);
    if (whose.kind !== "driver" || judgeDriverName(whose.name).kind === "unsafe") return undefined;
    const { directory } = facts;
    const place = directory.kind === "folder" ? directory.place : undefined;
    const { kubeletRegistrationPath } = facts.target;
    const folders = [directory.path, ...(place ? [kubeletDirectoryOf(place, kubeletRegistrationPath)] : [])];
    const longest = folders
      .map((folder) => registrationSocketPath(folder, whose.name))
      .reduce((one, other) => (Buffer.byteLength(other) > Buffer.byteLength(one) ? other : one));
    const bytes = Buffer.byteLength(longest);
    return bytes > MAX_SOCKET_PATH_BYTES
      ? problem(longest, tooLong(bytes), "give the driver a shorter name, or kubelet a shorter --root-dir")
      : ok(longest, `is short enough for a socket: ${bytes} of ${MAX_SOCKET_PATH_BYTES} bytes`);
  },
};
