import type { Mutant } from "../mutant";

/** Mutants of one driver's registration: what leads from one state to the next, its names, and its end. */
export const REGISTRATION_MUTANTS: readonly Mutant[] = [
  {
    what: "an alias that is a link is published over",
    file: "src/registrar/socket/socket-name.ts",
    from: "    if (!isSocketFile(path)) continue;\n",
    to: "",
    tests: ["test/registrar/socket/socket-name"],
  },
  {
    what: "the alias of a killed registrar is preferred to that of a living one",
    file: "src/registrar/socket/socket-name.ts",
    from: "if ((await tryConnect(path)) === undefined) return alias;",
    to: "",
    tests: ["test/registrar/socket/socket-name"],
  },
  {
    what: "a driver that was renamed keeps the alias of its former name",
    file: "src/registrar/registration/transition.ts",
    from: "driverName, alias: undefined,",
    to: "driverName,",
    tests: ["test/registrar/registration/transition"],
  },
  {
    what: "what a state that was left has ended with is taken for news",
    file: "src/registrar/registration/loop.ts",
    from: 'inbox.put(event, event.kind === "stop" ? undefined : signal);',
    to: "inbox.put(event);",
    tests: ["test/registrar/registration/loop"],
  },
  {
    what: "what a state does goes on in the next",
    file: "src/registrar/registration/loop.ts",
    from: "    await Promise.all(running);\n",
    to: "",
    tests: ["test/registrar/registration/loop"],
  },
  {
    what: "a fault in a state leaves a registration that does nothing",
    file: "src/registrar/registration/loop.ts",
    from: '      inbox.put({ kind: "stop", reason: "failed", outcome: failedBy(error) }, signal);\n',
    to: "",
    tests: ["test/registrar/registration/loop"],
  },
  {
    what: "each registration leaves a listener at its owner's signal",
    file: "src/registrar/registration/registration.ts",
    from: '    signal?.removeEventListener("abort", stop);\n',
    to: "",
    tests: ["test/registrar/registrar-lifecycle"],
  },
  {
    what: "a registration that was closed still follows its driver",
    file: "src/registrar/registration/registration.ts",
    from: "    stopFollowing.abort();\n",
    to: "    void stopFollowing;\n",
    tests: ["test/registrar/registrar-lifecycle"],
  },
  {
    what: "the history grows without end",
    file: "src/registrar/registration/registration.ts",
    from: "[...history, change].slice(-HISTORY_LENGTH)",
    to: "[...history, change]",
    tests: ["test/registrar/start-registrar", "test/registrar/registration/registration.test"],
  },
  {
    what: "with policy retry, a driver that another registrar serves is fought over",
    file: "src/registrar/registration/registration.ts",
    from: 'onRegistrationFailure === "retry" && meansPeer(error)',
    to: "Object.is(onRegistrationFailure, meansPeer(error))",
    tests: ["test/registrar/registration/states/standby"],
  },
  {
    what: "a self-check is healthy after the end",
    file: "src/registrar/registration/registration.ts",
    from: '{ kind: "missing", text: "the registration has ended" }',
    to: '{ kind: "ok" }',
    tests: ["test/registrar/registration/self-check", "test/registrar/registration/registration.test"],
  },
];
