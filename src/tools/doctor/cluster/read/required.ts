import { refuse } from "../../../../base/errors";
import { list, refuseUnlike, tree } from "../../../../kube-api/objects";

const OF_CONTAINER = ["name", "env[].name", "volumeMounts[].name", "volumeMounts[].mountPath"];
const OF_POD = [
  "containers",
  ...OF_CONTAINER.flatMap((field) => [`containers[].${field}`, `initContainers[].${field}`]),
  ...["volumes[].name", "volumes[].csi?.driver", "volumes[].hostPath?.path"],
];
const OF_STATUS = ["name", "state", "ready", "restartCount", "state.terminated?.exitCode"].flatMap(
  (field) => [`status.containerStatuses[].${field}`, `status.initContainerStatuses[].${field}`],
);
const CONDITIONS = ["status.conditions[].type", "status.conditions[].status"];
const OF_ALL = [
  "uid",
  "creationTimestamp",
  "ownerReferences[].uid",
  "ownerReferences[].kind",
  "ownerReferences[].name",
];

/**
 * What an API server sends in each object, as far as doctor reads it: the fields that the API's types have without `omitempty`, or that its
 * validation requires. `[]`: in each item; `?`: in it, if it is there; `*`: it may be null or empty.
 */
const REQUIRED = {
  events: ["involvedObject"],
  limitranges: ["spec.limits*", "spec.limits[].type"],
  nodes: ["spec", "spec.taints[].key", "spec.taints[].effect", ...CONDITIONS],
  pods: [...OF_POD.map((field) => `spec.${field}`), "status.phase", ...CONDITIONS, ...OF_STATUS],
  daemonsets: [
    "spec.selector",
    ...OF_POD.map((field) => `spec.template.spec.${field}`),
    ...["status.currentNumberScheduled", "status.desiredNumberScheduled"],
  ],
  csidrivers: ["spec"],
  csinodes: ["spec.drivers*", "spec.drivers[].name"],
  volumeattachments: ["spec.attacher", "spec.nodeName"],
};

type Step = { readonly name: string; readonly mark: string };
const PATHS = new Map(
  Object.entries(REQUIRED).map(([resource, fields]) => [
    resource,
    [...OF_ALL.map((field) => `metadata.${field}`), ...fields].map((path) =>
      path.split(".").map((step): Step => {
        const [, name = "", mark = ""] = /^(\w+)(.*)$/.exec(step) ?? [];
        return { name, mark };
      }),
    ),
  ]),
);

/** Throws INVALID_OPTION for an object that lacks a field which an API server always sends. */
export function requireFields(object: unknown, resource: keyof typeof REQUIRED): void {
  for (const path of PATHS.get(resource) ?? []) requireField(object, path, "");
}

function requireField(value: unknown, [step, ...more]: readonly Step[], parent: string): void {
  if (step === undefined) return;
  const { name, mark } = step;
  const [at, field] = [`${parent}${name}`, tree(value)[name]];
  if (mark === "[]")
    for (const [number, item] of list(field).entries()) requireField(item, more, `${at}[${number}].`);
  else if (field !== undefined || mark !== "?") {
    if (mark === "*" ? Object(value)[name] === undefined : isMissing(field)) refuse(`it has no ${at}`);
    // All numbers among them are int32.
    if (typeof field === "number" && field !== (field | 0)) refuseUnlike(field, "whole number");
    requireField(field, more, `${at}.`);
  }
}

const isMissing = (field: unknown) =>
  field === undefined || field === "" || (Array.isArray(field) && field.length === 0);
