import type { Mutant } from "../mutant";

const SOCKET = "src/registrar/socket/registration-socket.ts";
const DOT_SOCKET = "src/unix/dot-socket.ts";
const SOCKET_TESTS = ["test/registrar/socket/registration-socket"];

/** Mutants of the sockets as files: what stands at a path, whose it is, and who replaces it. */
export const UNIX_MUTANTS: readonly Mutant[] = [
  {
    what: "each publication leaves a listener open",
    file: SOCKET,
    from: "      retire();\n      published = {",
    to: "      published = {",
    tests: SOCKET_TESTS,
  },
  {
    what: "two visible sockets of one driver after a rename",
    file: SOCKET,
    from: "if (published?.path !== path) withdraw();",
    to: "",
    tests: SOCKET_TESTS,
  },
  {
    what: "of two registrars that find one dead socket, both replace it",
    file: SOCKET,
    from: "return isSameSocket(judged, now);",
    to: "return true;",
    tests: [...SOCKET_TESTS, "test/registrar/registration/rivals"],
  },
  {
    what: "another registrar's socket is removed at the end",
    file: SOCKET,
    from: 'if (typeof found === "string" || !isSameFile(found, stats)) return;',
    to: 'if (typeof found === "string") return;',
    tests: SOCKET_TESTS,
  },
  {
    what: "a registrar that has bound and does not listen yet is taken for dead",
    file: SOCKET,
    from: "    await delay(LISTENS_WITHIN_MS);\n",
    to: "",
    tests: ["test/registrar/socket/slow-listener"],
  },
  {
    what: "a withdrawn socket goes on listening",
    file: SOCKET,
    from: "    published?.server.close();\n",
    to: "",
    tests: SOCKET_TESTS,
  },
  {
    what: "what kubelet says over a replaced socket counts for the new one",
    file: SOCKET,
    from: "    published?.withdrawn.abort();\n",
    to: "",
    tests: ["test/registrar/registration/registration.test"],
  },
  {
    what: "a publication that came too late leaves a listener open",
    file: SOCKET,
    from: "          next.server.close();\n          return",
    to: "          return",
    tests: [...SOCKET_TESTS, "test/registrar/registration/rivals"],
  },
  {
    what: "something else than a socket is taken for another registrar",
    file: SOCKET,
    from: '    if (!found.isSocket()) return "blocked";\n',
    to: "",
    tests: SOCKET_TESTS,
  },
  {
    what: "a registrar that starts in the same moment is replaced",
    file: DOT_SOCKET,
    from: "    if (!mayReplace()) return false;\n    renameSync",
    to: "    renameSync",
    tests: [...SOCKET_TESTS, "test/registrar/registration/rivals"],
  },
  {
    what: "a registrar that was stopped replaces a living socket",
    file: DOT_SOCKET,
    from: "await delay(KUBELET_LOOKS_WITHIN_MS, undefined, { signal });",
    to: "await delay(KUBELET_LOOKS_WITHIN_MS);",
    tests: SOCKET_TESTS,
  },
  {
    what: "everybody may connect to the socket",
    file: DOT_SOCKET,
    from: "chmodSync(dotPath, 0o700);",
    to: "chmodSync(dotPath, 0o777);",
    tests: SOCKET_TESTS,
  },
  {
    what: "a socket that another registrar is about to name is swept away",
    file: DOT_SOCKET,
    from: "      if (now() - lstatSync(path).ctimeMs < LEFTOVER_AFTER_MS) continue;\n",
    to: "",
    tests: ["test/unix/dot-socket"],
  },
  {
    what: "a living socket with a dot name is swept away",
    file: DOT_SOCKET,
    from: "if (await isDeadSocket(path)) removeQuietly(path);",
    to: "removeQuietly(path);",
    tests: ["test/unix/dot-socket"],
  },
  {
    what: "of two that find one dead socket both replace it, where the inode's number is used again",
    file: "src/unix/files.ts",
    from: "return isSameFile(one, other) && one.mtimeMs === other.mtimeMs;",
    to: "return isSameFile(one, other);",
    tests: ["test/unix", ...SOCKET_TESTS],
  },
  {
    what: "a driver that restarted is taken for one that ended a connection, where the inode's number is used again",
    file: "src/unix/unix-socket.ts",
    from: "[stats?.dev, stats?.ino, stats?.mtimeMs]",
    to: "[stats?.dev, stats?.ino]",
    tests: ["test/unix/unix-socket"],
  },
  {
    what: "a folder made anew is not watched, where the inode's number is used again",
    file: "src/unix/path-watch.ts",
    from: "        if (isSelf) disarm(folder);\n",
    to: "",
    tests: ["test/unix/path-watch"],
  },
  {
    what: "a hint that comes while nobody waits is lost",
    file: "src/base/pause.ts",
    from: "if (!isCalled) {",
    to: "if (limitMs > 0) {",
    tests: ["test/base/pause", "test/unix/path-watch"],
  },
  {
    what: "each wait leaves a listener at its signal",
    file: "src/base/pause.ts",
    from: '        signal.removeEventListener("abort", wake);\n',
    to: "",
    tests: ["test/base/pause"],
  },
  {
    what: "each watch of a path leaves its inotify watches",
    file: "src/unix/path-watch.ts",
    from: "      for (const { watcher } of armed) watcher.close();\n      armed = [];\n      hint();",
    to: "      armed = [];\n      hint();",
    tests: ["test/unix/path-watch"],
  },
];
