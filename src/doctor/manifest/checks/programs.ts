import { resolve } from "node:path/posix";
import { boundText } from "../../../logging/escape";
import { isTemplate } from "../../rules/words";
import { mountOf } from "../mounts";
import type { Deployment } from "../read-deployments";
import type { ProbeFacts } from "../read-probes";
import { eachDeployment, problem } from "./each-deployment";

/** All that our image has, by the Dockerfile. Its PATH finds one of them, by its name. */
const IN_OUR_IMAGE = [
  "/csi-node-driver-registrar",
  "/registrar/cli.js",
  "/nodejs/bin/node",
  ...["/csi-sidecars", "/usr/local/bin/csi-sidecars", "csi-sidecars"],
];

/** Most runtimes give kubelet no exit code then, and it takes that for no answer: https://github.com/kubernetes/kubernetes/issues/106682 */
const THEN: Readonly<Record<ProbeFacts["kind"], string>> = {
  livenessProbe: "it checks nothing, or kubelet restarts the container for ever",
  readinessProbe: "the pod never gets ready",
  startupProbe: "the pod never gets ready",
};
const LEAVE = "leave this container to the official image";

export const manifestPrograms = eachDeployment("CSI117", "manifest-programs", (one) => {
  const { program, command, probes, postStart } = one;
  if (program.kind !== "ours" || program.hasShell) return undefined;
  const uses = [
    {
      word: command[0],
      what: "is started by",
      result: "the container cannot be created",
      fix: `have ${IN_OUR_IMAGE[0]} as command, or none, or ${LEAVE}`,
    },
    ...probes.map(({ kind, command: [word] }) => ({
      word,
      what: `has a ${kind} that runs`,
      result: THEN[kind],
      fix: `remove the probe, or ${LEAVE}`,
    })),
    {
      word: postStart[0],
      what: "has a postStart hook that runs",
      result: "kubelet kills the container for ever",
      fix: `remove the hook, or ${LEAVE}`,
    },
  ];
  return uses.flatMap(({ word, what, result, fix }) =>
    word === undefined || mayRun(word, one)
      ? []
      : problem(`${what} ${boundText(word)}, which this registrar's image does not have: ${result}`, fix),
  );
});

/** A volume may have other programs. */
function mayRun(word: string, { mounts }: Deployment): boolean {
  const path = word.includes("/") ? resolve("/", word) : word;
  return isTemplate(word) || IN_OUR_IMAGE.includes(path) || mountOf(path, mounts) !== undefined;
}
