import { boundText } from "../../../logging/escape";
import { isTemplate } from "../../rules/words";
import { placeInChart } from "../read/charts";
import type { Deployment, ManifestFacts } from "../read/deployments";
import type { Resource } from "../read/limits";
import { problem, type Statement, warning } from "./each-deployment";
import { quantityOf } from "./quantity";

/** How a fix begins, by what sets the limit. */
interface Bound {
  readonly amount: number;
  /** `has a memory limit of 30Mi`. */
  readonly text: string;
  /** What to raise; undefined: the container's own limit. */
  readonly raise: string | undefined;
}

const NAMES: Readonly<Record<Resource, string>> = { memory: "memory", cpu: "CPU" };
const rangesOf = ({ object }: Deployment, { limits }: ManifestFacts) =>
  limits.ranges.filter(({ namespace }) => namespace === (object.namespace ?? "default"));

/** The least of the limits on a registrar: its own, or its namespace's default, and its pod's. */
export function boundOn(one: Deployment, facts: ManifestFacts, resource: Resource): Bound | undefined {
  const what = `${NAMES[resource]} limit of`;
  const { [resource]: own } = one.limits;
  const { [resource]: ofPod } = one.podLimits;
  const byDefault = rangesOf(one, facts).flatMap(({ name, byDefault: { [resource]: limit } }) =>
    quantityOf(own) === 0 && limit !== undefined
      ? [
          {
            limit: String(limit),
            text: `gets a ${what} ${limit} from ${name}`,
            raise: `the limit in ${name}`,
          },
        ]
      : [],
  );
  const all = [
    { limit: own, text: `has a ${what} ${own}`, raise: undefined },
    { limit: ofPod, text: `is in a pod with a ${what} ${ofPod}`, raise: "that limit" },
    ...byDefault,
  ].map((bound) => ({ ...bound, amount: quantityOf(bound.limit) ?? 0 }));
  // 0 is no limit.
  return all.filter(({ amount }) => amount > 0).sort((less, more) => less.amount - more.amount)[0];
}

/** A limit that the API server takes from no program. */
export function judgeLimit(
  one: Deployment,
  facts: ManifestFacts,
  resource: Resource,
  example: string,
): Statement | undefined {
  const { limits, podLimits, chart } = one;
  const place = placeInChart(chart, "resources");
  const limit = limits[resource];
  const what = `has a ${NAMES[resource]} limit of`;
  const refusal = "the API server refuses it";
  const amount = quantityOf(limit);
  if (isTemplate(limit)) return undefined;
  if (amount === undefined || amount < 0)
    return problem(
      `${what} ${boundText(limit.trim() === "" ? JSON.stringify(limit) : limit)}, which is ${amount === undefined ? "no quantity" : "negative"}: ${refusal}`,
      `write ${example}, for example${place}`,
    );
  const others = [
    { name: "its pod", most: podLimits[resource] },
    ...rangesOf(one, facts).map(({ name, max }) => ({ name, most: String(max[resource] ?? "") })),
  ];
  const less = others.find(({ most }) => amount > (quantityOf(most) || Number.POSITIVE_INFINITY));
  return (
    less &&
    problem(
      `${what} ${limit}, and ${less.name} allows ${less.most} at most: ${refusal}`,
      `lower it${place}, or raise the limit of ${less.name}`,
    )
  );
}

/** A VerticalPodAutoscaler scales a limit with the request that it measured for another program. */
export function judgeAutoscaler(
  { object, container, limits }: Deployment,
  { limits: { autoscalers } }: ManifestFacts,
  resource: Resource,
  least: string,
): Statement | undefined {
  if (!quantityOf(limits[resource])) return undefined;
  const target = [object.kind, object.namespace ?? "default", object.name].join();
  const found = autoscalers.find(({ target: other, policies }) => {
    const { mode, controlledValues, controlledResources, minAllowed } =
      policies.find(({ containerName }) => containerName === container) ??
      policies.find(({ containerName }) => containerName === "*") ??
      {};
    const isSpared =
      /^(?:off|false)$/i.test(String(mode)) ||
      controlledValues === "RequestsOnly" ||
      (Array.isArray(controlledResources) && !controlledResources.includes(resource));
    const lowest = quantityOf(String((minAllowed as Record<string, unknown> | undefined)?.[resource] ?? "0"));
    return other.join() === target && !isSpared && (lowest ?? 0) < (quantityOf(least) ?? 0);
  });
  return (
    found &&
    warning(
      `may get a lower ${NAMES[resource]} limit from ${found.name}`,
      `add to its containerPolicies: {containerName: ${container}, minAllowed: {${resource}: ${least}}}`,
    )
  );
}
