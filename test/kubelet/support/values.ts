import { startChildProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

export interface Answer {
  readonly error?: string;
  readonly help?: boolean;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly rest?: readonly string[];
  readonly objects?: readonly unknown[];
}

/** Go's package flag, Kubernetes' quantities and kubectl's reader of YAML, in a process. */
export async function startGo(version = newestVersion) {
  const child = await startChildProcess<Answer>(programPath("values", version), [], JSON.parse);
  let asked = 0;
  return {
    ask: async (question: object): Promise<Answer> => {
      child.writeLine(JSON.stringify(question));
      return child.stdout.waitFor(() => true, asked++);
    },
    [Symbol.asyncDispose]: child.close,
  };
}
