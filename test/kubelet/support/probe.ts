import { startChildProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

export interface ProbeOptions {
  readonly registrationSocketPath: string;
  /** The :authority header, or the name of a usual one; see program/probe/main.go. */
  readonly authority: "raw" | "encoded" | "localhost" | (string & {});
  /** `get-info`, `notify` or `notify:` and the reason of a refusal, made in this order on one connection. */
  readonly calls: readonly string[];
}

export interface ProbeOutcome {
  readonly call: string;
  readonly info?: {
    readonly type: string;
    readonly name: string;
    readonly endpoint: string;
    readonly supported_versions: readonly string[];
  };
  /** The gRPC status, when it is not OK. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Calls a registration socket with a grpc-go client, as kubelet does; one outcome a call. */
export async function probe(options: ProbeOptions): Promise<readonly ProbeOutcome[]> {
  const args = [
    `--socket=${options.registrationSocketPath}`,
    `--authority=${options.authority}`,
    ...options.calls,
  ];
  const child = await startChildProcess<ProbeOutcome>(programPath("probe", newestVersion), args, JSON.parse);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`probe: ${child.stderr.all().join("\n")}`);
  return child.stdout.all();
}
