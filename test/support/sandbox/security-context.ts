import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
}

/** How examples/daemonset.yaml has the registrar run. */
export const REGISTRAR = readContainer("registrar");

function readContainer(name: string): Container {
  const text = readFileSync(join(__dirname, "..", "..", "..", "examples", "daemonset.yaml"), "utf8");
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  const pod = objects.find(({ kind }) => kind === "DaemonSet").spec.template.spec;
  return pod.containers.find((one: Container) => one.name === name);
}

/** How a sandbox follows one field of a security context; an error where it could not. */
const FIELDS: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  // Who enters a sandbox is root in it.
  runAsUser: (id) => only(id, 0, []),
  runAsGroup: (id) => only(id, 0, []),
  // By the mounts.
  readOnlyRootFilesystem: (isReadOnly) => only(isReadOnly, true, []),
  allowPrivilegeEscalation: (isAllowed) => only(isAllowed, false, ["--no-new-privs"]),
  capabilities: (names) =>
    only(JSON.stringify(names), '{"drop":["ALL"]}', [
      ...["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"],
    ]),
  // A runtime's filter comes with the runtime: `npm run test:image` has one.
  seccompProfile: (profile) => only(JSON.stringify(profile), '{"type":"RuntimeDefault"}', []),
};

function only<Value>(value: unknown, shown: Value, flags: readonly string[]): readonly string[] {
  if (value !== shown) throw new Error(`the sandbox knows ${String(shown)} only, not ${String(value)}`);
  return flags;
}

/** What setpriv is told, so that a program runs as a security context says. */
export function setprivFlags(context: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(context).flatMap(([field, value]) => {
    const follow = FIELDS[field];
    if (follow === undefined) throw new Error(`the sandbox does not know the field ${field}`);
    return follow(value);
  });
}
