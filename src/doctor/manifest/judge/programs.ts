import { resolve } from "node:path/posix";
import { boundText } from "../../../logging/escape";
import { isWithin } from "../../../unix/mounts";
import { isTemplate } from "../../rules/words";
import type { Deployment } from "../read/deployments";
import { mountOf } from "../read/mounts";
import type { ProbeFacts } from "../read/probes";
import { eachDeployment, problem, type Statement, unknown, warning } from "./each-deployment";

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
  const { program } = one;
  if (program.kind !== "ours" || program.hasShell) return undefined;
  return [judgeWords, judgeMounts, judgeNodeOptions, judgeProfiles, judgeFips].flatMap(
    (judge) => judge(one) ?? [],
  );
});

function judgeWords(one: Deployment): readonly Statement[] {
  const { command, probes, postStart } = one;
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
}

/** What the image starts with, by the Dockerfile: Node's libraries, and the files of the registrar. */
const NEEDED = [
  ...IN_OUR_IMAGE.slice(0, 3),
  ...["/registrar/cli", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu"],
  ...["/usr/lib/aarch64-linux-gnu", "/lib64/ld-linux-x86-64.so.2"],
];

function judgeMounts({ mounts }: Deployment): readonly Statement[] {
  const over = mounts.filter(({ mountPath }) => NEEDED.some((path) => isWithin(path, mountPath)));
  return over.map(({ mountPath, volume }) =>
    problem(
      `mounts the volume ${volume} at ${mountPath}, over files of this registrar's image: the container cannot start`,
      `mount it elsewhere, or ${LEAVE}`,
    ),
  );
}

/** Options that load a file or package. */
const LOADING = /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader)(?:=|\s+)(\S+)/;

function judgeNodeOptions(one: Deployment): Statement | undefined {
  const { nodeOptions } = one;
  if (nodeOptions === undefined || nodeOptions.value === "") return undefined;
  const fix = "take NODE_OPTIONS out of its env";
  const { value } = nodeOptions;
  if (value === undefined)
    return unknown(
      "takes NODE_OPTIONS from elsewhere: Node ends if it refuses an option or lacks a file",
      fix,
    );
  const [, file] = LOADING.exec(value) ?? [];
  const sets = `sets NODE_OPTIONS=${boundText(value)}`;
  return file === undefined || mayRun(file, one)
    ? warning(`${sets}, which changes this registrar's Node, too`, fix)
    : problem(`${sets}: this registrar's image does not have ${boundText(file)}, and Node ends with 1`, fix);
}

const judgeProfiles = ({ profiles }: Deployment): readonly Statement[] =>
  profiles.map((profile) =>
    unknown(
      `runs under the ${profile}, which may forbid what Node needs and the official registrar does not`,
      "try it on one node, or use RuntimeDefault",
    ),
  );

function judgeFips({ program, image }: Deployment): Statement | undefined {
  if (program.kind !== "ours" || !program.replaced || !/fips/i.test(image)) return undefined;
  return warning(
    `has an image for FIPS 140 by its name, ${boundText(image)}, and this registrar's image is not validated`,
    `where FIPS is required, ${LEAVE}`,
  );
}

/** A volume may have other programs. */
function mayRun(word: string, { mounts }: Deployment): boolean {
  const path = word.includes("/") ? resolve("/", word) : word;
  return isTemplate(word) || IN_OUR_IMAGE.includes(path) || mountOf(path, mounts) !== undefined;
}
