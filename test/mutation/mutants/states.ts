import { type Mutant, mutantsOf } from "../mutant";

export const STATES_MUTANTS: readonly Mutant[] = [
  ...mutantsOf(
    "src/registrar/registration/states/standby.ts",
    ["test/registrar/registration/states/standby"],
    {
      "the end of a peer that sends something is not seen": "    connection.resume();",
      "a driver of another plugin type is taken for a peer": " && info.type === options.type",
      "a killed peer is noticed seconds later": '    connection.on("close", watch.hint);\n',
      "a peer that hangs up is knocked at without end":
        "if (heldMs < HOLD_AT_LEAST_MS) await pause(HOLD_AT_LEAST_MS - heldMs, signal);",
      "between two looks a peer that lives is connected to twice a second, for ever":
        '    connection.off("close", watch.hint);\n',
      "a peer that took our place and was gone at once is waited for half a minute": [
        '} else if (reason === "already-registered") {',
        "} else {",
      ],
      "kubelet sees two sockets of a driver that another registrar serves":
        "  await takeAway(context.socket.withdraw, log, signal);\n",
      "a peer that touches its socket is taken for gone": [
        "if (signal.aborted || peerIsGone(await context.socket.look(path))) return;",
        "return;",
      ],
      "a peer that is gone is waited for, for ever": [
        "if (signal.aborted || peerIsGone(await context.socket.look(path))) return;",
        "if (signal.aborted) return;",
      ],
      "a driver that kubelet has by a dead socket is published by another name for ever": [
        "alias: aliasAfterPeer(sockets, facts.alias)",
        "alias: facts.alias",
      ],
      "another driver's registrar is stood by for": [
        "info?.name === facts.driverName &&",
        "info !== undefined &&",
      ],
    },
  ),
  ...mutantsOf(
    "src/registrar/registration/states/in-place.ts",
    ["test/registrar/registration/states/in-place"],
    {
      "an official registrar that removes our socket finds it back before it has bound its own, and fails": [
        'if (found === "gone" && (await pause(ANOTHER_BINDS_WITHIN_MS, signal)))',
        'if (found === "gone")',
      ],
      "a dead socket in the place of ours stays there": [
        "if (event) return event;",
        'if (event && event.kind !== "socket-dead") return event;',
      ],
      "each state leaves its inotify watches": [
        "using watch",
        "const watch",
        ["test/registrar/registrar-lifecycle"],
      ],
    },
  ),
  ...mutantsOf(
    "src/registrar/registration/states/publishing.ts",
    ["test/registrar/registration/states/publishing"],
    {
      "that a socket cannot be published is nobody's trouble": "      onUnpublished(messageOf(error));\n",
      "a directory that is away is tried again a hundred times a second":
        "      await watch.wait(signal, backoffMs(BACKOFF.publish, attempt));\n",
      "a registrar that found its place taken says that it serves": [
        '      if (event.kind !== "published") return event;\n',
        "",
      ],
      "the name under which kubelet knows the driver is not found": [
        "aliasInUse(await socketsOfDriver(facts, options))",
        "undefined",
        [
          "test/registrar/registration/states/publishing",
          "test/registrar/registration/states/listening",
          "test/registrar/model/socket-name",
        ],
      ],
      "a registrar that is stopped while it publishes logs a failure": [
        "      if (signal.aborted) return undefined;\n      log.error",
        "      log.error",
        ["test/registrar/registrar-lifecycle"],
      ],
      "nobody hears that kubelet may not see a directory that was replaced": [
        'if (reason === "directory-gone")',
        'if (reason === "retry")',
        ["test/registrar/registration/states/slow-changes"],
      ],
      "a folder that is back is used only when the next try is due": [
        "await watch.wait(signal, backoffMs(BACKOFF.publish, attempt));",
        "await new Promise(() => {});",
        ["test/registrar/registration/states/in-place"],
      ],
    },
  ),
  ...mutantsOf(
    "src/registrar/registration/states/listening.ts",
    ["test/registrar/registration/states/listening"],
    {
      "the socket moves while kubelet works on an earlier one": [
        "if (!movesFromBackoff(facts, server.hasCaller)) return undefined;",
        "",
      ],
    },
  ),
  ...mutantsOf(
    "src/registrar/registration/states/refused.ts",
    ["test/registrar/registration/states/refused"],
    {
      "a refusal that lasts is spoken of once": ["REMIND_EVERY_REPEATS = 10;", "REMIND_EVERY_REPEATS = 100;"],
    },
  ),
  ...mutantsOf("src/registrar/registration/states/stopping.ts", ["test/registrar/registrar-lifecycle"], {
    "kubelet's calls that are under way at the end are cut off": [
      "{ graceMs: GRACE_MS }",
      "{ graceMs: 0 * GRACE_MS }",
    ],
  }),
];
