import { startChildProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

interface ProbeOptions {
  readonly registrationSocketPath: string;
  /** The :authority header, or the name of a usual one; see program/probe/main.go. */
  readonly authority: "raw" | "encoded" | "localhost" | (string & {});
  /** `get-info`, `notify` or `notify:` and the reason of a refusal, made in this order on one connection. */
  readonly calls: readonly string[];
}

/** Calls a registration socket with a grpc-go client, as kubelet does; one outcome a call. */
export async function probe({ registrationSocketPath, authority, calls }: ProbeOptions) {
  const args = [`--socket=${registrationSocketPath}`, `--authority=${authority}`, ...calls];
  const child = await startChildProcess(programPath("probe", newestVersion), args, JSON.parse);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`probe: ${child.stderr.all().join("\n")}`);
  return child.stdout.all();
}
