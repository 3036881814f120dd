import { boundText } from "../../../logging/escape";
import { isTemplate } from "../../recognise/rule";
import type { CallFailure, Flaw, Why } from "./seen";
import { RENDER_FIRST } from "./words";

// Why something could not be read, in words.

export const CORRECT = "correct it, or leave it out";
const DRIVER_ALONE = "give the file of the driver alone";

/** What is said of each, with `{}` for which one it is; and what to do. */
const FLAWS: Readonly<Record<Flaw, readonly [text: string, advice: string]>> = {
  "no-files": [
    "it has no .yaml, .yml or .json file, and the directories below it are not read",
    "name the directory that has them",
  ],
  pipe: ["it is not a regular file", "name it by itself, or leave it out"],
  large: ["it has more than {}", DRIVER_ALONE],
  encoding: ["it is not text in UTF-8", "save it as UTF-8"],
  empty: ["it has no object", "see what the program that writes it says, or leave it out"],
  "document-size": [
    "it has more than {} in one YAML document",
    "give it as JSON, as kubectl get -o json writes it",
  ],
  dashes: ["it has words behind its ---, line {}", "begin a new line"],
  directive: ["it begins with a directive (%), which kubectl refuses", "take it out"],
  "no-object": ["it is {}, and not an object", CORRECT],
  template: [
    "it is a template: {}",
    "render it first; for Helm: helm template NAME CHART | registrar doctor -f -",
  ],
  patch: [
    "it has no selector, so it is a patch of another object",
    "apply it first: kubectl kustomize DIRECTORY | registrar doctor -f -",
  ],
  custom: [
    "it has a registrar's arguments, and its kind is not one that doctor knows",
    "give the DaemonSet that is made of it",
  ],
  parameter: [
    "its Template's parameter {} is not filled in",
    "fill it in first: oc process --local -f FILE | registrar doctor -f -",
  ],
  placeholder: ["it has the placeholder {}, which is not filled in", RENDER_FIRST],
  quantity: ["it has {} where a quantity must be", CORRECT],
  values: ["it has more than {} values, or holds itself", CORRECT],
  long: ["it has a text of {} characters", CORRECT],
  deep: ["it is nested too deeply", CORRECT],
  variables: ["its variables, filled in, are longer than a program's arguments can be", CORRECT],
  started: [
    "is started by {}: what that program does with the arguments cannot be seen here",
    "make the registrar itself the command, or leave the command out",
  ],
  argument: ["has an argument that is not filled in: {}", RENDER_FIRST],
  elsewhere: [
    "takes $({}) from elsewhere: its value cannot be seen here",
    "run registrar doctor in the pod, or see the log of its start",
  ],
};

const SENTENCES = {
  unasked: "was not asked, because what comes before that failed",
  unmounted: "is not there, nor is its directory, which may be a mount that is not seen from here",
  moving: "changed each time that it was read",
  deep: "leads to directories that were not searched for sockets: they are too deep",
  aside: "leads to directories that were not searched for sockets: they are a driver's or kubelet's own",
  beyond: "was not asked for",
  starved: "was called, but this process was too busy to read an answer",
};

export const OUR_FAULT = "report this fault of the program, with its version";

/** The words, and what to do where that is the same wherever it happens. */
export function sayWhy(why: Why): { readonly text: string; readonly fix?: string } {
  switch (why.kind) {
    case "flaw": {
      const [text, fix] = FLAWS[why.flaw];
      const isOpen = why.flaw === "started" && isTemplate(why.at);
      return { text: text.replace("{}", () => why.at), fix: isOpen ? RENDER_FIRST : fix };
    }
    case "errno":
      return { text: why.errno };
    case "mount":
      return { text: `is a mount of ${why.fileSystem} and was not inspected: its server might hang` };
    case "link":
      return { text: `is a symbolic link to ${why.to}, which cannot be followed from here as on the host` };
    case "cut":
      return { text: `has ${why.there.toLocaleString("en")} sockets, of which ${why.read} were inspected` };
    case "call":
      return { text: callText(why) };
    case "list":
      return { text: why.message };
    case "above":
      return { text: `has ${why.path} of the host, and may have made it there` };
    case "object":
      return { text: boundText(why.text, 500) };
    case "unlike": {
      const { has, wanted, field } = why;
      const its = field === undefined ? "it" : `its ${boundText(field, 200)}`;
      const text = `${its} has ${has} where a ${wanted} must be`;
      return isTemplate(has) ? { text, fix: RENDER_FIRST } : { text };
    }
    case "fault":
      return { text: why.error, fix: OUR_FAULT };
    default:
      return { text: SENTENCES[why.kind] };
  }
}

export const callText = ({ call, code, message, late }: CallFailure): string =>
  late === undefined
    ? `fails ${call}: ${code}: ${message}`
    : `did not answer ${call} within ${late.afterMs / 1000} s; ${late.who} waits ${late.waitsMs / 1000} s`;
