import {
  list,
  numberOrNone,
  type Tree,
  text,
  textOrNone,
  textOrNumber,
  tree,
} from "../../../../kube-api/objects";
import { lastPart } from "../../../recognise/image";
import { behindRegistrar, type Program } from "../../../recognise/program";
import { isTemplate } from "../../../recognise/rule";
import { PROBES } from "../../../recognise/swap";
import { textOf } from "../../findings/opened";
import { beyond, type ItemOf, listFrom, looked, truth, type Unread } from "../../findings/seen";
import { ofContainer } from "../../findings/words";
import { filledIn, listensOn, modeIn, settingsOf, unseenOf, type WrittenSettings } from "./arguments";
import { environmentOf, withoutVariables } from "./environment";
import { allFilled, filled, filledOf, numberOrOpen, unread } from "./filled";
import { runsOn } from "./pod";
import { lookOfSettings } from "./settings";

/** What kubelet connects to. */
export interface ProbeAddress {
  /** A number, or the name of a port that the container does not have. */
  readonly port: string;
  readonly path: string | undefined;
  /** Undefined: the pod's address. */
  readonly host: string | undefined;
  readonly asks: "HTTP" | "HTTPS" | "gRPC" | "TCP";
}

export type ProbeFacts = ReturnType<typeof probesOf>[number];

export function probesOf(container: Tree, program: Program) {
  const fill = environmentOf(container);
  const ports = new Map(
    list(container.ports)
      .map(tree)
      .map((one) => [text(one.name), numberOrOpen(one.containerPort)]),
  );
  const openPort = [...ports.keys()].find(isTemplate);
  return PROBES.flatMap((kind) => {
    const probe = tree(container[kind]);
    const { exec, grpc, httpGet, tcpSocket } = probe;
    if ([exec, grpc, httpGet, tcpSocket].every((way) => way === undefined || way === null)) return [];
    const asked = tree(httpGet ?? grpc ?? tcpSocket);
    const scheme = text(asked.scheme);
    const http = scheme === "HTTPS" ? "HTTPS" : "HTTP";
    const words = list(tree(exec).command).map((word) => fill(text(word)));
    const command = words.map((word) => word.text);
    const own = behindRegistrar(command);
    const elsewhere = (word: (typeof words)[number]) => word.open.find(({ isElsewhere }) => isElsewhere);
    const mayBeOwn = behindRegistrar(words.map((word) => (elsewhere(word) ? "registrar" : word.text)));
    const hidden = own ? undefined : mayBeOwn && words.map(elsewhere).find((one) => one !== undefined);
    const port = textOrNumber(
      ports.get(textOrNumber(asked.port)) ??
        (typeof asked.port === "string" ? openPort : undefined) ??
        asked.port,
    );
    const path = httpGet ? text(asked.path ?? "/") : undefined;
    const host = textOrNone(asked.host);
    const open = [port, path ?? "", host ?? "", scheme].find(isTemplate);
    const address: ProbeAddress = { port, path, host, asks: httpGet ? http : grpc ? "gRPC" : "TCP" };
    const unfilled = command.find((word) => isTemplate(withoutVariables(word)));
    const start = { args: command, open: words.flatMap((word) => word.open) };
    const settings = own && settingsOf(own, program, start.open);
    // Kubelet takes 0 for 1.
    const timeoutSeconds = (own && numberOrNone(probe.timeoutSeconds)) || 1;
    const look = settings && {
      ...{ ...lookOfSettings(settings, start.open, program), modeFlag: modeIn(command), timeoutSeconds },
    };
    return {
      kind,
      /** What kubelet connects to; undefined: it runs a command in the container. */
      address: exec ? undefined : filled(open ?? "", "", address),
      /** Of a registrar; undefined: the command is another program's. */
      settings:
        unfilled === undefined
          ? looked(hidden ? unread("elsewhere", hidden.name) : settings && mayFail(start, settings), look)
          : looked(unread("placeholder", unfilled), look),
      /** For how many seconds it may fail after the start, if it asks our server. */
      patience: looked(exec || program.kind !== "ours" ? UNMEASURED : patienceOf(probe)),
    };
  });
}

const mayFail = (start: Parameters<typeof unseenOf>[0], settings: WrittenSettings) =>
  unseenOf(start, settings) ?? (settings.isSaid ? settings.open : undefined);
const UNMEASURED: Unread = { kind: "unread", gap: beyond("files") };
/** The API server takes 0 for the default of a period, and of a number of failures. */
const patienceOf = ({ initialDelaySeconds, periodSeconds, failureThreshold }: Tree): number =>
  (numberOrNone(initialDelaySeconds) ?? 0) +
  (numberOrNone(periodSeconds) || 10) * (numberOrNone(failureThreshold) || 3);

/** What a shell may take for a word of its own; a placeholder is in one. */
const SHELL_WORD = /(?:\{\{.*?\}\}|<[^<>]*>|\$\([^)]*\)|\$\{[^}]*\}|\S)+/g;
const PORT_FLAG =
  /(?:^|\s)--?(?:health-port|http-endpoint|(?:health-probe|metrics)-bind-address|metrics(?:-(?:endpoint|addr|address|port))?)[=\s]["']?((?:\{\{.*?\}\}|<[^<>]*>|\$\([^)]*\)|\$\{[^}]*\}|[^\s"'])+)/g;
/** A flag or a variable whose name is filled in. */
const FILLED_NAME = /^-[\w.-]*(?:=|$)|^\w+=/;
/** The host and the port of such a flag's value; what is not filled in may be both, unless a colon ends it. */
function addressIn(value: string) {
  const [, host = "", port = ""] = /^(|.*\D)(\d+)$/.exec(value) ?? [];
  if (port !== "" && (!isTemplate(host) || host.endsWith(":"))) return { host, port };
  return isTemplate(value) || value.includes("$") ? { host: "", port: value } : [];
}
/** That of kubernetes-csi's livenessprobe without a flag. */
const LIVENESS_PORT = "9808";

export type BesideFacts = ReturnType<typeof besideOf>;

/** Another container that runs beside a registrar, or may, as this restart policy says. */
export function besideOf(container: Tree, policy: string) {
  const [name, image, words] = [text(container.name), text(container.image), filledIn(container)];
  const all = words.map((word) => word.text);
  const variables = words.flatMap(({ open }) => open);
  const addresses = Array.from(all.join(" ").matchAll(PORT_FLAG)).flatMap(([, value = ""]) =>
    addressIn(value),
  );
  const found = addresses.map(({ host, port }) => ({
    port,
    on: listensOn(host.replace(/^\w+:\/\/|:$/g, ""), variables),
  }));
  const mayBePorts = [
    ...found.map(({ port }) => port),
    ...all.flatMap((one) => one.match(SHELL_WORD) ?? []).filter((word) => !FILLED_NAME.test(word)),
  ];
  const serves = found.flatMap(({ port, on }) => (isTemplate(port) ? [] : { port, on: looked(on) }));
  const mayBeLiveness = isTemplate(lastPart(image)) || /^livenessprobe/.test(lastPart(image));
  const byDefault = {
    port: LIVENESS_PORT,
    on: filled(mayBePorts.find(isTemplate) ?? lastPart(image), "", "all"),
  };
  const declared = list(container.ports).flatMap((one) => {
    const { containerPort, hostPort } = tree(one);
    return [...new Set([containerPort, hostPort].map(numberOrOpen))].filter((port) => port !== "");
  });
  const values = list(container.env).map((one) => text(tree(one).value));
  const who = ofContainer(name);
  const runs = runsOn(policy, who);
  const told = allFilled(found.length === 0 && mayBeLiveness ? [byDefault] : serves, mayBePorts, who);
  const said = filledOf(declared, who).filter((port) => serves.every((its) => its.port !== port));
  return {
    name: textOf({ told: name, gaps: [] }),
    runs,
    /** Where it serves a port. It may have ports that no known flag tells. */
    servesAt: (port: string) =>
      told.with(listFrom<ItemOf<typeof told>>(UNMEASURED)).filter((its) => runs.and(its.port === port)),
    /** The port, if it says it has it, and no flag says more. Another container may serve it. */
    declares: (port: string) => said.filter((its) => runs.and(its === port)),
    /** Whether it has this port, by its flags and ports: it may have one that none of these tells. */
    tells: (port: string) =>
      told
        .contains((its) => its.port === port)
        .or(said.contains((its) => its === port))
        .and(runs)
        .or(truth(UNMEASURED.gap)),
    /** Its arguments and variables that have this number: by a flag that doctor does not know it may serve that port. */
    mentions: (port: string) =>
      filledOf([...all, ...values], who).filter((word) => word.split(/\D+/).includes(port)),
    probes: probesOf(container, { kind: "unknown", what: "other" }),
  };
}
