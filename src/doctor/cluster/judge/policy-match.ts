import { isPattern } from "../../../host-path/path-pattern";
import { PROGRAM } from "../../../manifest/image-policy/recognise";
import type { Deployment } from "../../manifest/read/deployments";
import type { ClusterReading } from "../read/cluster";
import { type ImagePolicy, isByName, NAME_LABEL, selects } from "../read/policy";
import type { RegistrarUnit } from "./driver-names";

type Policies = Pick<ClusterReading, "policies" | "bindings" | "namespaces">;

/** Why a policy leaves a registrar alone, in the order in which it asks; `none`: it changes new pods. */
export const LEFT_ALONE = [
  "namespace",
  "opted-out",
  "windows",
  "image",
  "program",
  "socket",
  "only-container",
  "none",
] as const;
export type LeftAlone = (typeof LEFT_ALONE)[number];

export interface PolicyMatch {
  readonly policy: ImagePolicy;
  readonly leftAlone: LeftAlone;
  /** Since when it is so, in Unix time. */
  readonly sinceMs: number;
}

/** What the policies make of a registrar in a new pod: by the one that comes nearest to a change. Undefined: none is in force. */
export function matchOf(unit: RegistrarUnit, policies: Policies): PolicyMatch | undefined {
  const matches = policies.policies.flatMap((policy) => matchesOf(unit, policy, policies));
  return matches.toSorted((one, other) => rankOf(other) - rankOf(one))[0];
}

const rankOf = ({ leftAlone }: PolicyMatch) => LEFT_ALONE.indexOf(leftAlone);

function matchesOf(
  { set, registrar }: RegistrarUnit,
  policy: ImagePolicy,
  { bindings, namespaces }: Policies,
): readonly PolicyMatch[] {
  const [namespace = ""] = set.name.split("/");
  const labels = namespaces.get(namespace) ?? { [NAME_LABEL]: namespace };
  // If bindings cannot be read, there is one that selects all.
  const bound = bindings?.filter((binding) => binding.policy === policy.name) ?? [policy];
  return bound.flatMap(({ changedMs, selection }) => {
    const both = [policy.selection, selection];
    const isKnown = namespaces.has(namespace) || both.every((one) => isByName(one.namespaces));
    if (!isKnown) return [];
    const sinceMs = Math.max(policy.changedMs, changedMs);
    if (!both.every((one) => selects(one.namespaces, labels)))
      return { policy, sinceMs, leftAlone: "namespace" };
    if (!both.every((one) => selects(one.pods, set.podLabels)))
      return { policy, sinceMs, leftAlone: "opted-out" };
    return { policy, sinceMs, leftAlone: judge(registrar, policy) };
  });
}

function judge(one: Deployment, { images, kind, served }: ImagePolicy): LeftAlone {
  if (one.isForWindows) return "windows";
  if (!images.test(one.image)) return "image";
  if (otherProgramOf(one) !== undefined) return "program";
  if (kind === "swap") return "none";
  const { kubeletRegistrationPath: path } = one.settings;
  if (isPattern(path) || served?.test(path) === false) return "socket";
  return one.hasDriver ? "none" : "only-container";
}

/** The program that a container, its exec probe or its hook runs in place of the registrar; our image does not have it. */
export function otherProgramOf({ command, probes, postStart }: Deployment): string | undefined {
  const programs = [command[0], ...probes.map((probe) => probe.command[0]), postStart[0]];
  return programs.find((program) => program !== undefined && program !== PROGRAM);
}
