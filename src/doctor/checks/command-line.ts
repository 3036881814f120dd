import { type Check, problem } from "../finding";

export const commandLine: Check = {
  code: "CSI001",
  name: "command-line",
  verdicts: ({ target: { startProblem } }) =>
    startProblem === undefined
      ? undefined
      : problem(
          "the registrar",
          `does not start with these arguments: ${startProblem}`,
          "correct that argument in the DaemonSet",
        ),
};
