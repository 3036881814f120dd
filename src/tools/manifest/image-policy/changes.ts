import { celList, celText, literal } from "../../recognise/rule";
import { PROBES } from "../../recognise/swap";

/** What this registrar's container needs at least, because it runs Node: the figures are in docs/measurements.md. */
export const LEAST = {
  memory: "64Mi",
  cpu: "50m",
  /** An exec probe starts a Node process of its own. */
  probeTimeoutSeconds: 10,
} as const;

/** An argument, added to registrars without the flags in `unless`. */
export interface AddedArgument {
  readonly word: string;
  readonly unless: readonly string[];
}

export const RAISES = ["memory", "cpu", "probe-timeouts"] as const;
type Raise = (typeof RAISES)[number];

/** A change of each registrar `r` that passes a test: what a JSON Patch adds, which replaces what is there. All CEL. */
interface Change {
  readonly when?: string;
  readonly path: string;
  readonly value: string;
}

function raiseLimit(resource: string, least: string): Change {
  const limit = `r.is.?resources.?limits[?'${resource}']`;
  const given = `quantity(${limit}.orValue(''))`;
  const tests = [
    `${limit}.hasValue()`,
    // 0 means unlimited.
    `${given}.isGreaterThan(quantity('0'))`,
    `${given}.isLessThan(quantity('${least}'))`,
    // The API server refuses a limit above the pod's own.
    `!quantity(object.spec.?resources.?limits[?'${resource}'].orValue('${least}')).isLessThan(quantity('${least}'))`,
  ];
  return { when: tests.join(" && "), path: `/resources/limits/${resource}`, value: `'${least}'` };
}

/** The changes of each kind; docs/charts.md has the reasons. */
const RAISING: Readonly<Record<Raise, readonly Change[]>> = {
  memory: [raiseLimit("memory", LEAST.memory)],
  cpu: [raiseLimit("cpu", LEAST.cpu)],
  "probe-timeouts": PROBES.map((probe) => ({
    when: `r.is.?${probe}.?exec.hasValue() && r.is.${probe}.?timeoutSeconds.orValue(1) < ${LEAST.probeTimeoutSeconds}`,
    path: `/${probe}/timeoutSeconds`,
    value: String(LEAST.probeTimeoutSeconds),
  })),
};

/** Adds arguments right behind the program, because flags behind a plain word do not count. */
const ADD_ARGUMENTS: readonly Change[] = [
  {
    when: "size(r.added) > 0 && size(r.is.?command.orValue([])) < 2",
    path: "/args",
    value: "r.added + r.is.?args.orValue([])",
  },
  {
    when: "size(r.added) > 0 && size(r.is.?command.orValue([])) > 1",
    path: "/command",
    value: "[r.is.command[0]] + r.added + r.is.command.transformList(i, word, i > 0, word)",
  },
];

/** Whether a container `c` names the port in its ports, command, arguments or variables. */
const NAMES_PORT = `(c.is.?ports.orValue([]).exists(p, p.containerPort == port) ||
    (c.is.?command.orValue([]) + c.is.?args.orValue([]) + c.is.?env.orValue([]).map(e, e.?value.orValue('')))
      .exists(t, t.matches('(^|[:=])' + string(port) + '$')))`;

const IS_ON_HOST_NETWORK = "object.spec.?hostNetwork.orValue(false)";

export interface MetricsPorts {
  /** In pods with a network of their own. Undefined: they get none. */
  readonly port?: number | undefined;
  /** On the host's network, by `NAMESPACE/NAME` of the DaemonSet or StatefulSet. */
  readonly host: Readonly<Record<string, number>>;
}

/** The name of the container's port, by which a PodMonitor finds it. */
const METRICS_PORT_NAME = "registrar";

/** The list with the port of the pod's registrar, in CEL; empty if it gets none. Two registrars could not share one. */
export function metricsPort({ port = 0, host }: MetricsPorts): string {
  const hosts = Object.entries(host).map(([name, hostPort]) => `${celText(name)}: ${hostPort}`);
  const owner = "request.namespace + '/' + object.metadata.?ownerReferences[?0].?name.orValue('')";
  const wanted =
    hosts.length === 0
      ? `${IS_ON_HOST_NETWORK} ? 0 : ${port}`
      : `${IS_ON_HOST_NETWORK} ? {${hosts.join(", ")}}[?${owner}].orValue(0) : ${port}`;
  return `variables.registrars.filter(r, size(variables.registrars) == 1 &&
    !r.words.exists(w, w.matches('^--?(http-endpoint|health-port)(=|$)')) &&
    !r.is.?ports.orValue([]).exists(p, p.?name.orValue('') == '${METRICS_PORT_NAME}'))
  .map(r, ${wanted})
  .filter(port, port > 0 && !variables.containers.exists(c, ${NAMES_PORT}))`;
}

const ADD_PORT: Change = {
  when: "size(variables.port) > 0",
  path: "/ports",
  value: `r.is.?ports.orValue([]) + [{'name': dyn('${METRICS_PORT_NAME}'), 'containerPort': dyn(variables.port[0])}]`,
};

/** The list of words that is added to a registrar `r`, in CEL. */
export function addedWords(args: readonly AddedArgument[], metrics: MetricsPorts | undefined): string {
  const lists = args.map(({ word, unless }) => {
    const names = celText(`^--?(${unless.map(literal).join("|")})(=|$)`);
    return `(r.words.exists(w, w.matches(${names})) ? [] : ${celList([word])})`;
  });
  const endpoint = "variables.port.map(port, '--http-endpoint=:' + string(port))";
  return [...lists, ...(metrics ? [endpoint] : [])].join(" +\n") || "[]";
}

export interface Swap {
  readonly image: string;
  readonly args: readonly AddedArgument[];
  /** Limits and timeouts that are not raised. */
  readonly keep: readonly Raise[];
  readonly metrics?: MetricsPorts | undefined;
}

/** The JSON Patch that changes each registrar's image, arguments, port, limits and timeouts. */
export function swapPatch({ image, args, keep, metrics }: Swap): string {
  const changes: readonly Change[] = [
    { path: "/image", value: celText(image) },
    ...(args.length > 0 || metrics ? ADD_ARGUMENTS : []),
    ...(metrics ? [ADD_PORT] : []),
    ...RAISES.filter((raise) => !keep.includes(raise)).flatMap((raise) => RAISING[raise]),
  ];
  return changes
    .map(({ when, path, value }) => {
      const some = when === undefined ? "" : `.filter(r,\n  ${when})`;
      return `variables.swapped${some}.map(r,\n  JSONPatch{op: 'add', path: r.path + '${path}', value: ${value}})`;
    })
    .join(" +\n");
}
