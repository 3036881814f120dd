import { dirname } from "node:path";
import type { PluginInfo } from "../../../grpc/protos";
import { explainHostPath } from "../../../host-path/host-path";
import { behaviourOf, NEWEST_SIMULATED } from "../../../kubelet-rules/versions";
import { explainSilence, hintForRefusal } from "../../../registrar/registration/hints";
import type { RegistrationReport } from "../../../registrar/registration/self-check";
import { check, ok, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import {
  answerIn,
  type DirectoryFacts,
  type Facts,
  type RegistrationFacts,
  type SocketFacts,
} from "../read/facts";
import { driverLeftIn, isTargets, targetName } from "./matching";
import { troubleOf } from "./trouble";
import { DRIVER, downCause, nodeInfoCause, RUN_AS_ROOT, SEE_REGISTRAR } from "./words";

const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

export const registration = check("CSI015", "registration", (facts: Facts) => {
  const { directory, registrations, target } = facts;
  if (directory.kind !== "folder") return undefined;
  const { path } = directory;
  const theirs = registrations.filter((one) => isTargets(one, facts));
  if (theirs.length > 0) return theirs.map((one) => judge(one, facts));
  if (directory.unlistable !== undefined)
    return unknown("the registration", `cannot be looked for: ${path} may not be read`, RUN_AS_ROOT);
  if (target.csiSocketPath === undefined)
    return unknown(path, "has no registration socket on which a CSI driver's registrar answers");
  const name = targetName(facts);
  if (name === undefined)
    return unknown(DRIVER, "has no known name: its registration socket cannot be found by it");
  return problem(
    name,
    `has no registration socket in ${path}`,
    "see whether its registrar runs, and whether its --plugin-registration-path leads here",
  );
});

function judge(one: RegistrationFacts, facts: Facts): Verdict {
  const { socket, info, report } = one;
  const { path } = socket;
  if (info.kind !== "answered") {
    const { text, fix, unseen } = troubleOf(one, true);
    return (unseen === "forbidden" ? unread : problem)(path, text, fix);
  }
  const { name, endpoint } = info.value;
  return report === undefined
    ? unknown(
        name,
        `has a registrar on ${path} that does not tell whether kubelet registered it`,
        "kubectl get csinode NODE -o yaml lists the drivers that kubelet registered",
      )
    : judgeState({ name, path, endpoint, ...report }, facts);
}

type Stated = RegistrationReport & Pick<PluginInfo, "name" | "endpoint"> & Pick<SocketFacts, "path">;

function judgeState(one: Stated, facts: Facts): Verdict {
  const { name, path, state, reason, refusal } = one;
  // With policy retry the registrar publishes again after a refusal: until kubelet comes, its last words count.
  if (state === "refused" || (state === "listening" && refusal !== undefined))
    return judgeRefusal(one, facts);
  switch (state) {
    case "registered":
      return ok(name, `is registered with kubelet, says its registrar on ${path}`);
    case "listening":
      return problem(
        name,
        `is published on ${path}, but ${reason ?? "kubelet does not call"}`,
        explainSilence(dirname(path), NO_CONNECTION),
        silenceCause(facts.directory),
      );
    default:
      return warning(
        name,
        `is not registered yet: its registrar is ${state}${reason === undefined ? "" : `: ${reason}`}`,
        `look again in a while, and ${SEE_REGISTRAR}`,
      );
  }
}

function judgeRefusal({ name, endpoint, refusal: words }: Stated, facts: Facts): Verdict {
  const { kubeletRegistrationPath, pattern } = facts.target;
  const path = (pattern ? undefined : kubeletRegistrationPath) ?? endpoint;
  const hint = hintForRefusal(words ?? "", path, { foundByPattern: pattern && name });
  return problem(
    name,
    `was refused by kubelet${words === undefined ? "" : `: ${words}`}`,
    hint ??
      (words === undefined
        ? `${SEE_REGISTRAR} for kubelet's reason, or kubectl describe pod`
        : "these are kubelet's words: see its log on the node, journalctl -u kubelet, and docs/troubleshooting.md"),
    causeOfRefusal(name, words ?? "", facts),
  );
}

/** Kubelet could not reach the driver: it got the wrong path, or the driver is down. */
function causeOfRefusal(name: string, words: string, { driver, hostPath }: Facts): string | undefined {
  if (!/dial unix /.test(words)) return /NodeGetInfo|node/i.test(words) ? nodeInfoCause(name) : undefined;
  if (hostPath && explainHostPath(hostPath)) return "host-path";
  return driver && downCause(driver.socket);
}

function silenceCause(directory: DirectoryFacts): string | undefined {
  if (directory.kind !== "folder") return undefined;
  if (directory.place?.fileSystem === "overlay") return "not-kubelets";
  return directory.kubeletSocket.kind === "not-accepting" ? "kubelet-down" : undefined;
}

export const otherRegistrations = check("CSI019", "other-registrations", (facts: Facts) => {
  const rest = facts.registrations.filter((one) => !isTargets(one, facts));
  const names = rest.flatMap(({ info }) => answerIn(info)?.name ?? []);
  const verdicts = rest.map((one) => judgeOther(one, facts));
  if (names.length === 0) return verdicts;
  return [...verdicts, ok(names.join(", "), names.length === 1 ? "answers too" : "answer too")];
});

function judgeOther(one: RegistrationFacts, facts: Facts): Verdict | undefined {
  const { path } = one.socket;
  if (one.info.kind !== "answered") {
    const { text, fix, unseen } = troubleOf(one, driverLeftIn(one, facts) !== undefined);
    return unseen === undefined ? warning(path, text, fix) : unknown(path, text, RUN_AS_ROOT);
  }
  const { type } = one.info.value;
  const known: readonly string[] = behaviourOf(NEWEST_SIMULATED).pluginTypes;
  if (known.includes(type)) return undefined;
  const text = `is of type "${type}", for which kubelet has no handler`;
  return warning(path, text, "remove the plugin, or correct its type");
}
