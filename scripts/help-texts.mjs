// Renders help texts by yargs, for scripts/help.mjs, which bundles this with the tables of flags.
import yargs from "yargs";
import { flagTable } from "../src/flags/table";
import { wrap } from "../src/tools/wrap";

/** yargs to render a help text: it reads no argv, prints nothing and does not exit. Only the build calls it. */
function createHelp(width, examples) {
  return yargs([])
    .scriptName(PROGRAM)
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .wrap(width)
    .example(examples.map((line) => [copyable(`${PROGRAM} ${line}`, width - EXAMPLE_MARGINS)]));
}

const PROGRAM = "registrar";

/** Two columns at each side, and the backslash. */
const EXAMPLE_MARGINS = 6;

/** A command that can be copied: where it takes several lines, each but the last ends with a backslash, before a flag. */
function copyable(command, width) {
  const glued = command.replace(/ (?!-)/g, "\0");
  return wrap(glued, width).join(" \\\n").replaceAll("\0", " ");
}

/** The help of the registrar itself, in lines of at most `width` characters. */
export async function registrarHelp(commands, width) {
  const help = createHelp(width, [example])
    .usage("Registers a CSI driver with kubelet and keeps it registered.\n\nUsage: $0 [flags]")
    .options(optionsOf("Flags of the official node-driver-registrar:", flagTable.dropIn, true))
    .options(optionsOf("Our own flags:", flagTable.ours, true))
    .options(optionsOf("Deprecated flags:", flagTable.deprecated, true))
    .epilogue(registrarNotes.join("\n"));
  for (const { name, summary } of commands) help.command(name, summary);
  // The commands near the prompt: a terminal has fewer rows than there are flags.
  const text = await help.getHelp();
  const [list = ""] = text.match(/^Commands:\n.*?\n\n/ms) ?? [];
  return `${text.replace(list, "").replace(/^Examples:/m, `${list}Examples:`)}\n`;
}

const example =
  "--csi-address=/csi/csi.sock --kubelet-registration-path=/var/lib/kubelet/plugins/NAME/csi.sock";

const registrarNotes = [
  "Write -x or --x, then =value or a next word (boolean: only =); -- or a plain word ends the flags.",
  "With *: with * in the paths. Durations: 500ms, 1m30s, 1.5h. Exit codes: 0 signal, help, version; 1 failed or refused; 2 bad flag.",
  `Ignored: ${Object.keys(flagTable.removed).join(", ")}. Deprecated: --mode=kubelet-registration-probe (exit 0).`,
  "Outside containers KUBELET_ROOT_DIR names kubelet's root directory, by default /var/lib/kubelet.",
];

export async function commandHelp(command, width) {
  const { name, describe, flags, examples, notes } = command;
  const help = createHelp(width, examples)
    .usage(`${describe}\n\nUsage: $0 ${name} [flags]`)
    .options(optionsOf("Flags:", flags, false))
    .epilogue(notes.join("\n"));
  return `${await help.getHelp()}\n`;
}

/** With types, a default that says nothing is left out. A command's descriptions say what each flag takes. */
function optionsOf(group, flags, hasTypes) {
  const options = Object.entries(flags).map(([name, row]) => {
    const { alias = [], required: demandOption = false, hidden = false, describe } = row;
    const { defaultDescription = row.default } = row;
    const isShown = !(hasTypes && ["", "0", "0s", "false"].includes(defaultDescription ?? ""));
    const boolean = hasTypes && row.bare !== undefined;
    const shown = { group, describe, alias, demandOption, hidden, boolean };
    return [name, { ...shown, ...(isShown && defaultDescription !== undefined && { defaultDescription }) }];
  });
  return Object.fromEntries(options);
}
