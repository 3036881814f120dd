import { list, type Tree, text, tree } from "../../kube-api/objects";
import { HAS_OFFICIAL_NAME, hasName } from "./image";
import { IS_CONTAINER_FOR_WINDOWS } from "./nodes";
import { type Path, type Rule, someText } from "./rule";

// Which containers our image can take over. It has no shell: no other program but the registrar, and Node.

/** The registrar in our image. */
export const PROGRAM = "/csi-node-driver-registrar";

export const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

/** Where a container names programs that kubelet starts in it while it lives: it does not live without them. */
const PROGRAMS: readonly (readonly [what: string, command: Path])[] = [
  ["command", ["command"]],
  ...PROBES.map((probe) => [probe, [probe, "exec", "command"]] as const),
  ["postStart hook", ["lifecycle", "postStart", "exec", "command"]],
];

/** If it fails, kubelet says so in an event, and ends the container. */
export const LAST_HOOK = "preStop hook";

/** A registrar's own marks. An image's name is not enough, because other programs may have it. */
export const HAS_OWN_MARK: Rule = {
  any: [
    ...["command", "args"].map((words) => someText([words], "(^|[ \t])--?kubelet-registration-path(=|$)")),
    someText(["volumeMounts"], "^/registration/*$", ["mountPath"]),
  ],
};

/** A container, Windows aside, whose image is the official one by its name, or has one of these names and a registrar's mark. */
export const isSwapped = (names: readonly string[]): Rule => ({
  any: [HAS_OFFICIAL_NAME, ...(names.length === 0 ? [] : [{ all: [hasName(names), HAS_OWN_MARK] }])],
});

const ownProgram = ([, command]: (typeof PROGRAMS)[number]): Rule => ({
  at: [...command, 0],
  matches: `^${PROGRAM}$`,
  absent: true,
});

/** What the image policy changes: what runs another program is left alone, and so is what is for Windows. */
export const maySwap = (names: readonly string[]): Rule => ({
  all: [isSwapped(names), ...PROGRAMS.map(ownProgram), { not: IS_CONTAINER_FOR_WINDOWS }],
});

/** What starts programs in a container, and the program, unless our image has it. */
export function foreignProgramsOf(
  container: Tree,
): readonly { readonly what: string; readonly program: string | undefined }[] {
  return [...PROGRAMS, [LAST_HOOK, ["lifecycle", "preStop", "exec", "command"]] as const].map(
    ([what, path]) => {
      const command = path.reduce<unknown>((one, key) => tree(one)[key], container);
      const program = text(list(command)[0]);
      return { what, program: program === "" || OURS.test(program) ? undefined : program };
    },
  );
}
/** Those of Dockerfile. */
const OURS =
  /^(?:\/csi-node-driver-registrar|(?:\/|\/usr\/local\/bin\/)?csi-sidecars|\/registrar\/cli\.js|\/nodejs\/bin\/node)$/;
