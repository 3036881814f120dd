import { type Mutant, mutantsOf } from "../mutant";

/** Mutants of one driver's registration: what leads from one state to the next, its names, and its end. */
export const REGISTRATION_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/registrar/model/socket-name.ts", ["test/registrar/model/socket-name"], {
    "the alias of a killed registrar is preferred to that of a living one":
      '    if (found === "taken") return alias;\n',
  }),
  ...mutantsOf("src/registrar/registration/transition.ts", ["test/registrar/registration/transition"], {
    "a driver that was renamed keeps the alias of its former name": [
      "{ alias: undefined, foundDeadSocket",
      "{ foundDeadSocket",
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
    "the history grows without end": [
      "[...history, change].slice(-HISTORY_LENGTH)",
      "[...history, change]",
      ["test/registrar/start-registrar", "test/registrar/registration/registration.test"],
    ],
    "with policy retry, a driver that another registrar serves is fought over": [
      'options.onRegistrationFailure === "retry" && meansPeer(error)',
      "Object.is(options.onRegistrationFailure, meansPeer(error))",
      ["test/registrar/registration/states/standby"],
    ],
    "a self-check is healthy after the end": [
      '{ kind: "missing", text: "the registration has ended" }',
      '{ kind: "ok" }',
      ["test/registrar/registration/self-check", "test/registrar/registration/registration.test"],
    ],
  }),
];
