import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of the sockets as files: what stands at a path, whose it is, and who replaces it. */
export const UNIX_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/unix/socket-file.ts", ["test/unix/socket-file"], {
    "each publication leaves a listener open": [
      "      if (published) retire(published).catch(() => {}); // It does not fail.\n",
      "",
    ],
    "two visible sockets of one driver after a rename": [
      "(published?.path === path ? undefined : withdraw())",
      "undefined",
    ],
    "of two registrars that find one dead socket, both replace it": [
      "return isSameSocket(judged, now);",
      "return true;",
    ],
    "another registrar's socket is removed at the end": [
      'if (typeof found === "string" || !isSameFile(found, stats)) return;',
      'if (typeof found === "string") return;',
    ],
    "a registrar that has bound and does not listen yet is taken for dead": [
      "    await delay(LISTENS_WITHIN_MS);\n",
      "",
    ],
    "a withdrawn socket goes on listening": "  await closeDotSocket(former);\n",
    "what kubelet says over a replaced socket counts for the new one": [
      "  former.withdrawn.abort();\n",
      "",
      ["test/registrar/registration/registration.test"],
    ],
    "a publication that came too late leaves a listener open": [
      "  await closeDotSocket(bound);\n",
      "",
      ["test/unix/socket-file", "test/registrar/registration/registration.test"],
    ],
    "a registrar that was stopped replaces a living socket": [
      '      if (step.value !== "judge") signal?.throwIfAborted();\n',
      "",
    ],
    "everybody may connect to the socket": ["chmod(dotPath, 0o700)", "chmod(dotPath, 0o777)"],
    "a living socket with a dot name is swept away": [
      'typeof found === "object" && (await judgeSocket(path)) === "dead"',
      'typeof found === "object"',
    ],
    "the dot-sockets of killed registrars stay for ever": [
      "    if (former && isSameSocket(former, stats)) await removeQuietly(path);\n",
      "",
    ],
  }),
  ...mutantsOf("src/unix/files.ts", ["test/unix"], {
    "of two that find one dead socket both replace it, where the inode's number is used again": [
      "idOf(one) === idOf(other);",
      "isSameFile(one, other);",
    ],
    "a directory that was made anew is taken for the former one, where the inode's number is used again":
      " && one.birthtimeMs === other.birthtimeMs",
  }),
  ...mutantsOf("src/unix/unix-socket.ts", ["test/unix/unix-socket"], {
    "something else than a socket is taken for another registrar": [
      '  if (!found.isSocket()) return "blocked";\n',
      "",
      ["test/unix/socket-file", "test/registrar/model/socket-name"],
    ],
    "a driver that restarted is taken for one that ended a connection, where the inode's number is used again":
      ["idOf(found);", "[found.dev, found.ino].join();"],
  }),
  ...mutantsOf("src/unix/path-watch.ts", ["test/unix/path-watch"], {
    "a folder made anew is not watched, where the inode's number is used again": [
      "if (name === undefined) drop(directory);",
      "if (name === undefined) directory;",
    ],
    "each folder that goes leaves its inotify watch": [
      "      endEvents?.();\n",
      "",
      ["test/registrar/node-wide"],
    ],
    "each watch of a path leaves its inotify watches": "    watches[Symbol.dispose]();\n",
  }),
  ...mutantsOf("src/unix/directory-poll.ts", ["test/unix/directory-poll"], {
    "two changes of a directory within one step of its clock are one": [
      "!isSame || !one.isSettled",
      "!isSame",
    ],
    "a symbolic link to a file system that hangs stops the process": [
      "directory !== path && !parent?.isDirectory()",
      "directory !== path && parent === undefined",
    ],
    "a mount that hangs stops the process": ["isLocal(mount)", "true"],
    "a mount that hangs, and comes later, stops the process": [
      "if (mounts !== localAt.mounts) paths.clear();",
      "",
    ],
  }),
  ...mutantsOf("src/base/pause.ts", ["test/base/pause", "test/unix/path-watch"], {
    "a hint that comes while nobody waits is lost": ["if (!isCalled) {", "if (limitMs > 0) {"],
    "each wait leaves a listener at its signal": [
      '() => parent.removeEventListener("abort", abort)',
      "() => {}",
      ["test/base/pause"],
    ],
  }),
];
