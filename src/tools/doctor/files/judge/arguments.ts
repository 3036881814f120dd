import { attempt } from "../../../../base/errors";
import { nearWord } from "../../../../base/near-word";
import { ACCEPTED_FLAGS, nearestFlag } from "../../../../flags/table";
import { parseBool } from "../../../../flags/values";
import { isPattern } from "../../../../host-path/path-pattern";
import { boundText } from "../../../../logging/escape";
import { fitsSocketPath } from "../../../../unix/socket-path";
import { addedIn, LATEST, officialFlags } from "../../../recognise/official";
import { LAST_HOOK } from "../../../recognise/swap";
import type { Advice, Verdict, Verdicts } from "../../findings/finding";
import type { Told, Words } from "../../findings/opened";
import {
  type Gap,
  type ItemOf,
  ifUnknown,
  ifYes,
  otherwise,
  type SeenList,
  type Truth,
  withheld,
  words,
} from "../../findings/seen";
import { RENDER_FIRST, together, tooLong, writeFlag } from "../../findings/words";
import type { KnownStart as Start, ToldPaths } from "../read/arguments";
import { mountOf } from "../read/pod";
import type { KnownRegistrar, RegistrarContainer } from "../read/registrars";
import type { ParsedSettings, RegistrarSettings } from "../read/settings";
import { eachRegistrar, knownIn, notFilledIn, ok, problem, unknown, warning } from "./each-registrar";
import { placeholderIn, sayWhyOfFile } from "./gaps";
import { isMountPoint } from "./mounts";

export const manifestArguments = eachRegistrar("CSI101", "manifest-arguments", (one) => {
  const other = () =>
    problem(
      words`has the image of another sidecar, ${one.image}, which does not know --kubelet-registration-path`,
      "use the image of a registrar",
    );
  const isOther = one.unknown.contains((what) => what === "sidecar");
  return isOther({ yes: other, ...otherwise(() => judgeArguments(one)) });
});

function judgeArguments(one: RegistrarContainer): Verdicts {
  const { image, joined } = one;
  const known = knownIn(one);
  const programs = known.flatMap((its) =>
    ["postStart hook", LAST_HOOK].reduce(
      (some, kind) => some.with(judgeProgram(its, kind, "remove the hook")),
      judgeProgram(its, "command", adviceOnCommand(its)),
    ),
  );
  const isFound = programs.contains().or(joined.contains());
  const judged = one.settings({
    seen: (settings) => {
      const dialing = known.filter(({ program }) => program.kind === "official");
      const dialed = dialing.flatMap(() =>
        settings.parsed.items(({ paths }) => paths.items((both) => judgeDialed(both, one))),
      );
      const isWell = programs.contains().or(dialed.contains()).not();
      const well = () => ifYes(isWell, () => ok("has arguments with which the registrar starts"));
      const runs = (what: keyof typeof UNKNOWN) =>
        unknown(words`runs an unknown program: ${sayUnknown(what, image)}`, UNKNOWN[what].fix);
      const judge = () => known.map((its) => judgeStart(its, settings, well));
      return [
        dialed,
        one.unknown.map(runs),
        ifUnknown(one.unknown.contains(), () => runs("open")),
        // What one text of several arguments lacks may be in it.
        ifYes(joined.contains().not(), judge),
      ];
    },
    unread: (gap) => {
      // A program that the image lacks does nothing with the arguments.
      const isMoot = joined.contains().or(gap.why.kind === "flaw" && gap.why.flaw === "started");
      return isFound.and(isMoot)({ yes: () => withheld([gap]), ...otherwise(() => sayOpen(gap)) });
    },
  });
  return [programs, joined.map(judgeJoined), judged];
}

/** Judges what a container starts besides its image's own program: our image has nothing else, nor has the official one. */
export function judgeProgram(one: KnownRegistrar, kind: string, fix: Advice): SeenList<Verdict> {
  const started = one.foreign.programs.filter(({ what }) => what === kind);
  const isOther = ({ program }: ItemOf<typeof started>) =>
    program.is((path) => path !== undefined).and(hasNoOther(one));
  const judged = started
    .filter(isOther)
    .flatMap(({ program }) => program.items((path) => path))
    .flatMap((path) => judgeStarted(path, kind, fix, one));
  const ofImage = words`has a ${kind}, and whether its image has that program is not filled in: ${one.image}`;
  const open = started.flatMap((its) =>
    ifUnknown(isOther(its), ([gap]) =>
      placeholderIn(gap) === "" ? unknown(ofImage, RENDER_FIRST) : notFilledIn(`has a ${kind} that is`, gap),
    ),
  );
  return judged.with(open);
}

/** Neither ours nor those of kubernetes-csi without a shell have other programs. */
const hasNoOther = ({ program, isWithoutShell }: KnownRegistrar): Truth =>
  isWithoutShell.and(program.kind === "official").or(program.kind === "ours");

function judgeStarted(
  path: string,
  kind: string,
  fix: Advice,
  { program, mounts }: KnownRegistrar,
): Verdict | undefined {
  const isOurs = program.kind === "ours";
  const has = `has a ${kind} that runs ${path}, and`;
  if (!path.includes("/") || mountOf(path, mounts) === undefined)
    return (kind === LAST_HOOK ? warning : problem)(
      `${has} ${isOurs ? "this registrar's" : "its"} image has no other program`,
      fix,
    );
  // The program of a command has a finding of its own.
  return kind === "command" || !isOurs
    ? undefined
    : unknown(`${has} whether a file of a volume runs in this registrar's image is not known`, fix);
}

/** The image policy leaves such a container alone; another way of a swap makes one that does not start. */
function adviceOnCommand({ program, isWithoutShell }: KnownRegistrar): Advice {
  const isSwapped = program.kind === "ours" && program.image === "swapped";
  const stay = ifYes(isWithoutShell.not().and(isSwapped), () => ", or keep the official image there").told(
    "",
  );
  return words`leave the command out, and write each argument as an item of args${stay}`;
}

const judgeJoined = (item: string) =>
  problem(`has several arguments in one item: ${boundText(item.trim())}`, "write each as an item of its own");

/** To gRPC all others name a host. */
export const isUnixAddress = (dialed: string): boolean => /^(?:\/|unix:)/.test(dialed);

/** The official registrar dials the path as it is written, and ends when no driver answers or kubelet refuses the path. */
function judgeDialed(
  { csiAddress, dialed, told }: ToldPaths,
  { mounts }: RegistrarContainer,
): Verdict | undefined {
  const say = (why: string, fix: Advice) => problem(`restarts forever: the official registrar ${why}`, fix);
  const pattern = [csiAddress, told].find(isPattern);
  if (pattern !== undefined)
    return say(
      `takes * literally: ${pattern}`,
      "write the paths of one driver, or use this registrar's image",
    );
  const why = isUnixAddress(dialed)
    ? !fitsSocketPath(csiAddress) && tooLong(Buffer.byteLength(csiAddress))
    : dialed !== "" && "is no unix socket's address: it waits in vain";
  if (why) return say(`dials ${dialed}, which ${why}`, "write the absolute path of the driver's socket");
  // CSI102 says it of a directory that is mounted there.
  return dialed.endsWith("/") && !isMountPoint(csiAddress, mounts)
    ? say(`dials ${dialed}, and a path that ends with / is no socket's`, writeFlag("csi-address", csiAddress))
    : undefined;
}

export const defineFirst = (variable: string) => `define ${variable} in its env, before what uses it`;

const judgeStart = (one: KnownRegistrar, settings: RegistrarSettings, well: () => Verdicts) => [
  settings.unclear.map((start) => judgeUnclear(start, one.program)),
  settings.start.map((start) => {
    const refusal = sayRefusal(start, one.program);
    return refusal === undefined
      ? settings.parsed.map((parsed) => judgeParsed(one, parsed, well))
      : problem(
          `does not start: ${refusal.text}`,
          settings.ofRefusal.map(defineFirst).told<string>(refusal.advice),
        );
  }),
];

function sayOpen({ why }: Gap) {
  const { text, fix } = sayWhyOfFile(why);
  return unknown(text, fix);
}

const judgeParsed = (one: KnownRegistrar, parsed: ParsedSettings, well: () => Verdicts): Verdicts => {
  const { ofHost } = parsed.literals;
  return [
    ofHost
      .together()
      .map(({ first }) =>
        problem(
          `does not start: it cannot listen on $(${first}), which its env does not define before it`,
          defineFirst(first),
        ),
      ),
    ifUnknown(parsed.isFilled, ([gap]) => sayOpen(gap)),
    judgeMode(one, parsed, () => ifYes(ofHost.contains().not().and(parsed.isFilled), well)),
  ];
};

function judgeMode(
  one: KnownRegistrar,
  { ignored, hasKubeletPath, mode, needsNodeName }: ParsedSettings,
  well: () => Verdicts,
): Verdicts {
  if (ignored !== undefined) {
    const text = `stops parsing at "${ignored.words[0]}"; ignored: ${ignored.words.join(" ")}`;
    const fix = adviceOnIgnored(ignored);
    return hasKubeletPath({
      yes: () => warning(text, fix),
      no: () => problem(text, fix),
      unknown: () => unknown(text, fix),
    });
  }
  return mode.map((does) => {
    const ending = ENDING[does];
    return ending !== undefined
      ? problem(`registers nothing: ${ending.text}`, ending.fix)
      : hasKubeletPath.say({
          yes: () => judgeNodeName(one, needsNodeName, well),
          no: () =>
            problem(
              "does not start: kubelet-registration-path is a required parameter",
              "add --kubelet-registration-path: the driver's socket as the host has it",
            ),
          unknown: withheld,
        });
  });
}

const GIVE_NODE_NAME = "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

const judgeNodeName = ({ knowsNodeName }: KnownRegistrar, needsNodeName: Truth, well: () => Verdicts) =>
  knowsNodeName.or(needsNodeName.not())({
    yes: well,
    no: () =>
      problem(
        "does not start: --remove-startup-taint and --node-condition need the node's name",
        GIVE_NODE_NAME,
      ),
    unknown: ([gap]) =>
      unknown(
        `needs the node's name, which cannot be seen here: ${placeholderIn(gap)} may have it`,
        GIVE_NODE_NAME,
      ),
  });

/** What does not run as a registrar. */
const ENDING: Readonly<Partial<Record<string, { readonly text: string; readonly fix: string }>>> = {
  probe: { text: "its --mode is a probe, which ends at once", fix: "remove --mode from the container" },
  print: { text: "it prints its version and ends", fix: "remove --version" },
};

const UNKNOWN = {
  open: { text: "is not filled in", fix: RENDER_FIRST },
  "all-in-one": { text: "is the all-in-one sidecar of KEP-4958", fix: "see its own documentation" },
  predecessor: {
    text: "is the driver-registrar of 2018, the predecessor of the official one",
    fix: "take csi-node-driver-registrar or this registrar, whose flags doctor knows",
  },
  sidecar: { text: "is another sidecar's", fix: "use the image of a registrar" },
  other: {
    text: "is neither this registrar's nor an official release",
    fix: "if it is this registrar's, name it with --image=IMAGE; a copy of the official one is known by that name and its release as tag, csi-node-driver-registrar:v2.17.0",
  },
} as const;

const sayUnknown = (what: keyof typeof UNKNOWN, image: Words): Words =>
  words`its image ${image} ${UNKNOWN[what].text}`;

function adviceOnIgnored({ words: [word], behind }: NonNullable<ParsedSettings["ignored"]>): string {
  const isValue = behind !== undefined && attempt(() => parseBool(word)) !== undefined;
  if (isValue) return `write ${behind}=${word}`;
  // A web page or a document changes hyphens and quotes.
  const bare = word.replace(/^["'“”‘’]+|["'“”‘’]+$/g, "");
  const flag = bare.replace(/^[\p{Pd}\u2212]+/u, "--");
  if (flag === word || !/^--[a-z]/.test(flag)) return `take ${word} out`;
  return `${bare === word ? "write ASCII hyphens" : "take the quotes out"}: ${flag}`;
}

function judgeUnclear(
  { flag, in: where, unknown: all }: ItemOf<RegistrarSettings["unclear"]>,
  program: KnownRegistrar["program"],
): Verdict {
  return where === "older"
    ? unknown(
        `starts with some releases only: the official registrar has --${flag} before v2.11 only`,
        `take --${flag} out, or give the image a tag with its release`,
      )
    : unknown(
        `has --${flag}, which the official registrar does not have up to ${releaseText(LATEST)}, and a newer one may have`,
        words`${adviceOnUnknown(all, program)}; if the image is newer, see the log of its start`,
      );
}

/** Why the registrar does not start, and what to do; undefined: it starts. */
export function sayRefusal(
  start: Start,
  program: KnownRegistrar["program"],
): { readonly text: string; readonly advice: string | Told<string> } | undefined {
  if (start.kind === "starts") return undefined;
  if (start.kind === "help")
    return { text: "it prints its help and ends", advice: correctArgument(undefined) };
  if (start.kind === "refused")
    return { text: start.message, advice: adviceOnUnknown(start.unknown, program) };
  return {
    text: `LoggingConfiguration is invalid: -${start.flag} needs the feature LoggingAlphaOptions`,
    advice: `take --${start.flag} out, or take this registrar's image: the official one has no flag for that feature`,
  };
}

export const releaseText = (release: number) => `v${Math.floor(release / 100)}.${release % 100}`;

const correctArgument = (near: string | undefined) =>
  `correct that argument${near === undefined ? "" : `: did you mean --${near}?`}`;

/** What to do about flags that the program does not have: the first one, and then those that the next starts would name. */
function adviceOnUnknown(unknown: readonly string[], program: KnownRegistrar["program"]) {
  const [flag, ...others] = unknown;
  if (flag === undefined || program.kind !== "official") return correctArgument(nearestFlag(flag));
  const since = addedIn(flag);
  if (since !== undefined && others.length === 0)
    return `take --${flag} out, or take a release from ${releaseText(since)} on`;
  const nearIn = (release?: number) => correctArgument(nearWord(flag, officialFlags(release).keys()));
  if (!unknown.some((name) => ACCEPTED_FLAGS.has(name))) return program.release.map(nearIn).told(nearIn());
  const them = others.length === 0 ? "that flag" : "these flags";
  const all = together(unknown.map((name) => `--${name}`));
  const isOurs = unknown.every((name) => ACCEPTED_FLAGS.has(name));
  const [image, which] = isOurs ? [", or take this registrar's image", "one"] : ["", "registrar"];
  return `take ${all} out${image}: the official ${which} does not have ${them}`;
}
