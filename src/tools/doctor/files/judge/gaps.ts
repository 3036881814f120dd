import { boundText } from "../../../../logging/escape";
import { isTemplate } from "../../../recognise/rule";
import { type Advice, check, unknown, type Verdict } from "../../findings/finding";
import type { Flaw, Why } from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import type { ManifestFacts } from "../read/registrars";

const CORRECT = "correct it, or leave it out";
const DRIVER_ALONE = "give the file of the driver alone";

/** What is said of each, with `{}` for which one it is; and what to do. */
const FLAWS: Readonly<Record<Flaw, readonly [text: string, advice: Advice]>> = {
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
  template: ["it is a template: {}", "render it first: helm template NAME CHART | registrar doctor -f -"],
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
  values: ["it has more than {} values, or holds itself", CORRECT],
  long: ["it has a text of {} characters", CORRECT],
  deep: ["it is nested too deeply", CORRECT],
  variables: ["its variables, filled in, are longer than a program's arguments can be", CORRECT],
};

const ERRNOS: Readonly<Record<string, string>> = {
  ENOENT: "there is nothing of that name: correct the path",
  EACCES: "run as a user who may read it",
};

/** The words of a gap in files, or of an object in a cluster. */
export function sayWhy(why: Why): { readonly text: string; readonly fix: Advice } {
  switch (why.kind) {
    case "flaw": {
      const [text, fix] = FLAWS[why.flaw];
      return { text: text.replace("{}", () => why.at), fix };
    }
    case "errno":
      return { text: why.errno, fix: ERRNOS[why.errno] ?? CORRECT };
    case "object":
      return { text: boundText(why.text, 500), fix: CORRECT };
    case "unlike": {
      const { has, wanted, fields } = why;
      const its =
        fields.length === 0 || fields.length > 3 ? "it" : `its ${boundText(fields.join(" or "), 200)}`;
      const fix = isTemplate(has) ? RENDER_FIRST : CORRECT;
      return { text: `${its} has ${has} where a ${wanted} must be`, fix };
    }
    case "fault":
      return { text: why.error, fix: "report this fault of the program, with its version" };
    default:
      return { text: why.kind, fix: CORRECT };
  }
}

export const sayGap = (subject: string, why: Why, advice?: Advice): Verdict => {
  const { text, fix } = sayWhy(why);
  return unknown(subject, `cannot be judged: ${text}`, advice && why.kind !== "fault" ? advice : fix);
};

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", ({ gaps }) =>
  gaps.map(({ subject, why }) => sayGap(subject, why)),
);
