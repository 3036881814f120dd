import { noSuchFlag } from "../../command-line";
import { acceptedFlags } from "../../flags";
import { type GoFlag, parseGoFlags } from "../../go-flags";

const TEXT: GoFlag = { boolean: false, parse: (value) => ({ value }) };

/**
 * Takes a registrar's arguments as they stand in a DaemonSet: reads them in the registrar's own grammar and keeps the
 * flags in `own`, of each the last value, as `--name=value`. The others are checked as the registrar does, and dropped:
 * one that it would refuse may be all that is wrong.
 */
export function translateRegistrarWords(argv: readonly string[], own: readonly string[]) {
  const flags = new Map([...acceptedFlags(), ...own.map((name) => [name, TEXT] as const)]);
  const line = parseGoFlags(argv, flags);
  switch (line.kind) {
    case "help":
      return { words: [] }; // The command has answered that before.
    case "error": {
      const [, unknown] = /^flag provided but not defined: -(.*)$/s.exec(line.message) ?? [];
      return {
        problem: unknown === undefined ? line.message : noSuchFlag(unknown, [...flags.keys()], "doctor"),
      };
    }
    case "parsed": {
      const kept = new Map(line.settings.filter(([name]) => own.includes(name)));
      const words = Array.from(kept, ([name, value]) => `--${name}=${value}`);
      return { words: line.rest.length === 0 ? words : [...words, "--", ...line.rest] };
    }
  }
}
