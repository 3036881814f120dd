import { type Check, problem } from "../finding";

export const commandLine: Check = {
  code: "CSI001",
  name: "command-line",
  asks: "Whether the registrar would start with the arguments given, by the registrar's own checks.",
  matters: "A registrar that ends at once, with exit code 1 or 2, is a pod in CrashLoopBackOff.",
  fix: "Correct the argument that is named, in the DaemonSet.",
  verdicts: ({ target: { startProblem } }) =>
    startProblem === undefined
      ? undefined
      : problem(
          "the registrar",
          `does not start with these arguments: ${startProblem}`,
          "correct that argument in the DaemonSet",
        ),
};
