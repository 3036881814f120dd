import { resolve } from "node:path";
import { NAME_LIST_FLAGS, textFlag, timeoutFlag } from "../../../flags/kinds";
import { nameListsFrom } from "../../../flags/paths";
import { ACCEPTED_FLAGS, parseFlags } from "../../../flags/table";
import { parseCsiAddress, pathInUnixAddress } from "../../../unix/socket-path";
import { SCHEMA } from "../findings/report";
import { createMode } from "../mode";
import { pathOnHost } from "./read/files";

export const nodeMode = createMode(
  {
    schema: SCHEMA,
    describe: [
      "Tells why a CSI driver is not registered: on a node, in a container, in a cluster. It changes nothing.",
      "Give it the registrar's own arguments, all of them: those that say nothing about where to look are checked too.",
      "Without --csi-address it looks at every driver of the node, registered or not.",
    ].join(" "),
    flags: {
      "csi-address": textFlag("CSI driver socket as seen from here", (text) =>
        resolve(parseCsiAddress(text)),
      ),
      "kubelet-registration-path": textFlag("the same socket as kubelet sees it"),
      "plugin-registration-path": textFlag("kubelet's registration directory as seen from here"),
      "host-root": textFlag("where the host's root is mounted: /host under kubectl debug node"),
      ...NAME_LIST_FLAGS,
      timeout: { ...timeoutFlag("limit of a call; ten times as long for NodeGetInfo"), default: "1s" },
    },
    registrar: ACCEPTED_FLAGS,
    examples: [
      "doctor",
      "doctor --csi-address=/csi/csi.sock --kubelet-registration-path=/var/lib/kubelet/plugins/NAME/csi.sock",
      "doctor --host-root=/host",
    ],
    notes: [
      "More: doctor --cluster, every node of a cluster; doctor -f FILE, before it is applied. Each has its --help.",
      [
        "JSON: {schema, healthy, target,",
        "drivers: [{name, state, since, reason, csiSocket, registrationSocket}],",
        "summary: {problem, warning, unknown, skipped, ok},",
        "findings: [{code, check, status, subject, text, fix, command, follows, followsIndex}]}.",
        "docs/doctor.md has them, docs/doctor-codes.md every code.",
      ].join(" "),
    ],
  },
  async (flags, settings) => {
    const [{ startProblemOf }, { lookAtNode, renderTable }] = await Promise.all([
      import("../../../flags/node-readiness"),
      import("./report"),
    ]);
    // Those of the flags that are the registrar's own, as it reads them.
    const own = settings.filter(({ name }) => ACCEPTED_FLAGS.has(name));
    // The registrar has the host's paths without the way to its root.
    const onHost = (text: string) =>
      flags.hostRoot === undefined
        ? text
        : pathOnHost(resolve(flags.hostRoot), pathInUnixAddress(text) ?? text);
    const line = parseFlags(own.map(({ name, text }) => `--${name}=${onHost(text)}`));
    const startProblem = line.kind === "flags" ? startProblemOf(line.flags) : undefined;
    const report = await lookAtNode(flags, { names: nameListsFrom(flags), startProblem });
    return { report, render: (look) => renderTable(report, look) };
  },
);
