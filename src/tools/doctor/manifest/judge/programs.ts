import { resolve } from "node:path/posix";
import { text } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { isWithin } from "../../../../unix/mounts";
import { PROGRAM } from "../../../manifest/image-policy/recognise";
import { isTemplate } from "../../findings/words";
import type { Deployment } from "../read/deployments";
import { mountOf } from "../read/mounts";
import { hookOf } from "../read/pod";
import { eachDeployment, problem, type Statement, unknown, warning } from "./each-deployment";

/** All that our image has, by the Dockerfile. Its PATH finds one of them, by its name. */
const IN_OUR_IMAGE = [
  PROGRAM,
  "/registrar/cli.js",
  "/nodejs/bin/node",
  ...["/csi-sidecars", "/usr/local/bin/csi-sidecars", "csi-sidecars"],
];

const LEAVE = "leave this container to the official image";

/** Whether one of a shell's commands removes a registration socket. Each text is searched once, however long it is. */
function removesSocket(command: string): boolean {
  return command.split(/[;&|]/).some((one) => {
    const at = one.search(/\brm\s/);
    return at >= 0 && /-reg\.sock\b/.test(one.slice(at));
  });
}

const manifestPreStop = eachDeployment("CSI106", "manifest-pre-stop", ({ source, program, pod }) => {
  const beside = pod.drivers
    .map((driver) => ({ name: text(driver.name), command: hookOf(driver, "preStop").join(" ") }))
    .filter(({ command }) => removesSocket(command))
    .map(({ name, command }) =>
      warning(
        `is beside container ${name}: its preStop hook removes registration sockets: ${boundText(command)}`,
        "leave them out of the hook: the registrar removes its own",
      ),
    );
  const preStop = hookOf(source.container, "preStop");
  if (program.kind === "unknown") return beside;
  const fails = program.hasShell === false && /(?:^|\/)(?:ba|da)?sh$/.test(preStop[0] ?? "");
  if (!fails && !preStop.some((word) => /\brm\b/.test(word))) return beside;
  const what = fails ? "always fails, because the image has no shell" : "removes files";
  // It may fail before the swap, too.
  const isOld =
    fails && program.kind === "ours" && program.replaced && program.replaced.hasShell === undefined;
  const say = isOld ? unknown : warning;
  return [say(`has a preStop hook that ${what}: ${boundText(preStop.join(" "))}`, "delete the hook"), beside];
});

const manifestPrograms = eachDeployment("CSI117", "manifest-programs", (one) => {
  const { program } = one;
  if (program.kind !== "ours" || program.hasShell) return undefined;
  return [judgeWords(one), judgeMounts(one)];
});

/** The runtime decides whether a probe that cannot run fails: https://github.com/kubernetes/kubernetes/issues/106682 */
function judgeWords(one: Deployment): readonly Statement[] {
  const uses = [
    { what: "is started by", word: one.command[0] },
    ...one.probes.map(({ kind, command: [word] }) => ({ what: `has a ${kind} that runs`, word })),
    { what: "has a postStart hook that runs", word: hookOf(one.source.container, "postStart")[0] },
  ];
  return uses.flatMap(({ what, word }) =>
    word === undefined || mayRun(word, one)
      ? []
      : problem(
          `${what} ${boundText(word)}, which this registrar's image does not have`,
          `remove that, or ${LEAVE}`,
        ),
  );
}

/** What the image starts with, by the Dockerfile: Node's libraries, and the files of the registrar. */
const NEEDED = [
  ...IN_OUR_IMAGE.slice(0, 3),
  ...["/registrar/cli", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu"],
  ...["/usr/lib/aarch64-linux-gnu", "/lib64/ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2"],
];

function judgeMounts({ mounts }: Deployment): readonly Statement[] {
  const over = mounts.filter(({ mountPath }) => NEEDED.some((path) => isWithin(path, mountPath)));
  return over.map(({ mountPath, volume }) =>
    problem(
      `mounts the volume ${volume} at ${mountPath}, over files of this registrar's image`,
      `mount it elsewhere, or ${LEAVE}`,
    ),
  );
}

/** A volume may have other programs. */
function mayRun(word: string, { mounts }: Deployment): boolean {
  const path = word.includes("/") ? resolve("/", word) : word;
  return isTemplate(word) || IN_OUR_IMAGE.includes(path) || mountOf(path, mounts) !== undefined;
}

export const programChecks = [manifestPreStop, manifestPrograms];
