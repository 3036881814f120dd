import { list, type Tree, text, tree } from "../../kube-api/objects";
import { version } from "../../runtime/version";
import { HAS_OFFICIAL_NAME, isOtherSidecar, partsOf } from "./image";
import { foreignArchitecturesOf, isForWindows } from "./nodes";
import { askOfficial } from "./official";
import { ask, type Decided, holds, isTemplate } from "./rule";
import { foreignProgramsOf, HAS_OWN_MARK, PROBES } from "./swap";

/** What runs in a registrar's container. What is true of one program says nothing about another. */
export type Program =
  | {
      readonly kind: "ours";
      /** `swapped`: our image takes its place. `other`: only its command is known to be ours. */
      readonly image: "ours" | "swapped" | "other";
    }
  /** v2.17 is 217; undefined where the image does not say it. */
  | { readonly kind: "official"; readonly release: number | undefined }
  /** `open`: its image has a placeholder. */
  | { readonly kind: "unknown"; readonly what: "all-in-one" | "predecessor" | "open" | "other" | "sidecar" };

/** How our image is recognised where its name does not say it. */
export interface OurImage {
  /** An image; without a tag and a digest, all of its repository. */
  readonly image?: string | undefined;
  /** A tag of ours in a repository that has the official image's name. */
  readonly version?: string | undefined;
  /** Another image whose place ours would take, written as `image` is. */
  readonly replaced?: string | undefined;
  /** Images whose place ours takes. */
  readonly swapped?: ReadonlySet<string> | undefined;
}

const OURS = { kind: "ours", image: "ours" } as const;

/** Ours, the official one or the all-in-one sidecar (KEP-4958), as the images and the package call it. */
const REGISTRAR = /(?:^|[\\/])(?:[\w.-]*driver-(?:win-)?registrar|registrar|csi-sidecars|cli\.js)(?:\.exe)?$/;
const OUR_PROGRAM = /(?:^|\/)(?:registrar|cli\.js)$/;
const NODE = /(?:^|\/)node(?:js)?$/;

const OUR_NAME = "registrar";
/** Its release does not exist yet; it is planned to take the official registrar's flags. */
const ALL_IN_ONE = "csi-sidecars";
/** Of 2018: releases before v1.0, with other flags. */
const PREDECESSOR = "driver-registrar";
/** That for Windows alone has a name of its own. */
const isOfficialName = (name: string) =>
  holds(HAS_OFFICIAL_NAME, { image: name.replace(/-win-registrar$/, "-registrar") });
/** Where its builds are published; copies keep the tags. Those of OpenShift have tags of their own. */
const OFFICIAL_REPOSITORY =
  /(?:^|\/)(?:(?:registry\.k8s\.io|k8s\.gcr\.io)\/sig-storage|quay\.io\/(?:k8scsi|openshift)|registry\.redhat\.io\/openshift4|mcr\.microsoft\.com\/oss(?:\/v2)?\/kubernetes-csi|public\.ecr\.aws\/(?:csi-components|eks-distro\/kubernetes-csi))\//;
/** Where kubernetes-csi publishes its builds. */
const KUBERNETES_CSI = /(?:^|\/)(?:(?:registry\.k8s\.io|k8s\.gcr\.io)\/sig-storage|quay\.io\/k8scsi)\//;
const isOfKubernetes = (image: string): Decided =>
  KUBERNETES_CSI.test(image) || (isTemplate(partsOf(image).repository) && "open");
const isWithoutShell = (image: string): Decided => !ALPINE.test(partsOf(image).tag) && isOfKubernetes(image);
const ALPINE = /^v?1\.0(?!\d)/;
const RELEASE = /^v?([12])\.(\d+)(?![^.+_-])/;

/** What a container with a registrar is. Files, swap and cluster ask this; the image policy has the same rules in CEL. */
export interface Recognised {
  readonly program: Program;
  /** Its image is kubernetes-csi's own, from a base image without a shell: that of v1.0 is Alpine. */
  readonly isWithoutShell: Decided;
  readonly isForWindows: Decided;
  /** It has the official image's name, or the image that is swapped, and does not run ours. */
  readonly isReplaceable: Decided;
  /** What our image does not have: programs that the container names, and architectures that its pod does. */
  readonly foreign: {
    readonly programs: ReturnType<typeof foreignProgramsOf>;
    readonly architectures: readonly string[];
  };
}

/** Undefined: the container has no registrar. */
export function recognise(container: Tree, pod: Tree, ours: OurImage): Recognised | undefined {
  if (!isRegistrar(container, ours)) return undefined;
  const program = programOf(container, ours);
  const isElsewhere = program.kind === "ours" && program.image === "other";
  const isMeant = isNamed(text(container.image), ours.replaced) || ask(HAS_OFFICIAL_NAME, container);
  return {
    program,
    isWithoutShell: isWithoutShell(text(container.image)),
    isForWindows: isForWindows(pod, container),
    isReplaceable: program.kind !== "ours" && isMeant,
    foreign: {
      programs: foreignProgramsOf(isElsewhere ? {} : container),
      architectures: isElsewhere ? [] : foreignArchitecturesOf(pod),
    },
  };
}

export function programOf(container: Tree, ours: OurImage): Program {
  const image = text(container.image);
  const { name, tag } = partsOf(image);
  // An image's name alone tells no registrar: all images of a release may have one.
  if (ours.swapped?.has(image) && [HAS_OFFICIAL_NAME, HAS_OWN_MARK].some((rule) => holds(rule, container)))
    return { ...OURS, image: "swapped" };
  if (isNamed(image, ours.image) || name === OUR_NAME) return OURS;
  if (isOfficialName(name)) {
    const [release, major, minor] = RELEASE.exec(tag) ?? [];
    if (release !== undefined) return { kind: "official", release: Number(major) * 100 + Number(minor) };
    if (ours.version !== undefined && tag.replace(/^v?/, "v") === ours.version) return OURS;
    // Without a tag it is `latest`.
    if (["", "latest"].includes(tag) || OFFICIAL_REPOSITORY.test(image))
      return { kind: "official", release: undefined };
  } else if (OUR_PROGRAM.test(splitCommand(list(container.command).map(text)).program))
    return { ...OURS, image: "other" };
  if (isOfficialElsewhere(container)) return { kind: "official", release: undefined };
  const what = name === ALL_IN_ONE ? "all-in-one" : name === PREDECESSOR ? "predecessor" : "other";
  if (isOtherSidecar(name) && isOfKubernetes(image) === true) return { kind: "unknown", what: "sidecar" };
  return { kind: "unknown", what: isTemplate(image) ? "open" : what };
}

/** The official program in an image of many programs, or without a name of its own: unless something there is ours alone. */
function isOfficialElsewhere(container: Tree): boolean {
  const image = text(container.image);
  const { name } = partsOf(image);
  if (image === "" || isTemplate(image) || [ALL_IN_ONE, PREDECESSOR].includes(name)) return false;
  const [command, args] = [list(container.command).map(text), list(container.args).map(text)];
  const isStarted = OFFICIAL_PROGRAM.test(command[0] ?? "") && !isOfficialName(name);
  const isOfRelease = RELEASE_PAYLOAD.test(image) && command.length === 0 && holds(HAS_OWN_MARK, container);
  if (!isStarted && !isOfRelease) return false;
  const words = [...command.slice(1), ...args];
  const probes = PROBES.map((probe) => text(tree(tree(container[probe]).httpGet).path));
  return (
    askOfficial(words, undefined).kind === "starts" &&
    !words.some((word) => word.includes("*")) &&
    probes.every((path) => path === "" || path === "/healthz")
  );
}

const OFFICIAL_PROGRAM = /(?:^|\/)csi-node-driver-registrar$/;
/** Where the images of an OpenShift release are, by their digests. */
const RELEASE_PAYLOAD = /^quay\.io\/openshift-release-dev\/ocp-v[\d.]+-art-dev@/;

/** Reads the name of this registrar's image. A mirror may have the official one's name, with this version as its tag. */
export function parseOurImage(image: string): string {
  if (programOf({ image }, { version }).kind !== "official") return image;
  throw new Error(
    `"${image}" is the official registrar's image; name the one that takes its place, and give a copy of this registrar another tag`,
  );
}

/** Flags that no other program called registrar has. */
const OUR_FLAG = /^--?(?:csi-address|plugin-registration-path)(?:=|$)/;

/** The whole reference, digest too; without a tag and a digest, all of its repository. */
function isNamed(image: string, given: string | undefined): boolean {
  return given !== undefined && [image, image.replace(/@.*/, ""), partsOf(image).repository].includes(given);
}

const TELLS_PATH = /(?:^|[\s"'])--?kubelet-registration-path(?:[=\s"']|$)/;
/** Whether this is an argument that a registrar alone has, or a command line with it. */
export const tellsPath = (words: string): boolean => TELLS_PATH.test(words);

/**
 * By its arguments or its image, or if it may be one once its placeholders are filled in. Other programs may have our image's name,
 * so that alone is not enough, unless `--image` names it; even then another command or a subcommand does other work.
 */
export function isRegistrar(container: Tree, ours: OurImage): boolean {
  const image = text(container.image);
  const { name } = partsOf(image);
  const [command, args] = [list(container.command).map(text), list(container.args).map(text)];
  const words = [...command, ...args];
  const line = command.length > 0 ? behindRegistrar(words) : args;
  const directories = list(container.volumeMounts).map((mount) => text(tree(mount).mountPath));
  return (
    words.some(tellsPath) ||
    mayBecomeRegistrar(container, words) ||
    isOfficialName(name) ||
    name === PREDECESSOR ||
    (isNamed(image, ours.image) && line !== undefined && /^(?:-|$)/.test(line[0] ?? "")) ||
    (isNamed(image, ours.replaced) && holds(HAS_OWN_MARK, container)) ||
    (programOf(container, ours).kind === "ours" &&
      ((/^-/.test(line?.[0] ?? "") && line?.some((word) => OUR_FLAG.test(word))) ||
        (command.length > 0 && line !== undefined && /registrar/.test(text(container.name))) ||
        directories.some((directory) => /^\/registration\/*$/.test(directory))))
  );
}

/** Its arguments, or its image without any, are not filled in; and its name, its mount or a flag beside an open image says so. */
function mayBecomeRegistrar(container: Tree, words: readonly string[]): boolean {
  const isOpen = words.length === 0 ? isTemplate(text(container.image)) : words.some(isOpenWord);
  const isOurs = isTemplate(text(container.image)) && words.some((word) => OUR_FLAG.test(word));
  return isOpen && (isOurs || /registrar/.test(text(container.name)) || holds(HAS_OWN_MARK, container));
}
const isOpenWord = (word: string) => isTemplate(word) && !/^--?[a-z][\w.-]*=/.test(word);

function splitCommand(words: readonly string[]) {
  // Node's own options: the image's first line has one.
  const isOfProgram = (word: string, index: number) => index > 0 && !word.startsWith("-");
  const at = NODE.test(words[0] ?? "") ? words.findIndex(isOfProgram) : 0;
  const [program = "", ...rest] = at < 0 ? [] : words.slice(at);
  return { program, rest };
}

/** The arguments in a command line of a registrar; undefined for another program. */
export function behindRegistrar(words: readonly string[]): readonly string[] | undefined {
  const { program, rest } = splitCommand(words);
  return REGISTRAR.test(program) ? rest : undefined;
}
