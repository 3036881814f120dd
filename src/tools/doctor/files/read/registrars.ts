import {
  anyNameOf,
  anyText,
  anyTree,
  bool,
  list,
  mapOf,
  needed,
  type Tree,
  text,
  textOrNone,
  tree,
} from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { plainPath } from "../../../../unix/mounts";
import { makesDirectories } from "../../../recognise/official";
import { type OurImage, type Recognised, recognise } from "../../../recognise/program";
import { type Decided, isTemplate } from "../../../recognise/rule";
import { tell, textOf, toldOf } from "../../findings/opened";
import {
  listFrom,
  looked,
  refuseFlaw,
  type SeenList,
  startReading,
  truth,
  unsoughtIf,
  whyOf,
} from "../../findings/seen";
import {
  isStarting,
  type KnownProgram,
  lookOfProgram,
  servedBy,
  settingsOf,
  startOf,
  UNKNOWN,
  unseenOf,
} from "./arguments";
import type { FilesRead, ReadObject } from "./documents";
import { driverSocketOf, hasDriverIn, mayBeDrivers } from "./driver-socket";
import { knowsNodeName } from "./environment";
import { filled, filledOf, nameFrom, openKeyIn, parameterIn, unread } from "./filled";
import { appliedOf, copiesIn, identityOf } from "./identity";
import { hasRegistrarsArguments, type Item, isPatch, podIn, unfold } from "./kinds";
import {
  containersIn,
  type LimitRange,
  limitsOf,
  mayRunOn,
  mountOf,
  mountsOf,
  policyOf,
  readLimitRange,
  refusedIn,
  roleOf,
  updateOf,
  userOf,
} from "./pod";
import { poolOf } from "./pool";
import { besideOf, probesOf } from "./probes";
import { lookOfParsed, lookOfSettings } from "./settings";

/** Lists of a large cluster have some 100,000 values. */
const OF_LIST = { values: 1_000_000, textLength: Number.POSITIVE_INFINITY };
/** Pods have some hundreds, and Linux starts no program with a longer argument or variable (MAX_ARG_STRLEN). */
const OF_POD = { values: 10_000, textLength: 2 ** 17 };

/** A namespace may have others than these files. */
const OF_NAMESPACE = unsoughtIf(true, "files", "");

export interface ManifestFacts {
  readonly registrars: SeenList<RegistrarContainer>;
  readonly limitRanges: SeenList<LimitRange>;
}

export type FilesAndGaps = ReturnType<typeof readRegistrars>;
/** What could not be read is a matter of the check that reports it. */
export type FileFacts = Omit<FilesAndGaps, "gaps">;

/** Finds every container with a registrar. An object that cannot be judged does not stop the others. */
export function readRegistrars({ objects, gaps }: Pick<FilesRead, "objects" | "gaps">, ours?: OurImage) {
  const reading = startReading<"files">();
  type Act<Value> = (object: unknown) => readonly Value[] | SeenList<Value>;
  const read = <Value>(place: string, object: unknown, act: Act<Value>) => {
    try {
      return act(object);
    } catch (error) {
      return reading.list<Value>([], [{ part: "files", subject: place, why: whyOf(error, object, act) }]);
    }
  };
  let numbers = 0;
  const readItem = ({ file, item, secondKey }: ReadItem) => {
    const place = placeIn(file, item.item);
    // The same in each reading, and however often this one is tried.
    const number = numbers++;
    return read(place, item.item, (one) => {
      const object = mapOf(one);
      const parameter = parameterIn(podIn(object), item.parameters);
      if (parameter !== undefined) refuseFlaw("parameter", parameter);
      if (isTemplate(anyText(object.kind)) && anyTree(object.spec).limits !== undefined)
        refuseFlaw("placeholder", anyText(object.kind));
      const registrars = registrarsIn(number, place, object, ours);
      const hasRegistrar = registrars.length > 0;
      if (hasRegistrar) refuseOtherTypes(object);
      if (hasRegistrar && isPatch(object)) refuseFlaw("patch");
      const whole = { ...object, metadata: undefined };
      const mayMatter = hasRegistrar || object.kind === "LimitRange" || hasRegistrarsArguments(whole);
      const openKey = mayMatter ? openKeyIn(whole) : undefined;
      if (openKey !== undefined) refuseFlaw("placeholder", openKey);
      const second = looked(secondKey).items((line) => line);
      return [
        {
          registrars,
          identity: isPatch(object)
            ? undefined
            : {
                ...appliedOf(object, registrars, containersIn(podIn(object))),
                place: nameFrom(place, number),
                secondKey: second,
              },
          limitRange: object.kind === "LimitRange" ? readLimitRange(object, number) : undefined,
          otherImages: otherImagesIn(object, ours),
        },
      ];
    });
  };
  const items = objects
    .flatMap(({ file, object, secondKey }) =>
      read(file, object, (one) => {
        refuseHuge(one, OF_LIST);
        return unfold(one).map((item) => ({ file, item, secondKey }));
      }),
    )
    .flatMap(readItem);
  const identities = items.flatMap((item) => item.identity);
  return {
    registrars: items.flatMap((item) => item.registrars),
    limitRanges: items.flatMap((item) => item.limitRange).with(OF_NAMESPACE),
    /** What each object is to the API server. */
    identities,
    copies: copiesIn(identities),
    /** Those of containers without a registrar. */
    otherImages: items.flatMap((item) => item.otherImages),
    gaps: [...gaps, ...reading.gaps()],
  };
}

/** `daemonset.yaml: DaemonSet kube-system/csi-x-node`. */
export function placeIn(file: string | undefined, object: unknown): string {
  const named = [anyText(anyTree(object).kind), anyNameOf(object)].filter(Boolean).join(" ");
  return [file, named].filter(Boolean).join(": ");
}

/** Throws for fields of another type, which the API server refuses, too. */
function refuseOtherTypes({ spec }: Tree): void {
  const { selector, template, updateStrategy } = tree(spec);
  const { matchLabels, matchExpressions } = tree(selector);
  for (const labels of [matchLabels, tree(tree(template).metadata).labels])
    Object.values(tree(labels)).forEach(text);
  for (const { key, operator, values } of list(matchExpressions).map(tree))
    for (const part of [key, operator, ...list(values)]) text(part);
  text(tree(updateStrategy).type);
}

type ReadItem = Omit<ReadObject, "object"> & { readonly item: Item };

/** Throws INVALID_OPTION for a value that would take too long to judge, and for one that holds itself. */
function refuseHuge(root: unknown, { values, textLength }: typeof OF_POD): void {
  const open = [root];
  for (let seen = 1; open.length > 0; ) {
    const value = open.pop();
    if (typeof value === "string" && value.length > textLength) refuseFlaw("long", `${value.length}`);
    const parts = typeof value === "object" && value !== null ? Object.values(value) : [];
    seen += parts.length;
    if (seen > values) refuseFlaw("values", values);
    for (const part of parts) open.push(part);
  }
}

export type RegistrarContainer = ReturnType<typeof registrarsIn>[number];
export const isOurs = ({ program }: Pick<RegistrarContainer, "program">) =>
  program.is(({ kind }) => kind === "ours");
/** One whose program is known. */
export type KnownRegistrar = Omit<RegistrarContainer, "program"> & { readonly program: KnownProgram };

function otherImagesIn(object: Tree, ours: OurImage = {}) {
  const pod = podIn(object);
  const others = containersIn(pod).filter((container) => recognise(container, pod, ours) === undefined);
  return others.map(({ image }) => toldOf(text(image)));
}

/** The containers with a registrar in one object. Throws INVALID_OPTION for a pod that takes too long to judge. */
export function registrarsIn(number: number | string, whole: string, object: Tree, ours: OurImage = {}) {
  const pod = podIn(object);
  // Of one reading: a container with a null is another object each time that it is read.
  const inits = list(pod.initContainers).map(tree);
  const containers = [...list(pod.containers).map(tree), ...inits];
  const registrars = containers.flatMap((container) => {
    const recognised = recognise(container, pod, ours);
    return recognised === undefined ? [] : { container, recognised };
  });
  if (registrars.length === 0) return [];
  needed("kind", textOrNone(object.kind));
  refuseHuge(pod, OF_POD);
  const isRunning = (one: Tree) => mayRunOn(policyOf(one, inits));
  const drivers = containers.filter((one) => one !== registrars[0]?.container && isRunning(one));
  /** Not judged where several registrars or sockets are there: which one is meant is not known. */
  const driverSocket = driverSocketOf(drivers, pod, inits, registrars.length === 1);
  const othersOf = (own: Tree) => containers.filter((one) => one !== own && isRunning(one));
  const isUnsure = registrars.some(({ recognised }) => recognised.program.kind === "unknown");
  const placeOf = (container: Tree) => `${whole}, container ${text(container.name)}`;
  const isOther = (one: Tree) => !registrars.some(({ container }) => container === one);
  return registrars.map(({ container, recognised }) => {
    const place = placeOf(container);
    const others = othersOf(container);
    const earlier = inits.slice(0, Math.max(inits.indexOf(container), 0));
    const read = readContainer(container, recognised, pod, place, { others, inits, earlier });
    return {
      ...{ ...read, driverSocket, place: nameFrom(place, number) },
      about: { object: number, container: nameFrom(text(container.name), number) },
      identity: identityOf(object),
      workload: filled(text(object.kind)),
      update: updateOf(object),
      role: roleOf(container, inits),
      beside: listFrom(others).map((one) => besideOf(one, policyOf(one, inits))),
      /** An unknown program may be the driver, too. */
      hasDriver: hasDriverIn(read.mayBeDrivers, others.filter(isOther), isUnsure),
    };
  });
}

/** What the arguments of a container tell. */
function argumentsOf(container: Tree, program: Recognised["program"]) {
  const start = startOf(container, program);
  const written = settingsOf(start.args, program, start.open);
  const { http } = written;
  const started = start.startedBy === undefined ? undefined : unread("started", start.startedBy);
  const unseen = started ?? unseenOf(start, written);
  const joined = start.args.find((word) => JOINED.test(word.trim()));
  const isUnknown = program.kind === "unknown";
  const isUsable = (isUnknown || joined === undefined) && isStarting(written);
  const settings = looked(unseen, lookOfSettings(written, start.open, program));
  const parsed = lookOfParsed(written, start.open, program.kind);
  const usable = looked(unseen, isUsable ? undefined : UNKNOWN, parsed);
  return {
    /** Unread: for example, a shell starts the registrar. */
    settings,
    /** Those with which the registrar starts, as far as they tell, and gets its paths. */
    usable,
    written,
    /** The HTTP endpoint, if there is one. */
    served: looked(started ?? unseenOf(start, written, []) ?? written.openHttp).items(() =>
      http ? servedBy(http, start.open) : usable.items(() => []),
    ),
    /** Several arguments in one item. */
    joined: looked(started, isUnknown && joined !== undefined ? UNKNOWN : joined).items((one) => one),
  };
}

/** What a placeholder decides is not known. */
const truthOf = (answer: Decided) => truth(answer === "open" ? UNKNOWN.gap : answer);

function readContainer(
  container: Tree,
  recognised: Recognised,
  pod: Tree,
  place: string,
  { others, inits, earlier }: Readonly<Record<"others" | "inits" | "earlier", readonly Tree[]>>,
) {
  const isForWindows = truthOf(recognised.isForWindows);
  const { program, foreign } = recognised;
  const { written, settings, ...told } = argumentsOf(container, program);
  const mounts = mountsOf(container, pod);
  for (const { mountPath } of mounts) if (isTemplate(mountPath)) refuseFlaw("placeholder", mountPath);
  const hostPaths = list(pod.volumes).map((one) => plainPath(text(tree(tree(one).hostPath).path)));
  return {
    /** Its image as it is written: in texts, and for readers. */
    image: textOf({ told: boundText(text(container.image)) || "(none)", gaps: [] }),
    reference: toldOf(text(container.image)),
    isWithoutShell: truthOf(recognised.isWithoutShell),
    makesDirectories: truthOf(makesDirectories(text(container.image))),
    program: lookOfProgram(program),
    /** What its image is, if that is neither ours nor the official one by its name. */
    unknown: listFrom(program.kind !== "unknown" ? [] : program.what === "open" ? UNKNOWN : [program.what]),
    foreign: {
      architectures: filled(foreign.architectures.find(isTemplate) ?? "", "", foreign.architectures),
      /** Each that is not in our image. */
      programs: listFrom(foreign.programs).map(({ what, program: own }) => ({
        ...{ what, program: filled(own ?? "", "", own) },
      })),
    },
    isForWindows,
    /** A swap gives it our image: it is for Linux. */
    isSwappable: truthOf(recognised.isReplaceable).and(isForWindows.not()),
    limits: limitsOf(container, pod),
    user: userOf(tree(container.securityContext), tree(pod.securityContext)),
    isOnNode: bool(pod.hostNetwork),
    pool: poolOf(pod),
    knowsNodeName: knowsNodeName(container),
    ...told,
    settings,
    /** For readers, which find names in them. */
    written: toldOf(written),
    mounts,
    refused: refusedIn(
      container,
      pod,
      [written.csiAddress, written.pluginRegistrationPath ?? ""].map((path) =>
        tell<string | undefined>(mountOf(path, mounts)?.volume),
      ),
      place,
    ),
    /** Those of all volumes of the pod. */
    hostPaths: filledOf(hostPaths),
    probes: probesOf(container, program),
    mayBeDrivers: settings.items((its) =>
      its.parsed.items(() =>
        filled(written.csiAddress).items((path) => mayBeDrivers(others, pod, path, mounts, inits, earlier)),
      ),
    ),
  };
}

/** `--a=b --c=d` in one item, which Go and this registrar read as the flag `a`. */
const JOINED = /^--?[a-z]\S*\s+--?[a-z]/;
