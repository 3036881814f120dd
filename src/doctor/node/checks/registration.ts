import { dirname } from "node:path";
import { explainHostPath } from "../../../host-path/host-path";
import { explainSilence, hintForRefusal } from "../../../registrar/registration/hints";
import { type Check, ok, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import { nodeInfoCause } from "../drivers";
import type { Facts, RegistrationFacts, RegistrationReport } from "../facts";
import { standingOf } from "../standing";
import { answeringIn, isTargets, whoseIn } from "../whose";
import { isDown, RUN_AS_ROOT, SEE_REGISTRAR } from "../words";

const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

export const registration: Check<Facts> = {
  code: "CSI015",
  name: "registration",
  verdicts: (facts) => {
    const { directory, registrations } = facts;
    const whose = whoseIn(facts);
    if (directory.kind !== "folder") return undefined;
    const theirs = registrations.filter((one) => isTargets(one, facts));
    if (theirs.length > 0) return theirs.map((one) => judge(one, facts));
    if (directory.unlistable !== undefined)
      return unknown(
        "the registration",
        `cannot be looked for: ${directory.path} may not be read`,
        RUN_AS_ROOT,
      );
    switch (whose.kind) {
      case "nameless":
        return unknown(
          "the CSI driver",
          "has no known name: which registration socket is its own cannot be told",
        );
      case "all":
        return unknown(
          directory.path,
          "has no registration socket on which a CSI driver's registrar answers",
        );
      case "driver":
        return problem(
          whose.name,
          `has no registration socket in ${directory.path}`,
          "see whether its registrar runs, and whether its --plugin-registration-path leads here",
        );
      default:
        return whose satisfies never;
    }
  },
};

function judge(one: RegistrationFacts, facts: Facts): Verdict {
  const standing = standingOf(one, true);
  const { path } = standing;
  if (standing.kind === "broken")
    return (standing.unseen === "forbidden" ? unread : problem)(path, standing.text, standing.fix);
  const { name, report } = standing;
  return report === undefined
    ? unknown(
        name,
        `has a registrar on ${path} that does not tell whether kubelet registered it`,
        "kubectl get csinode NODE -o yaml lists the drivers that kubelet registered",
      )
    : judgeState(name, path, report, facts);
}

function judgeState(
  name: string,
  path: string,
  { state, reason }: RegistrationReport,
  facts: Facts,
): Verdict {
  const words = reason?.replace(/^.*?kubelet refused: /, "");
  const because = words === undefined ? "" : `: ${words}`;
  switch (state) {
    case "registered":
      return ok(name, `is registered with kubelet, says its registrar on ${path}`);
    case "listening":
      // With policy retry the registrar publishes again after a refusal: until kubelet comes, its last words count.
      return /refused/.test(reason ?? "")
        ? refused(name, words, facts)
        : problem(
            name,
            `is published on ${path}, but ${reason ?? "kubelet does not call"}`,
            explainSilence(dirname(path), NO_CONNECTION),
            silenceCause(facts),
          );
    case "refused":
      return refused(name, words, facts);
    default:
      return warning(
        name,
        `is not registered yet: its registrar is ${state}${because}`,
        `look again in a while, and ${SEE_REGISTRAR}`,
      );
  }
}

function refused(name: string, words: string | undefined, facts: Facts): Verdict {
  const { kubeletRegistrationPath, patterns } = facts.target;
  const told = patterns ? undefined : kubeletRegistrationPath;
  const hint = hintForRefusal(words ?? "", told ?? endpointOf(name, facts), {
    foundByPattern: patterns && name,
  });
  return problem(
    name,
    `was refused by kubelet${words === undefined ? "" : `: ${words}`}`,
    hint ??
      (words === undefined
        ? `${SEE_REGISTRAR} for kubelet's reason, or kubectl describe pod`
        : "these are kubelet's words: see its log on the node, journalctl -u kubelet, and docs/troubleshooting.md"),
    causeOfRefusal(name, words, facts),
  );
}

function endpointOf(name: string, facts: Facts): string {
  const said = answeringIn(facts).find(({ info }) => info.name === name);
  return said?.info.endpoint ?? "the path that it is told";
}

/** Kubelet could not reach the driver: for the path that it was told, or because the driver is down. */
function causeOfRefusal(
  name: string,
  reason: string | undefined,
  { driver, hostPath }: Facts,
): string | undefined {
  if (!/dial unix /.test(reason ?? ""))
    return /NodeGetInfo|node/i.test(reason ?? "") ? nodeInfoCause(name) : undefined;
  if (hostPath && explainHostPath(hostPath)) return "host-path";
  if (driver === undefined || !isDown(driver.socket)) return undefined;
  return "inode" in driver.socket ? `down ${driver.socket.inode}` : `missing ${driver.socket.path}`;
}

function silenceCause({ directory }: Facts): string | undefined {
  if (directory.kind !== "folder") return undefined;
  if (directory.place?.fileSystem === "overlay") return "not-kubelets";
  const { kubeletSocket } = directory;
  return kubeletSocket.kind === "not-accepting" ? "kubelet-down" : undefined;
}
