import { listFlag } from "../../../flags/kinds";
import { version } from "../../../runtime/version";
import { endBySignals } from "../../foreground";
import { SCHEMA } from "../findings/report";
import { createMode } from "../mode";
import { checkSwap, SWAP_FLAGS } from "./swap-flags";

export const filesMode = createMode(
  {
    chosenBy: ["file", "-f"],
    schema: SCHEMA,
    describe: "Judges the registrars in YAML or JSON files, before they are applied. It changes nothing.",
    flags: {
      file: { ...listFlag("files, directories, - for stdin; repeatable"), alias: "f" },
      ...SWAP_FLAGS,
    },
    check: checkSwap,
    examples: ["doctor -f daemonset.yaml", "doctor --swap -f daemonset.yaml -f -"],
    notes: [
      "JSON: {schema, healthy, target, drivers, summary, findings}. docs/doctor.md has their fields, docs/doctor-codes.md every code.",
    ],
  },
  async (flags) => {
    // Files may keep this thread busy for seconds.
    endBySignals();
    const [{ readFiles }, { reportOnFiles, reportOnSwap }] = await Promise.all([
      import("./read/documents"),
      import("./report"),
    ]);
    const { file = [], image, swap } = flags;
    const read = await readFiles(file);
    const ours = { image, version };
    return swap === undefined ? reportOnFiles(read, ours) : reportOnSwap(read, ours, swap);
  },
);
