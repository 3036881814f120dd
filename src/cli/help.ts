import type { Argv } from "yargs";
import type { Flag } from "../flags/grammar";
import { flagTable } from "../flags/table";

/** yargs to render a help text: it reads no argv, prints nothing and does not exit. No other run loads it. */
export async function createHelp(programName: string, width: number): Promise<Argv> {
  const { default: yargs } = await import("yargs");
  return yargs([])
    .scriptName(programName)
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .wrap(width);
}

export async function renderHelp(
  programName: string,
  width: number,
  commands: readonly { readonly name: string; readonly summary: string }[] = [],
): Promise<string> {
  const help = (await createHelp(programName, width))
    .usage("Registers a CSI driver with kubelet and keeps it registered.\n\nUsage: $0 [flags]")
    .options(optionsOf("Flags of the official node-driver-registrar:", flagTable.dropIn))
    .options(optionsOf("Our own flags:", flagTable.ours))
    .options(optionsOf("Deprecated flags:", flagTable.deprecated))
    .example(example, "")
    .epilogue(notes.join("\n"));
  for (const { name, summary } of commands) help.command(name, summary);
  return help.getHelp();
}

const example =
  "$0 --csi-address=/csi/csi.sock \\\n --kubelet-registration-path=/var/lib/kubelet/plugins/NAME/csi.sock";

const notes = [
  "Write -x or --x, then =value or a next word (boolean: only =); -- or a plain word ends the flags.",
  "Durations: 500ms, 1m30s, 1.5h. Exit codes: 0 signal, help, version; 1 failed or refused; 2 bad flag.",
  `Ignored: ${Object.keys(flagTable.removed).join(", ")}. Deprecated: --mode=kubelet-registration-probe (exit 0).`,
  "Outside containers KUBELET_ROOT_DIR names kubelet's root directory, by default /var/lib/kubelet.",
];

function optionsOf(group: string, rows: Readonly<Record<string, Flag & { readonly default: string }>>) {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      const isZero = ["", "0", "0s", "false"].includes(row.default);
      const shown = isZero ? {} : { defaultDescription: row.default };
      return [name, { group, describe: row.describe, boolean: row.bare !== undefined, ...shown }];
    }),
  );
}
