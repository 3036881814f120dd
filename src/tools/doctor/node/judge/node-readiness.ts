import { neededRules, rulesText, type Taint } from "../../../../node-readiness/node-api";
import { findTaints, startupTaintsOf, taintText } from "../../../../node-readiness/startup-taint";
import { check, ok, problem, unknown, type Verdict, type Verdicts, warning } from "../../findings/finding";
import { type NodeReadinessFacts, needsOf } from "../read/node-readiness";
import { driversIn } from "./rows";
import type { View } from "./view";

/** Keeps startup taints on. */
const CAUSE = "node-readiness";
const NODE_NAME_FIX =
  "give --node-name, or set NODE_NAME from fieldRef spec.nodeName in the registrar's container";

export const nodeReadiness = check("CSI021", "node-readiness", (view: View) => {
  const { nodeReadiness: seen } = view;
  if (seen === undefined) return undefined;
  if (seen.kind === "asked") return [judgeRights(seen), judgeNode(seen, view)];
  if (seen.kind === "no-token") {
    const fix = "mount the service account's token into the container: automountServiceAccountToken: true";
    return problem(seen.path, `cannot be read: ${seen.why}`, fix, CAUSE);
  }
  const { nodeName, access } = seen.target;
  const unnamed = (why: string) => warning("this node", `has no known name: ${why}`, NODE_NAME_FIX);
  const unseen = (why: string) => unknown("the node's readiness", `cannot be seen from here: ${why}`);
  return [
    nodeName.kind === "unknown" ? unnamed(nodeName.why) : undefined,
    access.kind === "unknown" ? unseen(access.why) : undefined,
  ];
});

type Asked = Extract<NodeReadinessFacts, { readonly kind: "asked" }>;

const CANNOT_ASK =
  "see whether this pod can reach it, whether its certificate fits the CA here, and the token is of this cluster";

function judgeRights({ rights, target }: Asked): Verdicts {
  if (rights.kind === "failed")
    return problem("the API server", `cannot be asked: ${rights.failure.message}`, CANNOT_ASK, CAUSE);
  const { allowed, denied } = rights.value;
  if (denied.length === 0) return ok("the service account", `may do what is needed: ${allowed.join(", ")}`);
  const fix = `bind it to a ClusterRole with these rules: ${rulesText(neededRules(needsOf(target)))}`;
  return problem("the service account", `may not ${denied.join(", ")}`, fix, CAUSE);
}

function judgeNode({ node, nodeName, listed, target }: Asked, view: View): Verdicts {
  if (node.kind === "failed") {
    const { kind, message } = node.failure;
    if (kind === "not-found")
      return problem(nodeName, "is no Node of this cluster", `${NODE_NAME_FIX}: kubectl get nodes`, CAUSE);
    // For any other failure the rights' own answer has it already.
    return kind === "forbidden"
      ? unknown(nodeName, `may not be read, so its taints are not known: ${message}`)
      : undefined;
  }
  const drivers = [...new Set(driversIn(view).flatMap(({ name }) => name ?? []))];
  const isListed = (name: string) =>
    listed.kind === "done" ? listed.value.some((driver) => driver.name === name) : undefined;
  const found = drivers.flatMap((driver) =>
    findTaints(node.value, startupTaintsOf(driver, target.startupTaints)).map((taint) =>
      judgeTaint(nodeName, taint, driver, isListed(driver)),
    ),
  );
  if (found.length > 0) return found;
  if (drivers.length > 0) return ok(nodeName, "has no startup taint of a driver that is here");
  const { taints } = node.value;
  return taints.length === 0
    ? ok(nodeName, "has no taint")
    : unknown(nodeName, `has taints, and no driver tells its name: ${taints.map(taintText).join(", ")}`);
}

function judgeTaint(nodeName: string, taint: Taint, driver: string, isListed: boolean | undefined): Verdict {
  const since = typeof taint.timeAdded === "string" ? ` since ${taint.timeAdded}` : "";
  const on = `has the startup taint ${taintText(taint)}${since}`;
  if (isListed === undefined)
    return unknown(
      nodeName,
      `${on}; CSINode, which may list ${driver}, may not be read`,
      `compare with kubectl get csinode ${nodeName} -o yaml`,
    );
  if (!isListed) return ok(nodeName, `${on}, as it should: CSINode does not list ${driver} yet`);
  return problem(
    nodeName,
    `${on}, though CSINode lists ${driver}: no pod is scheduled here that does not tolerate it`,
    "see the registrar's log for failed requests to the API server; until they succeed: " +
      `kubectl taint node ${nodeName} ${taint.key}:${taint.effect}-`,
    CAUSE,
  );
}
