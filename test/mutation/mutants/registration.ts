import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of one driver's registration: what leads from one state to the next, its names, and its end. */
export const REGISTRATION_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/registrar/model/socket-name.ts", ["test/registrar/model/socket-name"], {
    "the alias of a killed registrar is preferred to that of a living one": [
      'inUse("taken") ?? inUse("dead")',
      'inUse("dead") ?? inUse("taken")',
    ],
  }),
  ...mutantsOf("src/registrar/registration/loop.ts", ["test/registrar/registration/loop"], {
    "what a state that was left has ended with is taken for news": [
      'inbox.put(event, event.kind === "stop" ? undefined : signal);',
      "inbox.put(event);",
    ],
    "what a state does goes on in the next": "    await Promise.all(running);\n",
    "a fault in a state leaves a registration that does nothing":
      '      inbox.put({ kind: "stop", reason: "failed", outcome: failedBy(error) }, signal);\n',
  }),
  ...mutantsOf("src/registrar/registration/registration.ts", ["test/registrar/registrar-lifecycle"], {
    "each registration leaves a listener at its owner's signal":
      '    signal?.removeEventListener("abort", stop);\n',
    "a registration that was closed still follows its driver": [
      "    stopFollowing.abort();\n",
      "    void stopFollowing;\n",
    ],
    "a self-check is healthy after the end": [
      '{ kind: "missing", text: "the registration has ended" }',
      '{ kind: "ok" }',
      ["test/registrar/registration/self-check", "test/registrar/registration/registration.test"],
    ],
    "a listener that closes a registration for kubelet's status hides it": [
      "      inbox.put(event, publication?.withdrawn);\n      events.emit(call);\n",
      "      events.emit(call);\n      inbox.put(event, publication?.withdrawn);\n",
      ["test/registrar/registration/registration.test"],
    ],
    "a status over a socket that was replaced counts": [
      "if (publication?.withdrawn.aborted) {",
      "if (!publication) {",
      ["test/registrar/registration/registration.test"],
    ],
    "a socket that was withdrawn answers": [
      "isWithdrawn: publication?.withdrawn.aborted ?? true",
      "isWithdrawn: publication === undefined",
      ["test/exploration/replay"],
    ],
    "a socket of another name answers": [
      "isOwn: publication?.path === view.socketPath()",
      "isOwn: true",
      ["test/exploration/replay"],
    ],
  }),
  ...mutantsOf("src/registrar/registration/self-check.ts", ["test/registrar/registration/kept-check"], {
    "a kept connection proves a file that was replaced": ["if (kept && isSame)", "if (kept)"],
    "a kept connection proves a file that others may not dial any more":
      " && kept.file.ctimeMs === file.ctimeMs",
    "a kept connection proves a socket on which nothing listens":
      '        ours.withdrawn.addEventListener("abort", drop, { once: true });\n',
    "each check makes a connection": "        kept = { connection, file, info };\n",
    "a connection that no check uses is kept": "        idle = startTimer(drop, keepMs).unref();\n",
  }),
  ...mutantsOf("src/registrar/registration/view.ts", ["test/registrar/registration/registration.test"], {
    "the history grows without end": ["[...history, change].slice(-HISTORY_LENGTH)", "[...history, change]"],
  }),
];
